"""`helm test` says that values are sealed where they are, and that they aren't where they aren't; it leaves nothing."""

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote

import pytest

from harness import shop
from kubernetes import Cluster, CommandFailed, Database, Keysets, Namespace, Policies, Release
from tests.kubernetes.sidecar import PORT, RESTRICTED, values, wait_injecting

URLS = "database-urls"
STRAIGHT_ALONE = "straight-alone"
TEST = {"table": shop.TABLE, "column": "ssn", "value": "123-45-6789", "secret": URLS, "row": {"id": "4242"}}


@dataclass
class World:
    namespace: Namespace
    database: Database
    release: Release

    def rows(self) -> str:
        return self.database.sql(f"SELECT count(*) FROM {shop.TABLE}", shop.DATABASE)


@pytest.fixture(scope="module")
def world(cluster: Cluster) -> Iterator[World]:
    with Namespace(cluster, "fv-jobs", RESTRICTED) as namespace:
        database, keysets, policies = Database(namespace), Keysets(namespace), Policies(namespace)
        database.start()
        database.create_shop()
        keysets.create("pii", "payments")
        policies.publish(revision="first")
        user = f"postgres://{shop.ROLES[0]}:{quote(shop.PASSWORD)}"
        direct, through = (f"{user}@{at}/{shop.DATABASE}" for at in (f"{database.host}:5432", f"127.0.0.1:{PORT}"))
        namespace.apply(_urls(URLS, direct, through), _urls(STRAIGHT_ALONE, direct, direct))
        release = Release(
            namespace,
            {
                **values(database.host, policies.values, keysets.values),
                "test": {**TEST, "image": cluster.image("postgres").reference},
            },
        )
        release.install()
        try:
            wait_injecting(namespace)
            yield World(namespace, database, release)
        finally:
            release.uninstall()


def test_helm_test_finds_an_envelope_stored_and_leaves_no_row(world: World) -> None:
    said = world.release.test()
    assert "stored: an envelope" in said
    assert "passed" in said
    assert TEST["value"] not in said
    assert world.rows() == "0"
    assert not world.namespace.exists("pod", "fieldveil-test")


FAULTS = {
    "plaintext": ({"secret": STRAIGHT_ALONE}, "is no envelope"),
    "another-treatment": ({"shown": "***-**-6789"}, "shows another value"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_helm_test_fails_and_leaves_no_row_when_something_is_wrong(world: World, fault: str) -> None:
    changes, expected = FAULTS[fault]
    world.release.upgrade({"test": changes})
    try:
        with pytest.raises(CommandFailed, match=expected):
            world.release.test()
        assert world.rows() == "0"
    finally:
        world.release.upgrade({"test": {"secret": URLS, "shown": ""}})


def _urls(name: str, direct: str, through: str) -> dict:
    data = {key: base64.b64encode(url.encode()).decode() for key, url in (("direct", direct), ("through", through))}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": data}
