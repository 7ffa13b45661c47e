"""As in production: keysets opened by Vault for a pod's service account, TLS to the database, policies of one's own."""

from dataclasses import dataclass

import pytest

from harness import shop
from harness.certificates import SERVER_NAME, Certificates
from harness.parts import overlaid
from kubernetes import Application, CommandFailed, Database, Keysets, Namespace, Policies, Release, Vault
from tests.kubernetes.sidecar import BILLING, INJECT, SEALED, SSN, SUPPORT, Bundle, values, wait_injecting
from tests.kubernetes.workers import sessions_of_every_worker, wait_served

TRUSTED, STRANGER = "trusted", "stranger"
IN_FORCE_SECONDS = 60.0
TRUSTED_READS = {**BILLING, "who": {"workload": {"service_account": [TRUSTED]}}}
TRUSTED_SEES_FOUR = {**SUPPORT, "who": TRUSTED_READS["who"]}


@dataclass
class World:
    namespace: Namespace
    database: Database
    bundle: Bundle
    policies: Policies
    trusted: Application


@pytest.fixture(scope="module")
def vault(namespace: Namespace) -> Vault:
    server = Vault(namespace)
    server.start()
    server.allow(TRUSTED)
    return server


@pytest.fixture(scope="module")
def database(namespace: Namespace, tmp_path_factory: pytest.TempPathFactory) -> Database:
    """It starts while others do."""
    server = Database(namespace, tls=Certificates(tmp_path_factory.mktemp("tls") / "certificates"))
    server.create()
    return server


@pytest.fixture(scope="module")
def world(namespace: Namespace, database: Database, vault: Vault, tmp_path_factory: pytest.TempPathFactory) -> World:
    bundle = Bundle(tmp_path_factory.mktemp("policies"))
    policies = Policies(namespace, bundle.bundles)
    policies.publish_bundle(bundle.build(TRUSTED_READS, revision="first"))
    with vault.operator() as environment:
        keysets = Keysets(namespace, kek_uri=vault.kek_uri, environment=environment)
        keysets.create("pii", "payments")
    described = values(database.host, policies.values, overlaid(keysets.values, vault.values))
    (upstream,) = described["sidecar"]["upstreams"]
    upstream["tls"] = {"serverName": SERVER_NAME, "ca": {"configMap": database.ca_config_map}}
    Release(namespace, described).install()
    wait_injecting(namespace)
    trusted = Application(namespace, TRUSTED, labels=INJECT)
    trusted.create()
    database.wait_ready()
    database.create_shop()
    (pod,) = trusted.wait_ready()
    wait_served(namespace, pod)
    return World(namespace, database, bundle, policies, trusted)


def test_keysets_are_opened_by_the_service_account_of_the_pod(world: World) -> None:
    world.trusted.psql(f"INSERT INTO customer (id, ssn) VALUES (1, '{SSN}')")
    assert world.trusted.psql("SELECT ssn FROM customer WHERE id = 1") == SSN
    assert world.database.sql("SELECT ssn FROM customer WHERE id = 1", shop.DATABASE).startswith(SEALED)


def test_way_to_the_database_is_encrypted(world: World) -> None:
    assert world.trusted.psql("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()") == "t"
    # The server takes nothing else.
    with pytest.raises(CommandFailed, match="no encryption"):
        world.trusted.psql("SELECT 1", host=world.database.host, port=5432, options="sslmode=disable")


def test_policy_of_a_changed_config_map_reaches_running_pods(world: World) -> None:
    world.trusted.psql(f"INSERT INTO customer (id, ssn) VALUES (2, '{SSN}')")
    # Sessions that go on need no new plan while OPA takes in the bundle.
    with sessions_of_every_worker(world.namespace, world.trusted.pod()["metadata"]["name"]) as sessions:
        world.policies.publish_bundle(world.bundle.build(TRUSTED_SEES_FOUR, revision="second"))

        def are_masked() -> bool:
            ask = "SELECT ssn FROM customer WHERE id = 2"
            return all(session.execute(ask).fetchone() == (f"***-**-{SSN[-4:]}",) for session in sessions)

        touching = world.trusted.selector
        world.namespace.wait_until(are_masked, "the second policy", IN_FORCE_SECONDS, touching=touching)


def test_application_of_another_service_account_is_not_started(world: World, vault: Vault) -> None:
    other = Application(world.namespace, STRANGER, labels=INJECT)
    other.create()

    def refusal() -> bool:
        try:
            log = world.namespace.logs(f"pod/{other.pod()['metadata']['name']}", "fieldveil-agent")
        except (IndexError, CommandFailed):
            # Neither pod nor container is there at once.
            return False
        return "service account name not authorized" in log

    world.namespace.wait_until(refusal, "Vault's refusal", IN_FORCE_SECONDS)
    (app,) = other.pod()["status"]["containerStatuses"]
    assert app["started"] is False
    assert "waiting" in app["state"]
    vault.allow(TRUSTED, STRANGER)
    other.wait_ready()
