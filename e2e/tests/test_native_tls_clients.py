"""TLS with PostgreSQL clients that the native listener filter answers for, and Envoy begins."""

import asyncio
import socket
import ssl
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import asyncpg
import psycopg
import pytest

from harness import Stack, install
from harness import shop as example
from harness.envoy import LOOPBACK, SHELL, ClientTls, Upstream
from harness.relay import TcpRelay
from harness.stack import CONNECT_SECONDS, Way
from harness.waiting import until_equal
from tests import pgx, wire
from tests.bridge_rules import CLIENT_NAME, write_rules
from tests.cancelling import SLEEPS, cancelling
from tests.native_tls import NativeTls
from tests.rows import ADA, INSERT
from tests.test_bridge import LONG, SSL_REQUEST, encryption

pytestmark = [
    pytest.mark.skipif(SHELL != "native", reason="it is of the native shell alone"),
    pytest.mark.skipif(
        not install.is_there(install.WITH_TLS),
        reason=f"no PostgreSQL with TLS here: {install.WITH_TLS.package} has no wheel for this system",
    ),
]

GSSENC_REQUEST = b"\x00\x00\x00\x08\x04\xd2\x16\x30"
# Ways to the server's Unix socket, to the server within TLS, and with other demands on clients.
LOCAL, BOTH, PLAIN_TOO, CERTIFICATE, OPTIONAL = "local", "both", "plain too", "certificate", "optional"


def from_clients(stack: Stack) -> dict[str, Way]:
    known, direct = stack.certificates, stack.server_upstream()
    local = Upstream(stack.postgres.socket)
    tls = ClientTls(known.gateway, known.gateway_key)
    certificate = replace(tls, client_ca=known.ca)
    return {
        LOCAL: Way(local, tls=tls),
        BOTH: Way(replace(direct, tls=replace(direct.tls, ssl_request=True)), tls=tls),
        PLAIN_TOO: Way(local, tls=replace(tls, allow_plain=True)),
        CERTIFICATE: Way(local, tls=certificate),
        OPTIONAL: Way(local, tls=replace(certificate, client_certificates="optional")),
    }


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NativeTls]:
    running = NativeTls(from_clients, (write_rules(tmp_path_factory.mktemp("policies")),)).start()
    yield running
    running.stop()


def test_nothing_is_plain_from_the_application_to_the_server(ways: NativeTls) -> None:
    recorded = TcpRelay(ways.stack.envoy.port(BOTH))
    recorded.start()
    try:
        with ways.connect_tls("app", BOTH, port=recorded.port) as app:
            assert app.pgconn.ssl_in_use
            assert encryption(app)[0]
            assert app.execute("SELECT %s::text", [LONG]).fetchone() == (LONG,)
    finally:
        recorded.stop()
    (recording,) = recorded.recordings
    assert recording.to_server.startswith(SSL_REQUEST)
    assert recording.to_client.startswith(b"S")
    for seen in (bytes(recording.to_server), bytes(recording.to_client)):
        assert not [value for value in ("SCRAM", LONG[:100], "pg_stat_ssl") if value.encode() in seen]


@pytest.mark.parametrize("way", [LOCAL, BOTH, PLAIN_TOO])
@pytest.mark.parametrize("negotiation", ["postgres", "direct"])
def test_libpq_comes_in_by_either_way_into_tls(ways: NativeTls, way: str, negotiation: str) -> None:
    with ways.connect_tls("app", way, sslnegotiation=negotiation) as app:
        assert app.pgconn.ssl_in_use
        assert app.execute("SELECT current_user").fetchone() == ("app",)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3], ids=str)
def test_tls_of_either_version_is_taken(ways: NativeTls, version: ssl.TLSVersion) -> None:
    with ways.open(LOCAL) as raw:
        raw.sendall(SSL_REQUEST)
        assert raw.recv(2) == b"S"
        with within_tls(raw, ways.stack.certificates.ca, version) as session:
            assert session.version() == version.name.replace("_", ".")
            session.sendall(wire.startup("app", example.DATABASE))
            assert session.recv(1) == b"R"


@pytest.mark.filterwarnings("ignore:.*TLSVersion.TLSv1_1 is deprecated")
def test_older_tls_is_refused(ways: NativeTls) -> None:
    with ways.open(LOCAL) as raw:
        raw.sendall(SSL_REQUEST)
        assert raw.recv(2) == b"S"
        with pytest.raises(ssl.SSLError):
            within_tls(raw, ways.stack.certificates.ca, ssl.TLSVersion.TLSv1_1)


def test_login_binds_to_no_tls_session(ways: NativeTls) -> None:
    """The server within TLS takes the client that could have bound its login for one that was tampered with."""
    with ways.connect_tls("app", LOCAL, channel_binding="prefer") as app:
        assert app.execute("SELECT 42").fetchone() == (42,)
    assert "SCRAM channel binding negotiation error" in ways.refused_tls(BOTH, channel_binding="prefer")
    assert "channel binding" in ways.refused_tls(LOCAL, channel_binding="require")
    assert "password authentication failed" in ways.refused_tls(BOTH, password="wrong")


@pytest.mark.parametrize("way", [LOCAL, BOTH])
def test_asyncpg_comes_in_with_its_strictest_mode(ways: NativeTls, way: str) -> None:
    context = ssl.create_default_context(cafile=str(ways.stack.certificates.ca))

    async def session() -> str:
        connection = await asyncpg.connect(
            host="localhost", port=ways.stack.envoy.port(way), user="app", password=example.PASSWORD,
            database=example.DATABASE, ssl=context, timeout=CONNECT_SECONDS,
        )  # fmt: skip
        try:
            return await connection.fetchval("SELECT current_user::text")
        finally:
            await connection.close()

    assert asyncio.run(session()) == "app"


