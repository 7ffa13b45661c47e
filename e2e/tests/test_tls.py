"""Envoy to the server by TLS: certificates are verified, SCRAM passes, the rest fails fast with a reason."""

import socket
import ssl
import struct
import subprocess
import threading
from collections.abc import Iterator

import psycopg
import pytest

from harness import install
from harness import shop as example
from harness.postgres import CERTIFIED
from harness.stack import SEALED
from harness.waiting import patience, until_equal
from tests import wire
from tests.cancelling import SLEEPS, cancelling
from tests.rows import ADA, INSERT
from tests.servers import Servers

pytestmark = pytest.mark.skipif(
    not install.is_there(install.WITH_TLS),
    reason=f"no PostgreSQL with TLS here: {install.WITH_TLS.package} has no wheel for this system",
)

VERSION_AT_LEAST = 170000


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    running = Servers().start()
    yield running
    running.stop()


def encryption(connection: psycopg.Connection) -> tuple[bool, str]:
    """Whether the server sees TLS on this connection, and by which version."""
    return connection.execute("SELECT ssl, version FROM pg_stat_ssl WHERE pid = pg_backend_pid()").fetchone()


@pytest.mark.parametrize("tcp", [False, True], ids=["unix", "tcp"])
def test_values_are_sealed_through_verified_tls(servers: Servers, tcp: bool) -> None:
    with servers.connect("app", tcp=tcp) as app, servers.stack.direct() as direct:
        assert app.info.server_version >= VERSION_AT_LEAST
        assert encryption(app) == (True, "TLSv1.3")
        direct.execute("TRUNCATE customer")
        app.execute(INSERT, ADA)
        assert app.execute("SELECT ssn FROM customer WHERE ssn = %s", [ADA[3]]).fetchone() == (ADA[3],)
        assert direct.execute("SELECT ssn FROM customer").fetchone()[0].startswith("fv1.")


def test_server_found_by_its_hosts_name_is_verified_too(servers: Servers) -> None:
    with servers.connect("app", "by_name") as app:
        assert encryption(app)[0]


@pytest.mark.parametrize("way", ["wrong_authority", "wrong_name"])
def test_certificate_that_does_not_verify_ends_the_connection_and_the_log_says_why(servers: Servers, way: str) -> None:
    assert "server closed the connection unexpectedly" in servers.refused("app", way)
    servers.logged(f"no connection to cluster {way}: TLS_error:")
    servers.logged("CERTIFICATE_VERIFY_FAILED")


def test_certificate_that_the_server_asks_for_is_shown(servers: Servers) -> None:
    assert "connection requires a valid client certificate" in servers.refused(CERTIFIED)
    with servers.connect(CERTIFIED, "with_certificate") as session:
        assert encryption(session)[0]


def test_renewed_certificates_are_taken_without_a_restart(servers: Servers) -> None:
    assert "server closed the connection unexpectedly" in servers.refused(CERTIFIED, "renewed")
    known = servers.stack.certificates
    servers.renewal.publish(ca=known.ca, certificate=known.client, key=known.client_key)
    with servers.connect_soon(CERTIFIED, "renewed") as session:
        assert encryption(session)[0]
    # Half of a renewal, a key that is none of the certificate's: the former pair stays.
    servers.renewal.publish(ca=known.ca, certificate=known.client, key=known.server_key)
    servers.logged("Failed to reload certificates")
    with servers.connect(CERTIFIED, "renewed") as session:
        assert encryption(session)[0]


@pytest.mark.parametrize("sslmode", ["disable", "allow", "prefer"])
def test_client_without_demand_for_tls_comes_in_over_loopback(servers: Servers, sslmode: str) -> None:
    with servers.connect("app", tcp=True, sslmode=sslmode) as app:
        assert encryption(app)[0]
        assert not app.pgconn.ssl_in_use


@pytest.mark.parametrize("sslmode", ["require", "verify-full"])
def test_client_that_demands_tls_over_loopback_is_told_there_is_none(servers: Servers, sslmode: str) -> None:
    trust = {"sslrootcert": str(servers.stack.certificates.ca)}
    assert "server does not support SSL" in servers.refused("app", tcp=True, sslmode=sslmode, **trust)


def test_client_that_starts_tls_at_once_fails_fast_and_the_log_says_why(servers: Servers) -> None:
    assert "SSL error" in servers.refused("app", tcp=True, sslmode="require", sslnegotiation="direct")
    servers.logged("the client started TLS; the sidecar's listener takes plain text")


def test_client_hello_is_answered_with_an_error_message(servers: Servers) -> None:
    hello, out = ssl.MemoryBIO(), ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        ssl.create_default_context().wrap_bio(hello, out, server_hostname="db").do_handshake()
    with servers.open(SEALED, tcp=True) as raw:
        raw.sendall(out.read())
        (error,) = wire.errors(wire.read_to_end(raw))
    assert (error["C"], "sslmode=disable" in error["M"]) == ("08P01", True)


REQUESTS = {"SSLRequest": struct.pack("!ii", 8, 80877103), "GSSENCRequest": struct.pack("!ii", 8, 80877104)}


DECLINED = [(SEALED, "SSLRequest"), ("second", "SSLRequest"), ("second", "GSSENCRequest")]


