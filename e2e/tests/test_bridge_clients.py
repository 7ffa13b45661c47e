"""Applications that demand TLS of the sidecar, which `fieldveil bridge from-clients` begins with them."""

import asyncio
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import psycopg
import pytest

from harness import Options, Stack, install
from harness import shop as example
from harness.bridge import Bridge, Bridged, ClientBridge
from harness.envoy import LOOPBACK, Upstream
from harness.relay import TcpRelay
from harness.stack import CONNECT_SECONDS, Way
from harness.waiting import patience, until, until_equal
from tests import pgx
from tests.bridge_rules import CLIENT_NAME, write_rules
from tests.cancelling import SLEEPS, cancelling
from tests.rows import ADA, INSERT
from tests.test_bridge import LONG, SSL_REQUEST

pytestmark = pytest.mark.skipif(
    not install.is_there(install.WITH_TLS),
    reason=f"no PostgreSQL with TLS here: {install.WITH_TLS.package} has no wheel for this system",
)

# The ways behind the bridges: to the server's Unix socket, and by another bridge to a server that takes TLS alone.
LOCAL = "local"
BOTH = "both"


class FromClients(Bridged):
    """Bridges from clients, and one to the server behind a relay that records."""

    def __init__(self, policies: Path) -> None:
        self.relay: TcpRelay | None = None
        self.server_bridge: Bridge | None = None
        audited = {"audit": {"interval_seconds": 1}}
        stack = Stack(Options(tls=True, ways=self._ways, policies=(policies,), filter_config=audited))
        known, asked = stack.certificates, ("--client-ca", stack.certificates.ca)
        known.client_key.chmod(0o600)  # or libpq does not take it
        told = {
            LOCAL: (LOCAL, "--pass-scram"),
            BOTH: (BOTH,),
            "proof passes": (BOTH, "--pass-scram"),
            "plain too": (BOTH, "--allow-plain"),
            "certified": (BOTH, *asked),
            "certified or not": (BOTH, *asked, "--client-certificates", "optional"),
            "unknown header": (BOTH, "--proxy-protocol=false"),
        }
        self.bridges = {
            name: ClientBridge(
                stack.work, f"bridge-{name.replace(' ', '-')}", "postgres", stack.envoy.socket(way), known, *options
            )
            for name, (way, *options) in told.items()
        }
        # What passes between a client and its bridge.
        self.recorded = TcpRelay(self.bridges[BOTH].port)
        super().__init__(stack, self.relay, self.server_bridge, *self.bridges.values(), self.recorded)

    def dsn(self, user: str, way: str = BOTH, port: int = 0, **options: object) -> str:
        known = self.stack.certificates
        told = {
            "host": "localhost", "hostaddr": LOOPBACK, "port": port or self.bridges[way].port, "user": user,
            "dbname": example.DATABASE, "password": example.PASSWORD, "connect_timeout": CONNECT_SECONDS,
            "sslmode": "verify-full", "sslrootcert": known.ca, "sslcertmode": "disable",
        }  # fmt: skip
        return psycopg.conninfo.make_conninfo(**{**told, **options})

    def connect(self, user: str, way: str = BOTH, port: int = 0, **options: object) -> psycopg.Connection:
        return psycopg.connect(self.dsn(user, way, port, **options), autocommit=True)

    def refused(self, way: str = BOTH, **options: object) -> str:
        with pytest.raises(psycopg.OperationalError) as refusal:
            self.connect("app", way, **options).close()
        return str(refusal.value)

    def shown(self) -> dict[str, object]:
        """How a client shows its certificate."""
        known = self.stack.certificates
        return {"sslcert": known.client, "sslkey": known.client_key, "sslcertmode": "require"}

    def _ways(self, stack: Stack) -> dict[str, Way]:
        self.relay = TcpRelay(stack.postgres.port)
        self.server_bridge = Bridge(stack.work, "bridge-to-server", "postgres", self.relay.port, stack.certificates.ca)
        return {
            LOCAL: Way(Upstream(stack.postgres.socket), proxy_protocol=True),
            BOTH: Way(self.server_bridge.upstream, proxy_protocol=True),
        }


@pytest.fixture(scope="module")
def bridged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FromClients]:
    running = FromClients(write_rules(tmp_path_factory.mktemp("policies"))).start()
    yield running
    running.stop()


def is_encrypted(connection: psycopg.Connection) -> bool:
    """On the server's side."""
    return connection.execute("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").fetchone()[0]