@pytest.mark.parametrize("way", [LOCAL, BOTH])
def test_pgx_comes_in_with_its_strictest_mode_and_runs_every_query_mode(ways: NativeTls, way: str) -> None:
    pgx.runs_every_query_mode(ways.stack, ways.stack.envoy.port(way))


def test_client_that_does_not_trust_the_sidecar_does_not_go_on(ways: NativeTls) -> None:
    unknown = ways.stack.certificates.unknown_ca
    assert "certificate verify failed" in ways.refused_tls(LOCAL, sslrootcert=unknown)
    assert "does not match host name" in ways.refused_tls(LOCAL, host="db.example.com")


def test_client_without_tls_is_told_unless_it_is_allowed(ways: NativeTls) -> None:
    told = ways.refused_tls(LOCAL, sslmode="disable")
    assert "fieldveil: the client: it asks for a session without TLS" in told
    assert "sslmode=verify-full" in told
    with ways.connect_tls("app", PLAIN_TOO, sslmode="disable") as app:
        assert not app.pgconn.ssl_in_use


def test_cancel_comes_within_tls_and_of_an_older_libpq_in_plain_text(ways: NativeTls) -> None:
    with ways.connect_tls("app", LOCAL) as app, ways.stack.direct() as direct:
        for cancel in (app.cancel_safe, app.pgconn.get_cancel().cancel):
            with cancelling(direct, cancel), pytest.raises(psycopg.errors.QueryCanceled, match="user request"):
                app.execute(SLEEPS)
        assert app.execute("SELECT 42").fetchone() == (42,)


def within_tls(raw: socket.socket, known: Path, version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3) -> ssl.SSLSocket:
    context = ssl.create_default_context(cafile=str(known))
    context.minimum_version = context.maximum_version = version
    return context.wrap_socket(raw, server_hostname="localhost")


def test_first_bytes_may_come_slowly_and_behind_a_gssenc_request(ways: NativeTls) -> None:
    with ways.open(LOCAL) as raw:
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for request, answer in ((GSSENC_REQUEST, b"N"), (SSL_REQUEST, b"S")):
            for byte in request:
                time.sleep(0.1)
                raw.sendall(bytes([byte]))
            assert raw.recv(10) == answer
        with within_tls(raw, ways.stack.certificates.ca) as session:
            session.sendall(wire.startup("app", example.DATABASE))
            assert session.recv(1) == b"R"


def test_bytes_that_are_not_postgres_are_refused_at_once(ways: NativeTls) -> None:
    with ways.open(LOCAL) as raw:
        raw.sendall(b"GET / HTTP/1.1\r\n\r\n")
        (error,) = wire.errors(wire.read_to_end(raw))
    assert (error["S"], error["C"]) == ("FATAL", "08P01")


def test_plain_bytes_behind_the_request_for_tls_are_not_read_as_a_session(ways: NativeTls) -> None:
    """CVE-2021-23214: they would be taken for what comes within TLS."""
    with ways.open(PLAIN_TOO) as raw:
        raw.sendall(SSL_REQUEST + wire.startup("app", example.DATABASE))
        assert raw.recv(1) == b"S"
        rest = wire.read_to_end(raw)
    assert b"SCRAM" not in rest


def test_source_is_the_clients_address(ways: NativeTls) -> None:
    with ways.connect_tls("support", LOCAL, application_name="within TLS") as support:
        support.execute("SELECT ssn FROM customer").fetchall()
    until_equal(lambda: {line["source"] for line in lines(ways, "within TLS")}, {LOOPBACK})


def lines(ways: NativeTls, name: str) -> list[dict]:
    return [line for line in ways.stack.envoy.audit() if line["application_name"] == name]


def test_certificate_of_a_client_is_asked_for_where_it_is_configured(ways: NativeTls) -> None:
    assert "certificate required" in ways.refused_tls(CERTIFICATE)
    with ways.connect_tls("app", CERTIFICATE, **ways.shown()) as app:
        assert app.execute("SELECT 42").fetchone() == (42,)
    with ways.connect_tls("app", OPTIONAL) as app:
        assert app.execute("SELECT 42").fetchone() == (42,)


def test_rules_speak_of_the_clients_certificate(ways: NativeTls) -> None:
    with ways.stack.direct() as direct, ways.connect_tls("app", LOCAL) as app:
        direct.execute("TRUNCATE customer")
        app.execute(INSERT, ADA)
        (ssn,) = app.execute("SELECT ssn FROM customer").fetchone()
        (sealed,) = direct.execute("SELECT ssn FROM customer").fetchone()

    def read(way: str, **options: object) -> str:
        with ways.connect_tls("auditor", way, **options) as auditor:
            return auditor.execute("SELECT ssn FROM customer").fetchone()[0]

    shown = ways.shown() | {"application_name": "with a certificate"}
    assert (read(CERTIFICATE, **shown), read(OPTIONAL, **shown)) == (ssn, ssn)
    # Who shows none, or to a listener that asks for none.
    assert (read(OPTIONAL), read(LOCAL, **ways.shown() | {"sslcertmode": "allow"})) == (sealed, sealed)

    def certificates() -> set[str]:
        return {",".join(line["client_certificate"]["dns"]) for line in lines(ways, "with a certificate")}

    until_equal(certificates, {CLIENT_NAME})