@pytest.mark.parametrize(("way", "asked"), DECLINED)
def test_encryption_request_that_the_server_declines_leads_to_a_plain_session(
    servers: Servers, way: str, asked: str
) -> None:
    with servers.open(way) as raw:
        raw.sendall(REQUESTS[asked])
        assert raw.recv(2) == b"N"
        raw.sendall(wire.startup("app", example.DATABASE))
        assert raw.recv(1) == b"R"


# A server that knows Kerberos grants its encryption over TCP, within TLS as well.
GRANTED = [("unencrypted", "SSLRequest"), ("unencrypted", "GSSENCRequest"), (SEALED, "GSSENCRequest")]


@pytest.mark.parametrize(("way", "asked"), GRANTED)
def test_encryption_request_that_the_server_grants_is_refused_with_a_reason(
    servers: Servers, way: str, asked: str
) -> None:
    with servers.connect("app") as beside:
        with servers.open(way) as raw:
            raw.sendall(REQUESTS[asked])
            (error,) = wire.errors(wire.read_to_end(raw))
        assert beside.execute("SELECT 42").fetchone() == (42,)
    assert (error["S"], error["C"]) == ("FATAL", "0A000")
    assert "answered an encryption request with yes" in error["M"]
    assert "sslmode=disable and gssencmode=disable" in error["H"]
    servers.logged("the server answered an encryption request with yes, which the sidecar cannot follow (0A000)")


def test_client_that_prefers_tls_fails_fast_where_only_the_server_has_it(servers: Servers) -> None:
    assert "error response during SSL exchange" in servers.refused("app", "unencrypted", tcp=True, sslmode="prefer")


def test_server_that_demands_tls_says_so_to_an_unencrypted_way(servers: Servers) -> None:
    assert "no encryption" in servers.refused("app", "unencrypted", tcp=True, sslmode="disable")


def offer(connection: socket.socket) -> list[bytes]:
    """The mechanisms of the server's AuthenticationSASL."""
    connection.sendall(wire.startup("app", example.DATABASE))
    kind, length, code = struct.unpack("!cii", wire.read_exactly(connection, 9))
    assert (kind, code) == (b"R", 10)
    return wire.read_exactly(connection, length - 8).rstrip(b"\0").split(b"\0")


def test_channel_binding_is_taken_out_of_the_servers_offer(servers: Servers) -> None:
    with servers.open("unfiltered") as raw:
        assert offer(raw) == [b"SCRAM-SHA-256-PLUS", b"SCRAM-SHA-256"]
    with servers.open(SEALED) as raw:
        assert offer(raw) == [b"SCRAM-SHA-256"]
    # What a client makes of the offer as it was.
    assert "SCRAM-SHA-256-PLUS" in servers.refused("app", "unfiltered")


@pytest.mark.parametrize("way", [SEALED, "second"])
def test_scram_passes_and_a_wrong_password_is_the_servers_refusal(servers: Servers, way: str) -> None:
    servers.connect("app", way).close()
    assert 'password authentication failed for user "app"' in servers.refused("app", way, password="wrong")


def test_client_that_demands_channel_binding_gives_up_by_itself(servers: Servers) -> None:
    assert "channel binding" in servers.refused("app", channel_binding="require")


@pytest.mark.parametrize("way", [SEALED, "second"])
def test_cancel_reaches_the_server_behind_its_listener(servers: Servers, way: str) -> None:
    """A statement runs at both servers; only the one behind the listener is told to stop it."""
    other = "second" if way == SEALED else SEALED
    first, second = servers.direct(way), servers.direct(other)
    with first, second, servers.connect("app", way) as cancelled, servers.connect("app", other) as left:
        second.execute("SELECT pg_advisory_lock(1)")
        got: list[object] = []
        waits = threading.Thread(
            target=lambda: got.append(left.execute("SELECT 1 FROM pg_advisory_lock(1)").fetchone())
        )
        waits.start()
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND wait_event_type = 'Lock'"
        until_equal(lambda: second.execute(waiting).fetchone(), (1,))
        with (
            cancelling(first, cancelled.cancel_safe),
            pytest.raises(psycopg.errors.QueryCanceled, match="user request"),
        ):
            cancelled.execute(SLEEPS)
        second.execute("SELECT pg_advisory_unlock(1)")
        waits.join()
        assert got == [(1,)]


def test_psql_comes_in_by_the_sockets_name_and_over_loopback(servers: Servers) -> None:
    stack = servers.stack
    for dsn in (stack.dsn("app"), stack.dsn("app", listener="second"), stack.dsn("app", tcp=True)):
        command = [stack.postgres.program("psql"), "-XAtc", "SELECT 42", dsn]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=patience())
        assert (done.stdout, done.stderr) == ("42\n", "")


# Of the role, as the constants are left out of the texts.
QUESTIONS = """
SELECT calls FROM pg_stat_statements JOIN pg_roles ON pg_roles.oid = userid
WHERE rolname = 'app' AND query LIKE '%pg_catalog.%'
"""


def test_what_the_sidecar_asks_is_one_entry_of_pg_stat_statements(servers: Servers) -> None:
    """This server's build has the extension."""
    with servers.stack.direct() as direct:
        direct.execute("CREATE EXTENSION pg_stat_statements")
        direct.execute("SELECT pg_stat_statements_reset()")
        for _ in range(2):
            with servers.connect("app") as app:
                for text in ("SELECT 1", "BEGIN", "SELECT ssn FROM customer", "COMMIT"):
                    app.execute(text)
        assert direct.execute(QUESTIONS).fetchall() == [(2,)]
