"""An application whose DSN names the database itself: its connections are led through the sidecar all the same."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from harness import shop
from kubernetes import Application, Cluster, Database, Keysets, Namespace, Release
from tests.kubernetes.sidecar import BILLING, INJECT, SEALED, SSN, Bundle, values, wait_injecting

# The init container that sets the rules needs NET_ADMIN.
PRIVILEGED = {"pod-security.kubernetes.io/enforce": "privileged"}


@dataclass
class World:
    database: Database
    application: Application


@pytest.fixture(scope="module")
def world(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with Namespace(cluster, "fv-redirect", PRIVILEGED) as namespace:
        database, keysets = Database(namespace, "orders-db"), Keysets(namespace)
        keysets.create("pii", "payments")
        policies = Bundle(tmp_path_factory.mktemp("policies")).values(BILLING, revision="only")
        Release(namespace, values(database.host, policies, keysets.values, redirect={"enabled": True})).install()
        wait_injecting(namespace)
        application = Application(namespace, "billing", labels=INJECT)
        application.create()
        database.start()
        database.create_shop()
        application.wait_ready()
        yield World(database, application)


def test_connection_to_the_database_itself_goes_through_the_sidecar(world: World) -> None:
    direct = {"host": "orders-db", "port": 5432}
    world.application.psql(f"INSERT INTO customer (id, ssn) VALUES (1, '{SSN}')", **direct)
    assert world.database.sql("SELECT ssn FROM customer WHERE id = 1", shop.DATABASE).startswith(SEALED)
    assert world.application.psql("SELECT ssn FROM customer WHERE id = 1", **direct) == SSN


def test_connection_to_the_address_of_its_pod_does_too(world: World) -> None:
    address = world.database.namespace.pods("app=orders-db")[0]["status"]["podIP"]
    world.application.psql(f"INSERT INTO customer (id, ssn) VALUES (2, '{SSN}')", host=address, port=5432)
    assert world.database.sql("SELECT ssn FROM customer WHERE id = 2", shop.DATABASE).startswith(SEALED)
