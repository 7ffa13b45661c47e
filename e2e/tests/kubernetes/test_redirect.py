"""An application whose DSN names the database itself: its connections are led through the sidecar all the same.

With `sslmode=verify-full` or without TLS; the database takes TLS alone, within its protocol.
"""

import base64
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import Event

import pytest
import trustme

from harness import shop
from harness.certificates import SERVER_NAME, Certificates
from harness.waiting import patience
from kubernetes import Application, Cluster, CommandFailed, Database, Keysets, Namespace, Release
from kubernetes.application import AUTHORITIES
from kubernetes.problems import statuses
from tests.kubernetes.sidecar import BILLING, INJECT, SEALED, SSN, UPSTREAM, Bundle, reach, values, wait_injecting

# The init container that sets the rules needs NET_ADMIN.
PRIVILEGED = {"pod-security.kubernetes.io/enforce": "privileged"}
DATABASE = "orders-db"
DIRECT = {"host": DATABASE, "port": 5432}
# What the application trusts, and the Secret of what the sidecar shows it.
AUTHORITIES_MAP, SHOWN = "authorities", "orders-db-shown"
# Where the bridge to the server tells of it, and the gauge of when the certificate that it saw last expires.
SERVER_METRICS = 15024
SEEN = re.compile(r"^fieldveil_bridge_server_certificate_expiry_timestamp_seconds (\S+)$", re.MULTILINE)
# Until the kubelet shows a changed Secret to a pod that is touched again and again.
SHOWN_SECONDS = 30.0


@dataclass
class World:
    namespace: Namespace
    database: Database
    application: Application
    certificates: Certificates
    renewed: trustme.CA

    def psql(self, text: str, authority: str = "all") -> str:
        """As an application that knows nothing of a sidecar."""
        verified = f"sslmode=verify-full sslrootcert={AUTHORITIES}/{authority}.pem"
        return self.application.psql(text, **DIRECT, options=verified)


def show(namespace: Namespace, authority: trustme.CA) -> None:
    """A certificate for the name that the application connects to."""
    issued = authority.issue_cert(DATABASE)
    files = {"tls.crt": issued.cert_chain_pems[0], "tls.key": issued.private_key_pem}
    data = {name: base64.b64encode(file.bytes()).decode() for name, file in files.items()}
    secret = {"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "metadata": {"name": SHOWN}}
    namespace.apply({**secret, "data": data})


def trust(namespace: Namespace, **authorities: trustme.CA) -> None:
    """One each, and all."""
    known = {f"{name}.pem": authority.cert_pem.bytes().decode() for name, authority in authorities.items()}
    metadata = {"name": AUTHORITIES_MAP}
    data = {**known, "all.pem": "".join(known.values())}
    namespace.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})


@pytest.fixture(scope="module")
def world(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with Namespace(cluster, "fv-redirect", PRIVILEGED) as namespace:
        certificates = Certificates(tmp_path_factory.mktemp("tls") / "certificates")
        database, keysets = Database(namespace, DATABASE, tls=certificates, image="postgres-16"), Keysets(namespace)
        database.create()
        keysets.create("pii", "payments")
        former, renewed = trustme.CA(), trustme.CA()
        trust(namespace, former=former, renewed=renewed)
        show(namespace, former)
        policies = Bundle(tmp_path_factory.mktemp("policies")).values(BILLING, revision="only")
        described = values(database.host, policies, keysets.values, redirect={"enabled": True})
        (upstream,) = described["sidecar"]["upstreams"]
        ca = {"configMap": database.ca_config_map}
        upstream["tls"] = {"by": "bridge", "serverName": SERVER_NAME, "ca": ca}
        upstream["listener"]["tls"] = {"secret": SHOWN, "allowPlain": True}
        Release(namespace, described).install()
        wait_injecting(namespace)
        application = Application(namespace, "billing", labels=INJECT, authorities=AUTHORITIES_MAP)
        application.create()
        database.wait_ready()
        database.create_shop()
        application.wait_ready()
        yield World(namespace, database, application, certificates, renewed)


def stored(world: World, number: int) -> str:
    return world.database.sql(f"SELECT ssn FROM customer WHERE id = {number}", shop.DATABASE)


def test_connection_to_the_database_itself_goes_through_the_sidecar_within_tls(world: World) -> None:
    world.psql(f"INSERT INTO customer (id, ssn) VALUES (1, '{SSN}')")
    assert stored(world, 1).startswith(SEALED)
    assert world.psql("SELECT ssn FROM customer WHERE id = 1") == SSN
    assert world.psql("SHOW server_version").startswith("16.")
    # Between the sidecar and the server too.
    assert world.psql("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()") == "t"


def test_connection_without_tls_to_the_address_of_its_pod_does_too_where_that_is_allowed(world: World) -> None:
    address = world.namespace.pods(f"app={DATABASE}")[0]["status"]["podIP"]
    where = {"host": address, "port": 5432, "options": "sslmode=disable"}
    world.application.psql(f"INSERT INTO customer (id, ssn) VALUES (2, '{SSN}')", **where)
    assert stored(world, 2).startswith(SEALED)


def test_both_certificates_are_renewed_under_load_without_a_restart_and_no_statement_fails(world: World) -> None:
    begun, over = Event(), Event()

    def statements() -> int:
        done = 0
        while not over.is_set():
            world.psql(f"INSERT INTO customer (id, ssn) VALUES ({100 + done}, '{SSN}')")
            done += 1
            begun.set()
        return done

    def is_renewed() -> bool:
        try:
            return world.psql("SELECT 1", authority="renewed") == "1"
        except CommandFailed as refused:
            if "certificate verify failed" not in str(refused):
                raise
            return False

    until = datetime.now(UTC).replace(microsecond=0) + timedelta(days=30)

    def sees_the_servers() -> bool:
        world.database.sql("SELECT pg_reload_conf()")
        said = reach(world.namespace, world.application.pod()["metadata"]["name"], SERVER_METRICS, "/metrics") or ""
        return [float(seen) for seen in SEEN.findall(said)] == [until.timestamp()]

    with ThreadPoolExecutor(1) as load:
        done = load.submit(statements)
        try:
            assert begun.wait(patience(SHOWN_SECONDS))
            assert not is_renewed()
            show(world.namespace, world.renewed)
            selector = world.application.selector
            world.namespace.wait_until(is_renewed, "the renewed certificate", SHOWN_SECONDS, touching=selector)
            assert not sees_the_servers()
            world.certificates.renew_server(until)
            world.database.show_certificate(world.certificates)
            of_server = f"app={DATABASE}"
            world.namespace.wait_until(sees_the_servers, "the server's certificate", SHOWN_SECONDS, touching=of_server)
            # Once more by the server's new one, from a client that is not the load's.
            assert world.psql("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()") == "t"
        finally:
            over.set()
        count = done.result()
    sealed = f"SELECT count(*) FROM customer WHERE id >= 100 AND ssn LIKE '{SEALED}%'"
    assert world.database.sql(sealed, shop.DATABASE) == str(count)
    bridges = {f"fieldveil-clients-{UPSTREAM}", f"fieldveil-bridge-{UPSTREAM}"}
    restarts = [one["restartCount"] for one in statuses(world.application.pod()) if one["name"] in bridges]
    assert restarts == [0, 0]
