"""Servers of MySQL's protocol that take TLS alone, reached by `fieldveil bridge`, which asks for it at the login."""

from collections.abc import Iterator

import pymysql
import pytest

from harness import shop as example
from harness.bridge import Bridge, Bridged
from harness.envoy import Upstream
from harness.mysql_builds import MYSQL, NEWER, OLDER, Build
from harness.mysql_stack import MySqlOptions, MySqlStack
from harness.relay import TcpRelay
from tests.mysql.asking import ask, change
from tests.mysql.test_connecting import connector
from tests.rows import ADA, INSERT

# What the bridge answers with where it can't begin TLS.
BAD_HANDSHAKE = 1043
ACCESS_DENIED = 1045
# More than Envoy, the bridge and the kernel hold at once.
LONG = "0123456789" * 400_000


class ToServer(Bridged):
    """A server whose user `app` must come by TLS, behind a relay that records, and a bridge to it."""

    def __init__(self, build: Build) -> None:
        self.relay: TcpRelay | None = None
        self.bridge: Bridge | None = None
        settings = {"require-secure-transport": "ON"}
        stack = MySqlStack(MySqlOptions(build=build, tls=True, upstream=self._upstream, settings=settings))
        super().__init__(stack, self.relay, self.bridge)

    def prepare(self) -> None:
        self.stack.stored("ALTER USER app@'%%' REQUIRE SSL")

    def _upstream(self, stack: MySqlStack) -> Upstream:
        self.relay = TcpRelay(stack.server.port)
        known = stack.certificates
        shown = ("--client-certificate", known.client, "--client-key", known.client_key)
        self.bridge = Bridge(stack.work, "my-bridge", "mysql", self.relay.port, known.ca, *shown)
        return self.bridge.upstream


@pytest.fixture(scope="module", params=(OLDER, NEWER, MYSQL), ids=lambda build: build.name)
def bridged(request: pytest.FixtureRequest) -> Iterator[ToServer]:
    build: Build = request.param
    if not build.is_there:
        pytest.skip(f"no {build.name} for this machine: see dev/setup/servers.py")
    running = ToServer(build).start()
    yield running
    running.stop()


def values_are_sealed_and_nothing_is_plain(stack: MySqlStack, relay: TcpRelay, *, tcp: bool = False) -> None:
    """At the server, and on the way to it."""
    relay.forget()
    stack.stored("TRUNCATE customer")
    with stack.connect("app", tcp=tcp) as app:
        assert ask(app, "SHOW STATUS LIKE 'Ssl_version'") == [("Ssl_version", "TLSv1.3")]
        change(app, INSERT, ADA)
        assert ask(app, "SELECT name, ssn FROM customer") == [(ADA[1], ADA[3])]
    assert stack.stored("SELECT LEFT(ssn, 4) FROM customer") == [("fv1.",)]
    (recording,) = relay.recordings
    for seen in (bytes(recording.to_server), bytes(recording.to_client)):
        # Name and user are not protected: within TLS they are in clear, and outside of it nowhere.
        assert not [value for value in (ADA[1], ADA[3], "customer", "app\0", "fv1.") if value.encode() in seen]


@pytest.mark.parametrize("tcp", [False, True], ids=["unix", "tcp"])
def test_values_are_sealed_and_nothing_is_plain_on_the_way_to_the_server(bridged: ToServer, tcp: bool) -> None:
    values_are_sealed_and_nothing_is_plain(bridged.stack, bridged.relay, tcp=tcp)


def test_long_values_pass_whole_both_ways(bridged: ToServer) -> None:
    with bridged.stack.connect("app") as app:
        assert ask(app, "SELECT %s", [LONG]) == [(LONG,)]


def test_change_of_the_user_passes(bridged: ToServer) -> None:
    with connector(bridged.stack) as app:
        app.cmd_change_user("billing", example.PASSWORD, example.DATABASE)
        with app.cursor() as cursor:
            cursor.execute("SELECT CURRENT_USER()")
            assert cursor.fetchall() == [("billing@%",)]


@pytest.mark.parametrize("tcp", [False, True], ids=["unix", "tcp"])
def test_wrong_password_is_the_servers_refusal(bridged: ToServer, tcp: bool) -> None:
    with pytest.raises(pymysql.OperationalError) as refused:
        bridged.stack.connect("app", tcp=tcp, password="wrong")
    assert refused.value.args[0] == ACCESS_DENIED


@pytest.mark.parametrize("tcp", [False, True], ids=["unix", "tcp"])
def test_login_works_with_a_cold_cache_and_with_a_warm_one(bridged: ToServer, tcp: bool) -> None:
    """MySQL's caching_sha2_password: cold, the server wants the password itself, and within TLS as it is."""
    stack = bridged.stack
    stack.server.stop()
    stack.server.start()
    bridged.relay.forget()
    for _ in range(2):
        with stack.connect("app", tcp=tcp) as app:
            assert ask(app, "SELECT CURRENT_USER(), DATABASE()") == [("app@%", example.DATABASE)]
    assert example.PASSWORD.encode() not in bridged.relay.to_server()


def test_certificate_that_the_server_demands_of_a_user_is_shown(bridged: ToServer) -> None:
    def demand(what: str) -> None:
        bridged.stack.stored(f"ALTER USER support@'%%' REQUIRE {what}")

    demand("X509")
    with bridged.stack.connect("support") as support:
        assert ask(support, "SELECT 42") == [(42,)]
    demand("SUBJECT '/CN=somebody else'")
    with pytest.raises(pymysql.OperationalError) as refused:
        bridged.stack.connect("support")
    assert refused.value.args[0] == ACCESS_DENIED
    demand("NONE")


def test_server_that_is_not_there_is_told_through_the_sidecar(bridged: ToServer) -> None:
    bridged.relay.stop()
    try:
        with pytest.raises(pymysql.OperationalError) as refused:
            bridged.stack.connect("app")
    finally:
        bridged.relay.start()
    number, message = refused.value.args
    assert number == BAD_HANDSHAKE
    assert "fieldveil bridge: " in message
    assert "no connection" in message