def test_nothing_is_plain_from_the_application_to_the_server(bridged: FromClients) -> None:
    bridged.relay.forget()
    bridged.recorded.forget()
    with bridged.connect("app", port=bridged.recorded.port) as app, bridged.stack.direct() as direct:
        assert app.pgconn.ssl_in_use
        assert is_encrypted(app)
        direct.execute("TRUNCATE customer")
        app.execute(INSERT, ADA)
        assert app.execute("SELECT name, ssn FROM customer WHERE ssn = %s", [ADA[3]]).fetchone() == (ADA[1], ADA[3])
        assert direct.execute("SELECT ssn FROM customer").fetchone()[0].startswith("fv1.")
    for recording in (*bridged.relay.recordings, *bridged.recorded.recordings):
        assert recording.to_server.startswith(SSL_REQUEST)
        for seen in (bytes(recording.to_server), bytes(recording.to_client)):
            plain = (ADA[1], ADA[3], "customer", "SCRAM", "fv1.", example.PASSWORD)
            assert not [value for value in plain if value.encode() in seen]


@pytest.mark.parametrize("way", [LOCAL, BOTH])
@pytest.mark.parametrize("negotiation", ["postgres", "direct"])
def test_libpq_comes_in_by_either_way_into_tls(bridged: FromClients, way: str, negotiation: str) -> None:
    with bridged.connect("app", way, sslnegotiation=negotiation) as app:
        assert app.execute("SELECT current_user").fetchone() == ("app",)
        assert is_encrypted(app) == (way == BOTH)


def test_long_values_pass_whole_both_ways(bridged: FromClients) -> None:
    with bridged.connect("app") as app:
        assert app.execute("SELECT %s::text", [LONG]).fetchone() == (LONG,)


@pytest.mark.parametrize("binding", ["disable", "prefer"])
def test_login_works_whatever_the_client_prefers(bridged: FromClients, binding: str) -> None:
    with bridged.connect("app", channel_binding=binding) as app:
        assert app.execute("SELECT 42").fetchone() == (42,)
    assert "password authentication failed" in bridged.refused(channel_binding=binding, password="wrong")


@pytest.mark.parametrize("password", ["a\u00adb", "x²😀", "א²a", "naïve\u00a0²", "pass word"])
def test_password_is_prepared_as_the_server_has_it(bridged: FromClients, password: str) -> None:
    """What SASLprep takes out, what it does not allow, and what it writes in another form."""
    with bridged.stack.direct() as direct:
        direct.execute(f"CREATE ROLE odd LOGIN PASSWORD '{password}'")
        try:
            with bridged.connect("odd", password=password) as odd:
                assert odd.execute("SELECT current_user").fetchone() == ("odd",)
            with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
                bridged.connect("odd", password=f"{password}x").close()
        finally:
            direct.execute("DROP ROLE odd")


def test_client_that_demands_channel_binding_says_that_it_is_not_offered(bridged: FromClients) -> None:
    assert "channel binding required but not supported" in bridged.refused(channel_binding="require")


def test_client_that_gives_its_password_to_nobody_says_so_unless_its_proof_passes(bridged: FromClients) -> None:
    assert "server requested a cleartext password" in bridged.refused(require_auth="scram-sha-256")
    with bridged.connect("app", LOCAL, require_auth="scram-sha-256") as app:
        assert app.execute("SELECT 42").fetchone() == (42,)


def test_proof_that_passes_to_a_server_within_tls_is_taken_of_clients_without_channel_binding_alone(
    bridged: FromClients,
) -> None:
    with bridged.connect("app", "proof passes", channel_binding="disable", require_auth="scram-sha-256") as app:
        assert app.execute("SELECT 42").fetchone() == (42,)
    assert "SCRAM channel binding negotiation error" in bridged.refused("proof passes")


def test_asyncpg_comes_in_with_its_strictest_mode(bridged: FromClients) -> None:
    context = ssl.create_default_context(cafile=str(bridged.stack.certificates.ca))

    async def session() -> str:
        connection = await asyncpg.connect(
            host="localhost", port=bridged.bridges[BOTH].port, user="app", password=example.PASSWORD,
            database=example.DATABASE, ssl=context, timeout=CONNECT_SECONDS,
        )  # fmt: skip
        try:
            return await connection.fetchval("SELECT current_user::text")
        finally:
            await connection.close()

    assert asyncio.run(session()) == "app"


def test_psql_comes_in_with_its_strictest_mode_and_not_by_an_authority_that_it_does_not_know(
    bridged: FromClients,
) -> None:
    def psql(text: str, **options: object) -> subprocess.CompletedProcess:
        command = [bridged.stack.postgres.own_program("psql"), "-XqAt", bridged.dsn("app", **options), "-c", text]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=patience(30))

    with bridged.stack.direct() as direct:
        direct.execute("TRUNCATE customer")
    assert psql(f"INSERT INTO customer (id, ssn) VALUES (1, '{ADA[3]}')").stderr == ""
    assert psql("SELECT ssn FROM customer").stdout == f"{ADA[3]}\n"
    assert "certificate verify failed" in psql("SELECT 1", sslrootcert=bridged.stack.certificates.unknown_ca).stderr


