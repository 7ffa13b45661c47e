"""TLS with PostgreSQL servers that the native filter asks for by an SSLRequest, and Envoy begins."""

import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import psycopg
import pytest

from harness import Options, Stack, install
from harness.envoy import LOOPBACK, SHELL
from harness.postgres import CERTIFIED
from harness.process import PartFailed
from harness.relay import TcpRelay
from harness.stack import Way
from harness.waiting import until
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

# What servers say that are none, or do not go on, by the name of the way to them.
RUDE = {
    "says no": b"N",
    "stuffs": b"S\x00",
    "error": b"E\x00\x00\x00\x05\x00",
    "no postgres": b"HTTP/1.1 400 Bad Request\r\n",
    "leaves": b"",
}


class RudeServer:
    """Answers each connection's first bytes with a few of its own, and leaves or waits."""

    def __init__(self, answer: bytes) -> None:
        self.got: list[bytes] = []
        self._answer = answer
        self._listener = socket.create_server((LOOPBACK, 0))
        self.port = self._listener.getsockname()[1]
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


class ToServers(NativeTls):
    """Right and wrong ways to the server, and ways to servers that are rude."""

    def __init__(self) -> None:
        self.rude = {name: RudeServer(answer) for name, answer in RUDE.items()}
        self.silent = RudeServer(b"S")
        super().__init__(self._ways)

    def start(self) -> "ToServers":
        self.relay.start()
        try:
            super().start()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        for part in (*self.rude.values(), self.silent, self.relay):
            part.stop()
        super().stop()

    def _ways(self, stack: Stack) -> dict[str, Way]:
        known = stack.certificates
        self.relay = TcpRelay(stack.postgres.port)
        direct = stack.server_upstream()
        asked = replace(direct, tls=replace(direct.tls, ssl_request=True))
        shown = replace(asked.tls, certificate=known.client, key=known.client_key)
        return {
            "verified": Way(replace(asked, port=self.relay.port)),
            "wrong_authority": Way(replace(asked, tls=replace(asked.tls, ca=known.unknown_ca))),
            "wrong_name": Way(replace(asked, tls=replace(asked.tls, server_name="other.shop.test"))),
            "with_certificate": Way(replace(asked, tls=shown)),
            "without_tls": Way(replace(asked, address="", port=0, path=stack.postgres.socket)),
            "silent": Way(replace(asked, port=self.silent.port)),
            **{name: Way(replace(asked, port=server.port)) for name, server in self.rude.items()},
        }


@pytest.fixture(scope="module")
def ways() -> Iterator[ToServers]:
    running = ToServers().start()
    yield running
    running.stop()


@pytest.mark.parametrize("tcp", [False, True], ids=["unix", "tcp"])
def test_values_are_sealed_and_nothing_is_plain_on_the_way_to_the_server(ways: ToServers, tcp: bool) -> None:
    ways.relay.forget()
    with ways.connect("app", "verified", tcp=tcp) as app, ways.stack.direct() as direct:
        assert encryption(app) == (True, "TLSv1.3")
        direct.execute("TRUNCATE customer")
        app.execute(INSERT, ADA)
        assert app.execute("SELECT name, ssn FROM customer WHERE ssn = %s", [ADA[3]]).fetchone() == (ADA[1], ADA[3])
        assert direct.execute("SELECT ssn FROM customer").fetchone()[0].startswith("fv1.")
    (recording,) = ways.relay.recordings
    assert recording.to_server.startswith(SSL_REQUEST)
    assert recording.to_client.startswith(b"S")
    for seen in (bytes(recording.to_server), bytes(recording.to_client)):
        assert not [value for value in (ADA[1], ADA[3], "customer", "SCRAM", "fv1.") if value.encode() in seen]


def test_long_values_pass_whole_both_ways(ways: ToServers) -> None:
    with ways.connect("app", "verified") as app:
        assert app.execute("SELECT %s::text", [LONG]).fetchone() == (LONG,)


def test_cancel_goes_to_the_server_within_tls(ways: ToServers) -> None:
    with ways.connect("app", "verified") as app, ways.stack.direct() as direct:
        ways.relay.forget()
        with cancelling(direct, app.cancel_safe), pytest.raises(psycopg.errors.QueryCanceled, match="user request"):
            app.execute(SLEEPS)
        (recording,) = ways.relay.recordings
        assert recording.to_server.startswith(SSL_REQUEST)
        assert app.execute("SELECT 42").fetchone() == (42,)


def test_certificate_that_the_server_asks_for_is_shown(ways: ToServers) -> None:
    assert "connection requires a valid client certificate" in ways.refused("verified", CERTIFIED)
    with ways.connect(CERTIFIED, "with_certificate") as session:
        assert encryption(session)[0]


@pytest.mark.parametrize(("way", "statistic"), [("wrong_authority", "error"), ("wrong_name", "san")])
def test_certificate_that_does_not_verify_ends_the_connection_and_the_log_says_where_to_look(
    ways: ToServers, way: str, statistic: str
) -> None:
    assert "server closed the connection unexpectedly" in ways.refused(way)
    ways.logged("the connection ended where TLS had to begin; if the cluster's statistic ssl.fail_verify_error or")
    name = f"cluster.{way}.ssl.fail_verify_{statistic}"
    assert ways.stack.envoy.stats(name) == {name: 1}


def test_server_without_tls_is_refused_with_a_reason(ways: ToServers) -> None:
    told = ways.refused("without_tls")
    assert "fieldveil: the server: it offers no TLS" in told
    assert "take ssl_request out of the cluster's tls" in told
    ways.logged("the server: it offers no TLS")


@pytest.mark.parametrize("way", RUDE)
def test_server_that_answers_otherwise_gets_nothing_of_the_client(ways: ToServers, way: str) -> None:
    assert "fieldveil: the server: it" in ways.refused(way)
    server = ways.rude[way]
    until(lambda: server.got != [], "the connection's end")
    assert set(server.got) == {SSL_REQUEST}


def test_way_without_a_filter_to_ask_for_tls_is_refused_at_the_start() -> None:
    """It would be in plain text."""

    def unfiltered(stack: Stack) -> dict[str, Way]:
        direct = stack.server_upstream()
        return {"unfiltered": Way(replace(direct, tls=replace(direct.tls, ssl_request=True)), filter=False)}

    with pytest.raises(PartFailed, match="the filter's configuration is not usable"):
        Stack(Options(tls=True, ways=unfiltered)).start()


def test_server_that_says_yes_and_nothing_more_is_given_up_in_time(ways: ToServers) -> None:
    begun = time.monotonic()
    assert "fieldveil: the server: TLS did not begin in time" in ways.refused("silent")
    assert time.monotonic() - begun > 8
    until(lambda: ways.silent.got != [], "the connection's end")
    (got,) = ways.silent.got
    assert got.startswith(SSL_REQUEST + b"\x16")
    assert b"app" not in got
