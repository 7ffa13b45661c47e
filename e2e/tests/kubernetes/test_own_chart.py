"""A chart of one's own that includes the sidecar in its Deployment, with a Unix socket."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from dev.layout import CHARTS
from harness import shop
from kubernetes import Cluster, CommandFailed, Database, Keysets, Namespace, Release
from kubernetes.application import psql
from kubernetes.pods import SLEEP
from tests.kubernetes.sidecar import RESTRICTED, SEALED, SSN, UPSTREAM, Bundle

CHART = CHARTS / "testdata" / "own-deployment"
ACCOUNT = "default"
SOCKET = f"/run/fieldveil/{UPSTREAM}"
ALL = {
    "name": "the application works with everything",
    "who": {"workload": {"service_account": [ACCOUNT]}},
    "labels": ["customer.*"],
    "read": {"treatment": "reveal"},
    "write": "seal",
}


@dataclass
class World:
    namespace: Namespace
    database: Database
    keysets: Keysets

    def psql(self, text: str) -> str:
        return psql(self.namespace, "deployment/orders", text, container="orders", host=SOCKET, port=5432)

    def stored(self, id: int, column: str) -> str:
        return self.database.sql(f"SELECT {column} FROM customer WHERE id = {id}", shop.DATABASE)


@pytest.fixture(scope="module")
def world(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with Namespace(cluster, "fv-own-chart", RESTRICTED) as namespace:
        database, keysets = Database(namespace), Keysets(namespace)
        keysets.create("pii", "payments")
        database.start()
        database.create_shop()
        policies = Bundle(tmp_path_factory.mktemp("policies")).values(ALL, revision="only")
        # In place of what the chart's own values name, here as below.
        policies["configMap"] = policies["verification"]["configMap"] = ""
        sidecar = {
            "images": Release(namespace, {}).values["sidecar"]["images"],
            "upstreams": [
                {
                    "name": UPSTREAM,
                    "protocol": "postgres",
                    "host": database.host,
                    "port": 5432,
                    "listener": {"port": 0, "socket": True},
                }
            ],
            "policies": policies,
            "keys": {**keysets.values, "kekUri": "", "vault": {"address": "", "role": ""}},
        }
        image = cluster.image("postgres").reference
        Release(namespace, {"image": image, "command": SLEEP, "fieldveil": sidecar}, "orders", CHART).install()
        yield World(namespace, database, keysets)


def test_application_reaches_its_database_by_a_socket_and_its_values_are_sealed(world: World) -> None:
    world.psql(f"INSERT INTO customer (id, ssn) VALUES (1, '{SSN}')")
    assert world.stored(1, "ssn").startswith(SEALED)
    assert world.psql("SELECT ssn FROM customer WHERE id = 1") == SSN


def test_application_can_not_reach_what_is_the_sidecars(world: World) -> None:
    seen = world.namespace.exec("deployment/orders", "ls", "/run/fieldveil", container="orders").split()
    assert seen == [UPSTREAM]
    for path in ("/run/fieldveil/agent/agent.sock", "/etc/fieldveil/keysets", "/run/fieldveil/admin/admin.sock"):
        with pytest.raises(CommandFailed, match="No such file"):
            world.namespace.exec("deployment/orders", "ls", path, container="orders")
