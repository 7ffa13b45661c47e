"""Applications of MySQL's protocol that demand TLS of the sidecar, which `fieldveil bridge from-clients` begins."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import mysql.connector
import pymysql
import pytest

from harness import shop as example
from harness.bridge import Bridge, Bridged, ClientBridge
from harness.envoy import LOOPBACK, Upstream
from harness.mysql_builds import MYSQL, NEWER, Build
from harness.mysql_stack import CONNECT_SECONDS, SEALED, MySqlOptions, MySqlStack
from harness.relay import TcpRelay
from harness.waiting import patience, until_equal
from tests.bridge_rules import CLIENT_NAME, write_rules
from tests.mysql.asking import ask, change
from tests.mysql.test_bridge import ACCESS_DENIED, LONG
from tests.rows import ADA, INSERT

# ER_SECURE_TRANSPORT_REQUIRED
SECURE_TRANSPORT_REQUIRED = 3159


class FromClients(Bridged):
    """A server that takes TLS alone and the bridge to it, and bridges from clients."""

    def __init__(self, build: Build, policies: Path) -> None:
        self.server_bridge: Bridge | None = None
        settings = {"require-secure-transport": "ON"}
        stack = MySqlStack(
            MySqlOptions(
                build=build,
                tls=True,
                upstream=self._upstream,
                settings=settings,
                proxy_protocol=True,
                policies=(policies,),
                filter_config={"audit": {"interval_seconds": 1}},
            )
        )
        known = stack.certificates
        asked = ("--client-ca", known.ca)
        told = {
            "strict": (),
            "plain-too": ("--allow-plain",),
            "certified": asked,
            "certified-or-not": (*asked, "--client-certificates", "optional", "--allow-plain"),
        }
        self.bridges = {
            name: ClientBridge(stack.work, f"my-{name}", "mysql", stack.envoy.socket(SEALED), known, *options)
            for name, options in told.items()
        }
        # What passes between a client and its bridge.
        self.recorded = TcpRelay(self.bridges["strict"].port)
        super().__init__(stack, self.server_bridge, *self.bridges.values(), self.recorded)

    def connect(self, user: str, way: str = "strict", port: int = 0, **options: object) -> pymysql.Connection:
        told = {
            "host": "localhost", "port": port or self.bridges[way].port, "user": user, "database": example.DATABASE,
            "password": example.PASSWORD, "autocommit": True, "connect_timeout": CONNECT_SECONDS,
            "ssl_ca": str(self.stack.certificates.ca), "ssl_verify_cert": True, "ssl_verify_identity": True,
        }  # fmt: skip
        return pymysql.connect(**{**told, **options})

    def _upstream(self, stack: MySqlStack) -> Upstream:
        known = stack.certificates
        self.server_bridge = Bridge(stack.work, "my-to-server", "mysql", stack.server.port, known.ca)
        return self.server_bridge.upstream


@pytest.fixture(scope="module", params=(NEWER, MYSQL), ids=lambda build: build.name)
def bridged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FromClients]:
    build: Build = request.param
    if not build.is_there:
        pytest.skip(f"no {build.name} for this machine: see dev/setup/servers.py")
    running = FromClients(build, write_rules(tmp_path_factory.mktemp("policies"))).start()
    yield running
    running.stop()


PLAINLY = {"ssl_ca": None, "ssl_verify_cert": None, "ssl_verify_identity": None, "ssl_disabled": True}


def test_nothing_is_plain_between_the_application_and_its_bridge(bridged: FromClients) -> None:
    bridged.recorded.forget()
    bridged.stack.stored("TRUNCATE customer")
    with bridged.connect("app", port=bridged.recorded.port) as app:
        assert ask(app, "SHOW STATUS LIKE 'Ssl_version'") == [("Ssl_version", "TLSv1.3")]
        change(app, INSERT, ADA)
        assert ask(app, "SELECT name, ssn FROM customer") == [(ADA[1], ADA[3])]
    assert bridged.stack.stored("SELECT LEFT(ssn, 4) FROM customer") == [("fv1.",)]
    (recording,) = bridged.recorded.recordings
    for seen in (bytes(recording.to_server), bytes(recording.to_client)):
        plain = (ADA[1], ADA[3], "customer", "app\0", "fv1.", example.PASSWORD)
        assert not [value for value in plain if value.encode() in seen]


def test_long_values_pass_whole_both_ways(bridged: FromClients) -> None:
    with bridged.connect("app") as app:
        assert ask(app, "SELECT %s", [LONG]) == [(LONG,)]


def test_login_works_with_a_cold_cache_and_with_a_warm_one(bridged: FromClients) -> None:
    """MySQL's caching_sha2_password: cold, the server wants the password itself, which the client sends within TLS."""
    bridged.stack.server.stop()
    bridged.stack.server.start()
    for _ in range(2):
        with bridged.connect("app") as app:
            assert ask(app, "SELECT CURRENT_USER(), DATABASE()") == [("app@%", example.DATABASE)]


def test_wrong_password_is_the_servers_refusal(bridged: FromClients) -> None:
    with pytest.raises(pymysql.OperationalError) as refused:
        bridged.connect("app", password="wrong")
    assert refused.value.args[0] == ACCESS_DENIED


