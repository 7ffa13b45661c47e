"""TLS that Envoy itself begins within PostgreSQL's protocol, by the native shell: with servers and with clients."""

import socket
import ssl
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from harness import Options, Stack, install
from harness import shop as example
from harness.envoy import LOOPBACK, SHELL, ClientTls
from harness.ports import free_port
from harness.postgres import CERTIFIED, Postgres
from harness.relay import TcpRelay
from harness.stack import CONNECT_SECONDS, Way
from harness.waiting import until, until_equal
from tests import wire
from tests.bridge_rules import CLIENT_NAME, write_rules
from tests.cancelling import SLEEPS, cancelling
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
# What servers say that are none, or do not go on, by the name of the way to them.
RUDE = {
    "says no": b"N",
    "stuffs": b"S\x00",
    "error": b"E\x00\x00\x00\x05\x00",
    "no postgres": b"HTTP/1.1 400 Bad Request\r\n",
    "leaves": b"",
}
# Ways from clients: to the server's Unix socket, to the server within TLS, and without a demand for TLS.
LOCAL, BOTH, PLAIN_TOO, CERTIFICATE, OPTIONAL = "local", "both", "plain too", "certificate", "optional"


class RudeServer:
    """Answers each connection's first bytes with a few of its own, and leaves or waits."""

    def __init__(self, answer: bytes) -> None:
        self.port = free_port()
        self.got: list[bytes] = []
        self._answer = answer
        self._listener = socket.create_server((LOOPBACK, self.port))
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer_one, args=(connection,), daemon=True).start()

    def _answer_one(self, connection: socket.socket) -> None:
        with connection:
            got = connection.recv(1000)
            if not self._answer:
                self.got.append(got)
                return
            connection.sendall(self._answer)
            while more := connection.recv(1000):
                got += more
            self.got.append(got)

    def stop(self) -> None:
        self._listener.close()


class Sidecars:
    """One Envoy with many ways to one server, which takes TLS alone on TCP, and to servers that are rude."""

    def __init__(self, policies: Path) -> None:
        self.rude = {name: RudeServer(answer) for name, answer in RUDE.items()}
        self.silent = RudeServer(b"S")
        self.plain: Postgres | None = None
        audited = {"audit": {"interval_seconds": 1}}
        self.stack = Stack(Options(tls=True, ways=self._ways, policies=(policies,), filter_config=audited))
        self.stack.certificates.client_key.chmod(0o600)  # or libpq does not take it

    def start(self) -> "Sidecars":
        try:
            self.relay.start()
            self.stack.start()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        for server in (*self.rude.values(), self.silent):
            server.stop()
        self.relay.stop()
        self.stack.stop()

    def connect(self, user: str, way: str, *, tcp: bool = False, **options: object) -> psycopg.Connection:
        """To a way whose clients are without TLS."""
        dsn = psycopg.conninfo.make_conninfo(self.stack.dsn(user, listener=way, tcp=tcp), **options)
        return psycopg.connect(dsn, autocommit=True)

    def dsn(self, user: str, way: str, **options: object) -> str:
        """To a way whose clients come within TLS."""
        told = {
            "host": "localhost", "hostaddr": LOOPBACK, "port": self.stack.envoy.port(way), "user": user,
            "dbname": example.DATABASE, "password": example.PASSWORD, "connect_timeout": CONNECT_SECONDS,
            "sslmode": "verify-full", "sslrootcert": self.stack.certificates.ca, "sslcertmode": "disable",
            "channel_binding": "disable",
        }  # fmt: skip
        return psycopg.conninfo.make_conninfo(**{**told, **options})

    def connect_tls(self, user: str, way: str, **options: object) -> psycopg.Connection:
        return psycopg.connect(self.dsn(user, way, **options), autocommit=True)

    def refused(self, way: str, user: str = "app") -> str:
        with pytest.raises(psycopg.OperationalError) as refusal:
            self.connect(user, way).close()
        return str(refusal.value)

    def refused_tls(self, way: str, **options: object) -> str:
        with pytest.raises(psycopg.OperationalError) as refusal:
            self.connect_tls("app", way, **options).close()
        return str(refusal.value)

    def shown(self) -> dict[str, object]:
        """How a client shows its certificate."""
        known = self.stack.certificates
        return {"sslcert": known.client, "sslkey": known.client_key, "sslcertmode": "require"}

    def open(self, way: str) -> socket.socket:
        return socket.create_connection((LOOPBACK, self.stack.envoy.port(way)), wire.timeout())

    def logged(self, text: str) -> None:
        log = self.stack.envoy.process.log
        until(lambda: text in log.read_text(errors="replace"), f"{text!r} in {log.name}")

    def _ways(self, stack: Stack) -> dict[str, Way]:
        known = stack.certificates
        self.relay = TcpRelay(stack.postgres.port)
        direct = stack.server_upstream()
        asked = replace(direct, tls=replace(direct.tls, ssl_request=True))
        recorded = replace(asked, port=self.relay.port)
        shown = replace(asked.tls, certificate=known.client, key=known.client_key)
        local = replace(asked, address="", port=0, path=stack.postgres.socket, tls=None)
        tls = ClientTls(known.gateway, known.gateway_key)
        certificate = replace(tls, client_ca=known.ca)
        return {
            "verified": Way(recorded),
            "wrong_authority": Way(replace(asked, tls=replace(asked.tls, ca=known.unknown_ca))),
            "wrong_name": Way(replace(asked, tls=replace(asked.tls, server_name="other.shop.test"))),
            "with_certificate": Way(replace(asked, tls=shown)),
            "without_tls": Way(replace(asked, address="", port=0, path=stack.postgres.socket)),
            "silent": Way(replace(asked, port=self.silent.port)),
            **{name: Way(replace(asked, port=server.port)) for name, server in self.rude.items()},
            LOCAL: Way(local, tls=tls),
            BOTH: Way(asked, tls=tls),
            PLAIN_TOO: Way(local, tls=replace(tls, allow_plain=True)),
            CERTIFICATE: Way(local, tls=certificate),
            OPTIONAL: Way(local, tls=replace(certificate, client_certificates="optional")),
        }


