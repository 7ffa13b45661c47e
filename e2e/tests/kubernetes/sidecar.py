"""What the tests in a cluster share: policies by who runs where, a release's values, and a look at what a pod holds."""

import base64
import json
from pathlib import Path
from urllib.parse import quote

from dev.layout import POLICIES
from harness import shop
from harness.bundles import Bundles, SigningKey, pack
from kubernetes import CommandFailed, Namespace, pods

UPSTREAM = "orders-db"
PORT = 15432
# Asks for the sidecar.
INJECT = {"fieldveil.io/inject": "enabled"}
RESTRICTED = {"pod-security.kubernetes.io/enforce": "restricted"}
# What begins every envelope.
SEALED = "fv1."
SSN, EMAIL, PHONE = "123-45-6789", "ada@example.org", "+31 20 555 0100"
# The shortest that a catalog can say; a change is then in every session within seconds.
TTL_SECONDS = 1

BILLING = {
    "name": "billing works with everything",
    "who": {"workload": {"service_account": ["billing"]}},
    "labels": ["customer.*"],
    "read": {"treatment": "reveal"},
    "write": "seal",
}
SUPPORT = {
    "name": "support checks the last four characters",
    "who": {"workload": {"service_account": ["support"]}},
    "labels": ["customer.ssn"],
    "read": {"treatment": "mask", "format": "last4"},
}
AUDITORS = {
    "name": "auditors see mail addresses",
    "who": {"workload": {"labels": {"team": ["auditors"]}}},
    "labels": ["customer.email"],
    "read": {"treatment": "reveal"},
}


class Bundle:
    """Signed bundles of the example's catalog with rules of a test's own, as they stand in the chart's values."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made = 0
        self.bundles = Bundles(folder)

    def values(self, *rules: dict, revision: str) -> dict:
        """`sidecar.policies`."""
        return {
            "bundle": base64.b64encode(self.build(*rules, revision=revision)).decode(),
            "verification": {"publicKey": self.bundles.key.public.read_text()},
            "polling": {"minSeconds": 1, "maxSeconds": 1},
        }

    def build(self, *rules: dict, revision: str) -> bytes:
        return self.bundles.build(*self._policies(rules), revision=revision)

    def build_with(self, key: SigningKey, *rules: dict, revision: str) -> bytes:
        """What somebody else signed."""
        return pack(*self._policies(rules), revision=revision, key=key)

    def _policies(self, rules: tuple[dict, ...]) -> list[Path]:
        self._made += 1
        folder = self._folder / f"policies-{self._made}"
        catalog = (POLICIES / "catalog" / "shop" / "data.yaml").read_text()
        catalog = catalog.replace("    database: shop\n", f"    database: shop\n    ttl_seconds: {TTL_SECONDS}\n")
        catalog = catalog.replace("    service: shop-api\n", f"    service: shop-api\n    ttl_seconds: {TTL_SECONDS}\n")
        for name, text in (("catalog", catalog), ("rules", json.dumps({"rules": rules}))):
            place = folder / name / "shop" / ("data.yaml" if name == "catalog" else "data.json")
            place.parent.mkdir(parents=True)
            place.write_text(text)
        return [folder]


def values(host: str, policies: dict, keys: dict, **more: object) -> dict:
    """Of the application chart, with one database."""
    upstream = {"name": UPSTREAM, "protocol": "postgres", "host": host, "port": 5432, "listener": {"port": PORT}}
    return {"sidecar": {"upstreams": [upstream], "policies": policies, "keys": keys, **more}}


def wait_injecting(namespace: Namespace) -> None:
    """Admission policies come into force a second or two after they are applied: pods made before that pass by them."""
    image = namespace.cluster.image("postgres").reference
    spec = {"containers": [pods.container("app", image, 1000)]}
    probe = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "probe", "labels": INJECT}, "spec": spec}

    def injected() -> bool:
        try:
            made = namespace.kubectl(
                "create", "--dry-run=server", "--output=json", "--filename=-", stdin=json.dumps(probe)
            )
        except CommandFailed:
            # The one that refuses may be there before the one that injects.
            return False
        return any(one["name"] == "fieldveil-envoy" for one in json.loads(made)["spec"].get("initContainers", []))

    namespace.wait_until(injected, "the injection", 30)


def reach(namespace: Namespace, pod: str, port: int, path: str) -> str | None:
    """What is answered at the pod's address, asked by the API server; None for anything but a 2xx."""
    try:
        return namespace.kubectl("get", "--raw", f"/api/v1/namespaces/{namespace.name}/pods/{pod}:{port}/proxy{path}")
    except CommandFailed:
        return None


def dsn_secret(name: str, host: str, *, leads_through: bool = True) -> dict:
    """URLs of the database, straight and by way of the sidecar, as the chart's Jobs and its test take them."""
    login = f"app:{quote(shop.PASSWORD)}"
    direct = f"postgres://{login}@{host}:5432/{shop.DATABASE}"
    through = f"postgres://{login}@127.0.0.1:{PORT}/{shop.DATABASE}" if leads_through else direct
    urls = {"direct": direct, "through": through}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": urls}
