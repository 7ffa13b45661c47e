"""Servers of MySQL's protocol that take TLS alone, asked for it by the native filter, and begun by Envoy."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pymysql
import pytest

from harness.certificates import SERVER_NAME
from harness.envoy import LOOPBACK, SHELL, Upstream, UpstreamTls
from harness.mysql_builds import MYSQL, NEWER, OLDER, Build
from harness.mysql_stack import MySqlOptions, MySqlStack
from harness.relay import TcpRelay
from harness.waiting import until
from tests.mysql.asking import ask
from tests.mysql.test_bridge import ACCESS_DENIED, BAD_HANDSHAKE, LONG, values_are_sealed_and_nothing_is_plain

pytestmark = pytest.mark.skipif(SHELL != "native", reason="it is of the native shell alone")


class ToServer:
    """A server whose user `app` must come by TLS and with a certificate, behind a relay that records."""

    def __init__(self, build: Build) -> None:
        settings = {"require-secure-transport": "ON"}
        self.stack = MySqlStack(MySqlOptions(build=build, tls=True, upstream=self._upstream, settings=settings))

    def start(self) -> "ToServer":
        self.relay.start()
        try:
            self.stack.start()
            self.stack.stored("ALTER USER app@'%%' REQUIRE X509")
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        self.relay.stop()
        self.stack.stop()

    def _upstream(self, stack: MySqlStack) -> Upstream:
        self.relay = TcpRelay(stack.server.port)
        known = stack.certificates
        trust = UpstreamTls(known.ca, SERVER_NAME, known.client, known.client_key, ssl_request=True)
        return Upstream(address=LOOPBACK, port=self.relay.port, tls=trust)


@pytest.fixture(scope="module", params=(OLDER, NEWER, MYSQL), ids=lambda build: build.name)
def native(request: pytest.FixtureRequest) -> Iterator[ToServer]:
    build: Build = request.param
    if not build.is_there:
        pytest.skip(f"no {build.name} for this machine: see dev/setup/servers.py")
    running = ToServer(build).start()
    yield running
    running.stop()


def test_values_are_sealed_and_nothing_is_plain_on_the_way_to_the_server(native: ToServer) -> None:
    values_are_sealed_and_nothing_is_plain(native.stack, native.relay)


def test_long_values_pass_whole_both_ways(native: ToServer) -> None:
    with native.stack.connect("app") as app:
        assert ask(app, "SELECT %s", [LONG]) == [(LONG,)]


def test_wrong_password_is_the_servers_refusal(native: ToServer) -> None:
    with pytest.raises(pymysql.OperationalError) as refused:
        native.stack.connect("app", password="wrong")
    assert refused.value.args[0] == ACCESS_DENIED


def test_every_one_of_many_logins_at_once_begins_tls(native: ToServer) -> None:
    """The request leaves Envoy in plain text before TLS begins, however busy the worker is."""

    def version(_: int) -> object:
        with native.stack.connect("app") as app:
            return ask(app, "SHOW STATUS LIKE 'Ssl_version'")[0][1]

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(version, range(300))) == {"TLSv1.3"}


def test_server_without_tls_is_refused_with_a_reason() -> None:
    def upstream(stack: MySqlStack) -> Upstream:
        known = stack.certificates
        return Upstream(stack.server.socket, tls=UpstreamTls(known.ca, SERVER_NAME, ssl_request=True))

    with MySqlStack(MySqlOptions(upstream=upstream, settings={"skip-ssl": ""})) as stack:
        with pytest.raises(pymysql.OperationalError) as refused:
            stack.connect("app")
        assert refused.value.args[0] == BAD_HANDSHAKE
        assert "fieldveil: the server: it offers no TLS" in refused.value.args[1]


def test_server_that_does_not_verify_gets_nothing_of_the_client() -> None:
    def upstream(stack: MySqlStack) -> Upstream:
        known = stack.certificates
        trust = UpstreamTls(known.unknown_ca, SERVER_NAME, ssl_request=True)
        return replace(Upstream(address=LOOPBACK, port=stack.server.port), tls=trust)

    with MySqlStack(MySqlOptions(tls=True, upstream=upstream)) as stack:
        with pytest.raises(pymysql.OperationalError):
            stack.connect("app")
        log = stack.envoy.process.log
        until(lambda: "the connection ended where TLS had to begin" in log.read_text(), f"the reason in {log.name}")