@pytest.fixture(scope="module")
def sidecars(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sidecars]:
    running = Sidecars(write_rules(tmp_path_factory.mktemp("policies"))).start()
    yield running
    running.stop()


@pytest.mark.parametrize("tcp", [False, True], ids=["unix", "tcp"])
def test_values_are_sealed_and_nothing_is_plain_on_the_way_to_the_server(sidecars: Sidecars, tcp: bool) -> None:
    sidecars.relay.forget()
    with sidecars.connect("app", "verified", tcp=tcp) as app, sidecars.stack.direct() as direct:
        assert encryption(app) == (True, "TLSv1.3")
        direct.execute("TRUNCATE customer")
        app.execute(INSERT, ADA)
        assert app.execute("SELECT name, ssn FROM customer WHERE ssn = %s", [ADA[3]]).fetchone() == (ADA[1], ADA[3])
        assert direct.execute("SELECT ssn FROM customer").fetchone()[0].startswith("fv1.")
    (recording,) = sidecars.relay.recordings
    assert recording.to_server.startswith(SSL_REQUEST)
    assert recording.to_client.startswith(b"S")
    for seen in (bytes(recording.to_server), bytes(recording.to_client)):
        assert not [value for value in (ADA[1], ADA[3], "customer", "SCRAM", "fv1.") if value.encode() in seen]


def test_long_values_pass_whole_both_ways(sidecars: Sidecars) -> None:
    with sidecars.connect("app", "verified") as app:
        assert app.execute("SELECT %s::text", [LONG]).fetchone() == (LONG,)


def test_cancel_goes_to_the_server_within_tls(sidecars: Sidecars) -> None:
    with sidecars.connect("app", "verified") as app, sidecars.stack.direct() as direct:
        sidecars.relay.forget()
        with cancelling(direct, app.cancel_safe), pytest.raises(psycopg.errors.QueryCanceled, match="user request"):
            app.execute(SLEEPS)
        (recording,) = sidecars.relay.recordings
        assert recording.to_server.startswith(SSL_REQUEST)
        assert app.execute("SELECT 42").fetchone() == (42,)


