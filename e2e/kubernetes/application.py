"""An application's pods: psql and a shell, which wait for what a test tells them."""

from harness import shop
from harness.stack import CONNECT_SECONDS
from kubernetes import pods
from kubernetes.namespace import Namespace

USER = 1000
CONTAINER = "app"
AUTHORITIES = "/etc/authorities"


class Application:
    """A Deployment with a service account of its own. Whether it gets the sidecar is told by its labels."""

    def __init__(
        self, namespace: Namespace, name: str = "app", *, labels: dict[str, str] | None = None, authorities: str = ""
    ) -> None:
        """`authorities` is a ConfigMap with files of those that it trusts, which it finds in `AUTHORITIES`."""
        self.name = name
        self._authorities = authorities
        self.namespace = namespace
        self.labels = dict(labels or {})

    @property
    def selector(self) -> str:
        return f"app={self.name}"

    def start(self) -> None:
        """Its pods are ready, and so are their sidecars, when this returns."""
        self.create()
        self.wait_ready()

    def create(self) -> None:
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": self.name}}
        spec = {
            "serviceAccountName": self.name,
            "terminationGracePeriodSeconds": 5,
            "containers": [self._main()],
        }
        if self._authorities:
            spec["volumes"] = [{"name": "authorities", "configMap": {"name": self._authorities}}]
        deployment = pods.workload("Deployment", self.name, spec, labels=self.labels)
        self.namespace.apply(account, deployment)

    def wait_ready(self) -> list[str]:
        return self.namespace.wait_ready(self.selector, count=1)

    def pod(self) -> dict:
        """The oldest of its pods."""
        return self.namespace.pods(self.selector)[0]

    def psql(self, text: str, **where: str | int) -> str:
        """As `psql` below, in its pod."""
        return psql(self.namespace, f"pod/{self.pod()['metadata']['name']}", text, **where)

    def exec(self, *command: str, seconds: float = 60.0) -> str:
        pod = f"pod/{self.pod()['metadata']['name']}"
        return self.namespace.exec(pod, *command, container=CONTAINER, seconds=seconds)

    def _main(self) -> dict:
        image = self.namespace.cluster.image("postgres").reference
        mounts = [{"name": "authorities", "mountPath": AUTHORITIES}] if self._authorities else []
        return pods.container(CONTAINER, image, USER, command=pods.SLEEP, volumeMounts=mounts)


def psql(
    namespace: Namespace,
    pod: str,
    text: str,
    *,
    container: str = CONTAINER,
    host: str = "127.0.0.1",
    port: int = 15432,
    options: str = "",
) -> str:
    """By psql in a pod: rows without headings, columns parted by |. Raises when a statement is refused."""
    address = f"host={host} port={port} user=app dbname={shop.DATABASE} {options}"
    # The filter takes no SQL_ASCII, which psql asks for where there is no locale.
    settings = [f"PGPASSWORD={shop.PASSWORD}", "PGCLIENTENCODING=UTF8", f"PGCONNECT_TIMEOUT={CONNECT_SECONDS}"]
    words = ["env", *settings, "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", address]
    return namespace.exec(pod, *words, container=container, stdin=text).rstrip("\n")