def test_mysqls_own_connector_comes_in_with_its_strictest_mode_and_changes_its_user(bridged: FromClients) -> None:
    with mysql.connector.connect(
        host="localhost", port=bridged.bridges["strict"].port, user="app", password=example.PASSWORD,
        database=example.DATABASE, ssl_ca=str(bridged.stack.certificates.ca), ssl_verify_cert=True,
        ssl_verify_identity=True, use_pure=True,
    ) as app:  # fmt: skip
        app.cmd_change_user("billing", example.PASSWORD, example.DATABASE)
        with app.cursor() as cursor:
            cursor.execute("SELECT CURRENT_USER()")
            assert cursor.fetchall() == [("billing@%",)]


def test_command_line_client_comes_in_with_its_strictest_mode(bridged: FromClients) -> None:
    if bridged.stack.options.build.mysql:
        pytest.skip("MariaDB's client has no plugin here for how MySQL's users log in")

    def mariadb(text: str, ca: Path) -> subprocess.CompletedProcess:
        where = ["--host=localhost", "--protocol=tcp", f"--port={bridged.bridges['strict'].port}", "--user=app"]
        verified = [f"--ssl-ca={ca}", "--ssl-verify-server-cert"]
        command = [NEWER.home / "bin" / "mariadb", "--no-defaults", *where, *verified, "--skip-column-names", "--batch"]
        environment = {"MYSQL_PWD": example.PASSWORD}
        words = [*command, f"--execute={text}", example.DATABASE]
        return subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=patience(30))

    known = bridged.stack.certificates
    bridged.stack.stored("TRUNCATE customer")
    assert mariadb(f"INSERT INTO customer (id, ssn) VALUES (1, '{ADA[3]}')", known.ca).stderr == ""
    assert mariadb("SELECT ssn FROM customer", known.ca).stdout == f"{ADA[3]}\n"
    assert "certificate" in mariadb("SELECT 1", known.unknown_ca).stderr


def test_source_is_the_clients_address(bridged: FromClients) -> None:
    with bridged.connect("support") as support:
        ask(support, "SELECT ssn FROM customer")

    def sources() -> set[str]:
        return {line["source"] for line in bridged.stack.envoy.audit() if line["user"] == "support"}

    until_equal(sources, {LOOPBACK})


def test_client_without_tls_is_told_unless_it_is_allowed(bridged: FromClients) -> None:
    with pytest.raises(pymysql.OperationalError) as refused:
        bridged.connect("app", **PLAINLY)
    number, message = refused.value.args
    assert number == SECURE_TRANSPORT_REQUIRED
    assert "it asks for a session without TLS; use ssl-mode=VERIFY_IDENTITY" in message
    for options in (PLAINLY, {}):
        with bridged.connect("app", "plain-too", **options) as app:
            assert ask(app, "SELECT 42") == [(42,)]


def test_client_that_does_not_trust_the_bridge_does_not_go_on(bridged: FromClients) -> None:
    with pytest.raises(pymysql.OperationalError, match="certificate verify failed"):
        bridged.connect("app", ssl_ca=str(bridged.stack.certificates.unknown_ca))


def test_certificate_of_a_client_is_asked_for_where_it_is_configured(bridged: FromClients) -> None:
    with pytest.raises(pymysql.OperationalError):
        bridged.connect("app", "certified")
    with bridged.connect("app", "certified", **shown(bridged)) as app:
        assert ask(app, "SELECT 42") == [(42,)]


def test_rules_speak_of_the_clients_certificate_and_address(bridged: FromClients) -> None:
    statement = "SELECT ssn, phone FROM customer"
    bridged.stack.stored("TRUNCATE customer")
    with bridged.connect("app") as app:
        change(app, INSERT, ADA)
        ((ssn, phone),) = ask(app, statement)
    ((sealed, _),) = bridged.stack.stored(statement)

    def read(way: str, **options: object) -> tuple:
        with bridged.connect("auditor", way, **options) as auditor:
            return ask(auditor, statement)[0]

    assert read("certified", **shown(bridged)) == (ssn, phone)
    assert read("certified-or-not", **shown(bridged)) == (ssn, phone)
    with mysql.connector.connect(
        host="localhost", port=bridged.bridges["certified"].port, user="app", password=example.PASSWORD,
        database=example.DATABASE, ssl_ca=str(bridged.stack.certificates.ca), ssl_verify_identity=True, use_pure=True,
        **shown(bridged),
    ) as changed:  # fmt: skip
        changed.cmd_change_user("auditor", example.PASSWORD, example.DATABASE)
        with changed.cursor() as cursor:
            cursor.execute(statement)
            assert cursor.fetchall() == [(ssn, phone)]
    # Who shows none, or to a bridge that asks for none, is known by the address alone.
    for way, options in {"certified-or-not": {}, "strict": shown(bridged)}.items():
        assert read(way, **options) == (sealed, phone)
    assert read("certified-or-not", **PLAINLY) == (sealed, phone)

    def certificates() -> set[str]:
        lines = [line for line in bridged.stack.envoy.audit() if line["user"] == "auditor"]
        return {name for line in lines for name in line.get("client_certificate", {}).get("dns", [])}

    until_equal(certificates, {CLIENT_NAME})


def shown(bridged: FromClients) -> dict[str, str]:
    """How a client shows its certificate."""
    known = bridged.stack.certificates
    return {"ssl_cert": str(known.client), "ssl_key": str(known.client_key)}
