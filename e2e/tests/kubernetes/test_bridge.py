"""A database that takes TLS within its protocol alone: the sidecar's bridge begins it, by a line of the values."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from harness import shop
from harness.certificates import SERVER_NAME, Certificates
from kubernetes import Application, Cluster, CommandFailed, Database, Keysets, Namespace, Release
from tests.kubernetes.sidecar import (
    BILLING,
    INJECT,
    RESTRICTED,
    SEALED,
    SSN,
    UPSTREAM,
    Bundle,
    reach,
    values,
    wait_injecting,
)
from tests.kubernetes.workers import wait_served

BRIDGE = f"fieldveil-bridge-{UPSTREAM}"


@dataclass
class World:
    namespace: Namespace
    database: Database
    application: Application


@pytest.fixture(scope="module")
def world(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with Namespace(cluster, "fv-bridge", RESTRICTED) as namespace:
        certificates = Certificates(tmp_path_factory.mktemp("tls") / "certificates")
        database, keysets = Database(namespace, tls=certificates), Keysets(namespace)
        database.create()
        keysets.create("pii", "payments")
        policies = Bundle(tmp_path_factory.mktemp("policies")).values(BILLING, revision="only")
        described = values(database.host, policies, keysets.values)
        (upstream,) = described["sidecar"]["upstreams"]
        authority = {"configMap": database.ca_config_map}
        upstream["tls"] = {"by": "bridge", "serverName": SERVER_NAME, "ca": authority}
        Release(namespace, described).install()
        wait_injecting(namespace)
        application = Application(namespace, "billing", labels=INJECT)
        application.create()
        database.wait_ready()
        database.create_shop()
        (pod,) = application.wait_ready()
        wait_served(namespace, pod)
        yield World(namespace, database, application)


def test_values_are_sealed_and_the_way_to_the_server_is_encrypted(world: World) -> None:
    world.application.psql(f"INSERT INTO customer (id, ssn) VALUES (1, '{SSN}')")
    assert world.application.psql("SELECT ssn FROM customer WHERE id = 1") == SSN
    assert world.database.sql("SELECT ssn FROM customer WHERE id = 1", shop.DATABASE).startswith(SEALED)
    assert world.application.psql("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()") == "t"
    # The server takes nothing else.
    with pytest.raises(CommandFailed, match="no encryption"):
        world.application.psql("SELECT 1", host=world.database.host, port=5432, options="sslmode=disable")


def test_bridge_stands_before_envoy_and_tells_of_its_way(world: World) -> None:
    pod = world.application.pod()
    names = [one["name"] for one in pod["spec"]["initContainers"]]
    assert names == ["fieldveil-agent", "fieldveil-opa", BRIDGE, "fieldveil-envoy"]
    world.application.psql("SELECT 1")
    said = reach(world.namespace, pod["metadata"]["name"], 15024, "/metrics") or ""
    assert "\nfieldveil_bridge_handshakes_total " in said
    assert "\nfieldveil_bridge_server_certificate_expiry_timestamp_seconds " in said


def test_nobody_starts_a_program_in_the_bridge(world: World) -> None:
    """Its memory has passwords, and its socket leads to the server."""
    pod = f"pod/{world.application.pod()['metadata']['name']}"
    with pytest.raises(CommandFailed, match="would be the sidecar"):
        world.namespace.exec(pod, "/usr/local/bin/fieldveil", "--version", container=BRIDGE)