@pytest.mark.parametrize("way", [LOCAL, BOTH])
def test_pgx_comes_in_with_its_strictest_mode_and_runs_every_query_mode(bridged: FromClients, way: str) -> None:
    pgx.runs_every_query_mode(bridged.stack, bridged.bridges[way].port)


def test_cancel_reaches_the_server_within_tls(bridged: FromClients) -> None:
    with bridged.connect("app") as app, bridged.stack.direct() as direct:
        with cancelling(direct, app.cancel_safe), pytest.raises(psycopg.errors.QueryCanceled, match="user request"):
            app.execute(SLEEPS)
        assert app.execute("SELECT 42").fetchone() == (42,)


def test_cancel_of_an_older_libpq_comes_in_plain_text_and_reaches_the_server_too(bridged: FromClients) -> None:
    # libpq holds up this process, and the relay with it, so the way is the one without.
    with bridged.connect("app", LOCAL) as app, bridged.stack.direct() as direct:
        cancel = app.pgconn.get_cancel().cancel
        with cancelling(direct, cancel), pytest.raises(psycopg.errors.QueryCanceled, match="user request"):
            app.execute(SLEEPS)
        assert app.execute("SELECT 42").fetchone() == (42,)


def test_source_is_the_clients_address(bridged: FromClients) -> None:
    for way in (LOCAL, BOTH):
        with bridged.connect("support", way, application_name=f"by {way}") as support:
            support.execute("SELECT ssn FROM customer").fetchall()
    # By Envoy's Unix socket alone nothing is known of the client.
    with bridged.stack.connect("support", application_name="by itself") as support:
        support.execute("SELECT ssn FROM customer").fetchall()

    def sources(name: str) -> set[str]:
        return {line["source"] for line in bridged.stack.envoy.audit() if line["application_name"] == name}

    for name, source in {f"by {LOCAL}": LOOPBACK, f"by {BOTH}": LOOPBACK, "by itself": ""}.items():
        until_equal(lambda name=name: sources(name), {source})


def test_client_without_tls_is_told_unless_it_is_allowed(bridged: FromClients) -> None:
    assert "it asks for a session without TLS; use sslmode=verify-full" in bridged.refused(sslmode="disable")
    with bridged.connect("app", "plain too", sslmode="disable") as app:
        assert not app.pgconn.ssl_in_use
    with bridged.connect("app", "plain too") as app:
        assert app.pgconn.ssl_in_use


def test_client_that_does_not_trust_the_bridge_does_not_go_on(bridged: FromClients) -> None:
    assert "certificate verify failed" in bridged.refused(sslrootcert=bridged.stack.certificates.unknown_ca)
    assert "does not match host name" in bridged.refused(host="db.example.com")
    log = bridged.bridges[BOTH].process.log
    until(lambda: '"reason":"handshake_failed"' in log.read_text(), f"the reason in {log.name}")


def test_certificate_of_a_client_is_asked_for_where_it_is_configured(bridged: FromClients) -> None:
    assert "certificate required" in bridged.refused("certified")
    with bridged.connect("app", "certified", **bridged.shown()) as app:
        assert app.execute("SELECT 42").fetchone() == (42,)
    with bridged.connect("app", "certified or not") as app:
        assert app.execute("SELECT 42").fetchone() == (42,)


def test_rules_speak_of_the_clients_certificate_and_address(bridged: FromClients) -> None:
    columns = "ssn, phone"
    with bridged.stack.direct() as direct, bridged.connect("app") as app:
        direct.execute("TRUNCATE customer")
        app.execute(INSERT, ADA)
        ssn, phone = app.execute(f"SELECT {columns} FROM customer").fetchone()
        sealed = direct.execute(f"SELECT {columns} FROM customer").fetchone()

    def read(way: str, **options: object) -> tuple:
        with bridged.connect("auditor", way, **options) as auditor:
            return auditor.execute(f"SELECT {columns} FROM customer").fetchone()

    shown = bridged.shown() | {"application_name": "with a certificate"}
    assert read("certified", **shown) == (ssn, phone)
    assert read("certified or not", **shown) == (ssn, phone)
    # Who shows none, or to a bridge that asks for none, is known by the address alone.
    assert read("certified or not") == (sealed[0], phone)
    assert read(BOTH, **bridged.shown() | {"sslcertmode": "allow"}) == (sealed[0], phone)
    with bridged.stack.connect("auditor") as auditor:
        assert auditor.execute(f"SELECT {columns} FROM customer").fetchone() == sealed

    def certificates() -> set[str]:
        lines = [line for line in bridged.stack.envoy.audit() if line["application_name"] == "with a certificate"]
        return {",".join(line["client_certificate"]["dns"]) for line in lines}

    until_equal(certificates, {CLIENT_NAME})


def test_envoy_that_expects_a_header_lets_nobody_in_without(bridged: FromClients) -> None:
    assert "connection by way of Envoy ended" in bridged.refused("unknown header")