def test_certificate_that_the_server_asks_for_is_shown(sidecars: Sidecars) -> None:
    assert "connection requires a valid client certificate" in sidecars.refused("verified", CERTIFIED)
    with sidecars.connect(CERTIFIED, "with_certificate") as session:
        assert encryption(session)[0]


@pytest.mark.parametrize("way", ["wrong_authority", "wrong_name"])
def test_certificate_that_does_not_verify_ends_the_connection_and_the_log_says_why(
    sidecars: Sidecars, way: str
) -> None:
    assert "server closed the connection unexpectedly" in sidecars.refused(way)
    sidecars.logged("CERTIFICATE_VERIFY_FAILED")


def test_server_without_tls_is_refused_with_a_reason(sidecars: Sidecars) -> None:
    told = sidecars.refused("without_tls")
    assert "fieldveil: the server: it offers no TLS" in told
    assert "take ssl_request out of the cluster's tls" in told
    sidecars.logged("the server: it offers no TLS")


@pytest.mark.parametrize("way", RUDE)
def test_server_that_answers_otherwise_gets_nothing_of_the_client(sidecars: Sidecars, way: str) -> None:
    assert "fieldveil: the server: it" in sidecars.refused(way)
    server = sidecars.rude[way]
    until(lambda: server.got != [], "the connection's end")
    assert set(server.got) == {SSL_REQUEST}


def test_server_that_says_yes_and_nothing_more_is_given_up_in_time(sidecars: Sidecars) -> None:
    begun = time.monotonic()
    assert "fieldveil: the server: TLS did not begin in time" in sidecars.refused("silent")
    assert time.monotonic() - begun > 8
    until(lambda: sidecars.silent.got != [], "the connection's end")
    (got,) = sidecars.silent.got
    assert got.startswith(SSL_REQUEST + b"\x16")
    assert b"app" not in got


def test_nothing_is_plain_from_the_application_to_the_server(sidecars: Sidecars) -> None:
    recorded = TcpRelay(sidecars.stack.envoy.port(BOTH))
    recorded.start()
    try:
        with sidecars.connect_tls("app", BOTH, port=recorded.port) as app:
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
def test_libpq_comes_in_by_either_way_into_tls(sidecars: Sidecars, way: str, negotiation: str) -> None:
    with sidecars.connect_tls("app", way, sslnegotiation=negotiation) as app:
        assert app.pgconn.ssl_in_use
        assert app.execute("SELECT current_user").fetchone() == ("app",)


@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
def test_tls_of_either_version_is_taken(sidecars: Sidecars, version: str) -> None:
    only = {"ssl_min_protocol_version": version, "ssl_max_protocol_version": version}
    with sidecars.connect_tls("app", LOCAL, **only) as app:
        assert app.pgconn.ssl_attribute("protocol") == version


def test_login_binds_to_no_tls_session(sidecars: Sidecars) -> None:
    """The server within TLS takes the client that could have bound its login for one that was tampered with."""
    with sidecars.connect_tls("app", LOCAL, channel_binding="prefer") as app:
        assert app.execute("SELECT 42").fetchone() == (42,)
    assert "SCRAM channel binding negotiation error" in sidecars.refused_tls(BOTH, channel_binding="prefer")
    assert "channel binding" in sidecars.refused_tls(LOCAL, channel_binding="require")
    assert "password authentication failed" in sidecars.refused_tls(BOTH, password="wrong")


def test_client_that_does_not_trust_the_sidecar_does_not_go_on(sidecars: Sidecars) -> None:
    unknown = sidecars.stack.certificates.unknown_ca
    assert "certificate verify failed" in sidecars.refused_tls(LOCAL, sslrootcert=unknown)
    assert "does not match host name" in sidecars.refused_tls(LOCAL, host="db.example.com")


def test_client_without_tls_is_told_unless_it_is_allowed(sidecars: Sidecars) -> None:
    told = sidecars.refused_tls(LOCAL, sslmode="disable")
    assert "fieldveil: the client: it asks for a session without TLS" in told
    assert "sslmode=verify-full" in told
    with sidecars.connect_tls("app", PLAIN_TOO, sslmode="disable") as app:
        assert not app.pgconn.ssl_in_use


