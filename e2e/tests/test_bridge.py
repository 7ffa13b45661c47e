"""PostgreSQL that takes TLS alone, reached by `fieldveil bridge`, which asks for it by an SSLRequest."""

from collections.abc import Iterator

import psycopg
import pytest

from harness import Options, Stack, install
from harness.bridge import Bridge, Bridged
from harness.postgres import CERTIFIED
from harness.relay import TcpRelay
from harness.stack import Way
from harness.waiting import until
from tests.cancelling import SLEEPS, cancelling
from tests.rows import ADA, INSERT

pytestmark = pytest.mark.skipif(
    not install.is_there(install.WITH_TLS),
    reason=f"no PostgreSQL with TLS here: {install.WITH_TLS.package} has no wheel for this system",
)

# Begins each connection that asks for TLS.
SSL_REQUEST = b"\x00\x00\x00\x08\x04\xd2\x16\x2f"
# More than Envoy, the bridge and the kernel hold at once.
LONG = "0123456789" * 400_000


class ToServer(Bridged):
    """A server behind a relay that records, and bridges to it, right ones and wrong ones."""

    def __init__(self) -> None:
        self.relay: TcpRelay | None = None
        self.bridges: dict[str, Bridge] = {}
        stack = Stack(Options(tls=True, ways=self._ways))
        super().__init__(stack, self.relay, *self.bridges.values())

    def connect(self, user: str, way: str = "verified", *, tcp: bool = False) -> psycopg.Connection:
        return psycopg.connect(self.stack.dsn(user, listener=way, tcp=tcp), autocommit=True)

    def refused(self, user: str, way: str) -> str:
        with pytest.raises(psycopg.OperationalError) as refusal:
            self.connect(user, way).close()
        return str(refusal.value)

    def _ways(self, stack: Stack) -> dict[str, Way]:
        known, port = stack.certificates, stack.postgres.port
        self.relay = TcpRelay(port)
        shown = ("--client-certificate", known.client, "--client-key", known.client_key)
        told = {
            "verified": (self.relay.port, known.ca),
            "certified": (port, known.ca, *shown),
            "direct": (port, known.ca, "--direct-tls"),
            "unknown": (self.relay.port, known.unknown_ca),
        }
        self.bridges = {
            name: Bridge(stack.work, f"bridge-{name}", "postgres", *options) for name, options in told.items()
        }
        return {name: Way(bridge.upstream) for name, bridge in self.bridges.items()}


@pytest.fixture(scope="module")
def bridged() -> Iterator[ToServer]:
    running = ToServer().start()
    yield running
    running.stop()


def encryption(connection: psycopg.Connection) -> tuple[bool, str]:
    return connection.execute("SELECT ssl, version FROM pg_stat_ssl WHERE pid = pg_backend_pid()").fetchone()


@pytest.mark.parametrize("tcp", [False, True], ids=["unix", "tcp"])
def test_values_are_sealed_and_nothing_is_plain_on_the_way_to_the_server(bridged: ToServer, tcp: bool) -> None:
    bridged.relay.forget()
    with bridged.connect("app", tcp=tcp) as app, bridged.stack.direct() as direct:
        assert encryption(app) == (True, "TLSv1.3")
        direct.execute("TRUNCATE customer")
        app.execute(INSERT, ADA)
        assert app.execute("SELECT name, ssn FROM customer WHERE ssn = %s", [ADA[3]]).fetchone() == (ADA[1], ADA[3])
        assert direct.execute("SELECT ssn FROM customer").fetchone()[0].startswith("fv1.")
    (recording,) = bridged.relay.recordings
    assert recording.to_server.startswith(SSL_REQUEST)
    for seen in (bytes(recording.to_server), bytes(recording.to_client)):
        # The name is not protected: within TLS it is in clear, and outside of it nowhere.
        assert not [value for value in (ADA[1], ADA[3], "customer", "SCRAM", "fv1.") if value.encode() in seen]


def test_long_values_pass_whole_both_ways(bridged: ToServer) -> None:
    with bridged.connect("app") as app:
        assert app.execute("SELECT %s::text", [LONG]).fetchone() == (LONG,)


def test_cancel_goes_to_the_server_within_tls(bridged: ToServer) -> None:
    with bridged.connect("app") as app, bridged.stack.direct() as direct:
        bridged.relay.forget()
        with cancelling(direct, app.cancel_safe), pytest.raises(psycopg.errors.QueryCanceled, match="user request"):
            app.execute(SLEEPS)
        (recording,) = bridged.relay.recordings
        assert recording.to_server.startswith(SSL_REQUEST)
        assert app.execute("SELECT 42").fetchone() == (42,)


def test_tls_from_the_first_byte_is_begun_where_it_is_configured(bridged: ToServer) -> None:
    with bridged.connect("app", "direct") as app:
        assert encryption(app)[0]


def test_certificate_that_the_server_asks_for_is_shown(bridged: ToServer) -> None:
    assert "connection requires a valid client certificate" in bridged.refused(CERTIFIED, "verified")
    with bridged.connect(CERTIFIED, "certified") as session:
        assert encryption(session)[0]


def test_server_that_does_not_verify_is_refused_and_the_client_is_told_why(bridged: ToServer) -> None:
    bridged.relay.forget()
    told = bridged.refused("app", "unknown")
    assert "none of the trusted authorities signed it; give the authority that signed it by --ca" in told
    (recording,) = bridged.relay.recordings
    assert recording.to_server.startswith(SSL_REQUEST)
    assert b"app" not in recording.to_server
    log = bridged.bridges["unknown"].process.log
    until(lambda: '"reason":"unknown_authority"' in log.read_text(), f"the reason in {log.name}")
