"""A database that takes TLS within its protocol alone: the sidecar's bridge begins it, by a line of the values."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness import shop
from harness.certificates import SERVER_NAME, Certificates
from kubernetes import Application, Cluster, CommandFailed, Database, Keysets, Namespace, Release
from kubernetes.problems import statuses
from tests.kubernetes.sidecar import (
    BILLING,
    INJECT,
    PORT,
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

# The same server once more, whose certificate is not for the name by which pods reach it.
BY_CA, BY_CA_PORT = "by-ca", 15433
BRIDGES = [f"fieldveil-bridge-{UPSTREAM}", f"fieldveil-bridge-{BY_CA}"]
# Until the kubelet shows a changed ConfigMap to a pod that is touched again and again.
SHOWN_SECONDS = 30.0


@dataclass
class World:
    namespace: Namespace
    database: Database
    application: Application
    certificates: Certificates

    def trust(self, authority: Path) -> None:
        """In the ConfigMap of both upstreams."""
        metadata = {"name": self.database.ca_config_map}
        data = {"ca.crt": authority.read_text()}
        self.namespace.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})

    def said(self) -> str:
        """What the application gets, or why it gets nothing."""
        try:
            return self.application.psql("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
        except CommandFailed as error:
            return str(error)

    def wait_until(self, check: Callable[[str], bool], what: str) -> None:
        """Of what is said; meanwhile the changed ConfigMap is shown to the pod."""
        touching = self.application.selector
        self.namespace.wait_until(lambda: check(self.said()), what, SHOWN_SECONDS, touching=touching)


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
        other = {**upstream, "name": BY_CA, "listener": {"port": BY_CA_PORT}}
        other["tls"] = {"by": "bridge", "verify": "verify-ca", "ca": authority}
        upstream["tls"] = {"by": "bridge", "serverName": SERVER_NAME, "ca": authority}
        described["sidecar"]["upstreams"] = [upstream, other]
        Release(namespace, described).install()
        wait_injecting(namespace)
        application = Application(namespace, "billing", labels=INJECT)
        application.create()
        database.wait_ready()
        database.create_shop()
        (pod,) = application.wait_ready()
        wait_served(namespace, pod)
        yield World(namespace, database, application, certificates)


def test_values_are_sealed_and_the_way_to_the_server_is_encrypted(world: World) -> None:
    world.application.psql(f"INSERT INTO customer (id, ssn) VALUES (1, '{SSN}')")
    assert world.application.psql("SELECT ssn FROM customer WHERE id = 1") == SSN
    assert world.database.sql("SELECT ssn FROM customer WHERE id = 1", shop.DATABASE).startswith(SEALED)
    assert world.said() == "t"
    # The server takes nothing else.
    with pytest.raises(CommandFailed, match="no encryption"):
        world.application.psql("SELECT 1", host=world.database.host, port=5432, options="sslmode=disable")


def test_bridges_stand_before_envoy_and_each_tells_of_its_way(world: World) -> None:
    pod = world.application.pod()
    names = [one["name"] for one in pod["spec"]["initContainers"]]
    assert names == ["fieldveil-agent", "fieldveil-opa", *BRIDGES, "fieldveil-envoy"]
    for port, metrics_port in ((PORT, 15024), (BY_CA_PORT, 15025)):
        world.application.psql(f"INSERT INTO customer (id, ssn) VALUES ({port}, '{SSN}')", port=port)
        stored = world.database.sql(f"SELECT ssn FROM customer WHERE id = {port}", shop.DATABASE)
        assert stored.startswith(SEALED)
        said = reach(world.namespace, pod["metadata"]["name"], metrics_port, "/metrics") or ""
        assert re.search(r"^fieldveil_bridge_handshakes_total [1-9]", said, re.MULTILINE)
        assert "\nfieldveil_bridge_server_certificate_expiry_timestamp_seconds " in said


def test_changed_authority_counts_without_a_restart(world: World) -> None:
    unknown = "none of the trusted authorities signed it"
    world.trust(world.certificates.unknown_ca)
    world.wait_until(lambda said: unknown in said, "the refusal")
    world.trust(world.certificates.ca)
    world.wait_until(lambda said: said == "t", "a session within TLS")
    restarts = [one["restartCount"] for one in statuses(world.application.pod()) if one["name"] in BRIDGES]
    assert restarts == [0, 0]


def test_nobody_starts_a_program_in_the_bridge(world: World) -> None:
    """Its memory has passwords, and its socket leads to the server."""
    pod = f"pod/{world.application.pod()['metadata']['name']}"
    with pytest.raises(CommandFailed, match="would be the sidecar"):
        world.namespace.exec(pod, "/usr/local/bin/fieldveil", "--version", container=BRIDGES[0])