def test_cancel_comes_within_tls_and_of_an_older_libpq_in_plain_text(sidecars: Sidecars) -> None:
    with sidecars.connect_tls("app", LOCAL) as app, sidecars.stack.direct() as direct:
        for cancel in (app.cancel_safe, app.pgconn.get_cancel().cancel):
            with cancelling(direct, cancel), pytest.raises(psycopg.errors.QueryCanceled, match="user request"):
                app.execute(SLEEPS)
        assert app.execute("SELECT 42").fetchone() == (42,)


def within_tls(raw: socket.socket, known: Path) -> ssl.SSLSocket:
    context = ssl.create_default_context(cafile=str(known))
    return context.wrap_socket(raw, server_hostname="localhost")


def test_first_bytes_may_come_slowly_and_behind_a_gssenc_request(sidecars: Sidecars) -> None:
    with sidecars.open(LOCAL) as raw:
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for request, answer in ((GSSENC_REQUEST, b"N"), (SSL_REQUEST, b"S")):
            for byte in request:
                time.sleep(0.1)
                raw.sendall(bytes([byte]))
            assert raw.recv(10) == answer
        with within_tls(raw, sidecars.stack.certificates.ca) as session:
            session.sendall(wire.startup("app", example.DATABASE))
            assert session.recv(1) == b"R"


def test_bytes_that_are_not_postgres_are_refused_at_once(sidecars: Sidecars) -> None:
    with sidecars.open(LOCAL) as raw:
        raw.sendall(b"GET / HTTP/1.1\r\n\r\n")
        (error,) = wire.errors(wire.read_to_end(raw))
    assert (error["S"], error["C"]) == ("FATAL", "08P01")


def test_plain_bytes_behind_the_request_for_tls_are_not_read_as_a_session(sidecars: Sidecars) -> None:
    """CVE-2021-23214: they would be taken for what comes within TLS."""
    with sidecars.open(PLAIN_TOO) as raw:
        raw.sendall(SSL_REQUEST + wire.startup("app", example.DATABASE))
        assert raw.recv(1) == b"S"
        rest = wire.read_to_end(raw)
    assert b"SCRAM" not in rest


def test_source_is_the_clients_address(sidecars: Sidecars) -> None:
    with sidecars.connect_tls("support", LOCAL, application_name="within TLS") as support:
        support.execute("SELECT ssn FROM customer").fetchall()
    until_equal(lambda: {line["source"] for line in lines(sidecars, "within TLS")}, {LOOPBACK})


def lines(sidecars: Sidecars, name: str) -> list[dict]:
    return [line for line in sidecars.stack.envoy.audit() if line["application_name"] == name]


def test_certificate_of_a_client_is_asked_for_where_it_is_configured(sidecars: Sidecars) -> None:
    assert "certificate required" in sidecars.refused_tls(CERTIFICATE)
    with sidecars.connect_tls("app", CERTIFICATE, **sidecars.shown()) as app:
        assert app.execute("SELECT 42").fetchone() == (42,)
    with sidecars.connect_tls("app", OPTIONAL) as app:
        assert app.execute("SELECT 42").fetchone() == (42,)


def test_rules_speak_of_the_clients_certificate(sidecars: Sidecars) -> None:
    with sidecars.stack.direct() as direct, sidecars.connect_tls("app", LOCAL) as app:
        direct.execute("TRUNCATE customer")
        app.execute(INSERT, ADA)
        (ssn,) = app.execute("SELECT ssn FROM customer").fetchone()
        (sealed,) = direct.execute("SELECT ssn FROM customer").fetchone()

    def read(way: str, **options: object) -> str:
        with sidecars.connect_tls("auditor", way, **options) as auditor:
            return auditor.execute("SELECT ssn FROM customer").fetchone()[0]

    shown = sidecars.shown() | {"application_name": "with a certificate"}
    assert (read(CERTIFICATE, **shown), read(OPTIONAL, **shown)) == (ssn, ssn)
    # Who shows none, or to a listener that asks for none.
    assert (read(OPTIONAL), read(LOCAL, **sidecars.shown() | {"sslcertmode": "allow"})) == (sealed, sealed)

    def certificates() -> set[str]:
        return {",".join(line["client_certificate"]["dns"]) for line in lines(sidecars, "with a certificate")}

    until_equal(certificates, {CLIENT_NAME})
