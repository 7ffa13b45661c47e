"""An application's pods: psql and a shell, which wait for what a test tells them."""

from harness import shop
from kubernetes import pods
from kubernetes.namespace import Namespace

USER = 1000
CONTAINER = "app"


class Application:
    """A Deployment with a service account of its own. Whether it gets the sidecar is told by its labels."""

    def __init__(
        self,
        namespace: Namespace,
        name: str = "app",
        *,
        labels: dict[str, str] | None = None,
        pod: dict | None = None,
        container: dict | None = None,
        replicas: int = 1,
    ) -> None:
        """`pod` and `container` are laid over their specs."""
        self.name = name
        self.namespace = namespace
        self.labels = dict(labels or {})
        self._pod = pod or {}
        self._container = container or {}
        self._replicas = replicas

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
            **self._pod,
        }
        deployment = pods.workload("Deployment", self.name, spec, labels=self.labels, replicas=self._replicas)
        self.namespace.apply(account, deployment)

    def wait_ready(self) -> list[str]:
        return self.namespace.wait_ready(self.selector, count=self._replicas)

    def pod(self) -> dict:
        """The oldest of its pods."""
        return self.namespace.pods(self.selector)[0]

    def exec(self, *command: str, stdin: str | None = None, container: str = CONTAINER) -> str:
        return self.namespace.exec(f"pod/{self.pod()['metadata']['name']}", *command, container=container, stdin=stdin)

    def psql(
        self,
        text: str,
        *,
        host: str = "127.0.0.1",
        port: int = 15432,
        user: str = "app",
        database: str = shop.DATABASE,
        options: str = "",
    ) -> str:
        """By psql in the pod: rows without headings, columns parted by |. Raises when a statement is refused."""
        address = f"host={host} port={port} user={user} dbname={database} {options}"
        psql = ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", address]
        # The filter takes no SQL_ASCII, which psql asks for where there is no locale.
        settings = [f"PGPASSWORD={shop.PASSWORD}", "PGCLIENTENCODING=UTF8", "PGCONNECT_TIMEOUT=10"]
        return self.exec("env", *settings, *psql, stdin=text).rstrip("\n")

    def _main(self) -> dict:
        image = self.namespace.cluster.image("postgres").reference
        return pods.container(CONTAINER, image, USER, **{"command": pods.SLEEP, **self._container})
