"""`helm test` says that values are sealed where they are, and that they aren't where they aren't; it leaves nothing."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from harness import shop
from kubernetes import Cluster, CommandFailed, Database, Keysets, Namespace, Policies, Release
from tests.kubernetes.sidecar import RESTRICTED, dsn_secret, values, wait_injecting

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
    with Namespace(cluster, "fv-helm-test", RESTRICTED) as namespace:
        database, keysets, policies = Database(namespace), Keysets(namespace), Policies(namespace)
        database.start()
        database.create_shop()
        keysets.create("pii", "payments")
        policies.publish(revision="first")
        straight_alone = dsn_secret(STRAIGHT_ALONE, database.host, leads_through=False)
        namespace.apply(dsn_secret(URLS, database.host), straight_alone)
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


@pytest.mark.parametrize("password", ["Hu/sh", "Hu@sh", "Hu%zzsh"])
def test_a_url_that_psql_can_not_read_is_refused_and_its_password_not_shown(world: World, password: str) -> None:
    url = f"postgres://app:{password}@{world.database.host}/{shop.DATABASE}"
    described = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "odd-urls"}}
    world.namespace.apply({**described, "stringData": {"direct": url, "through": url}})
    world.release.upgrade({"test": {"secret": "odd-urls"}})
    with pytest.raises(CommandFailed, match="write %40, %2F, %25") as refused:
        world.release.test()
    assert "sh@" not in str(refused.value)
    assert "Hu" not in str(refused.value)
