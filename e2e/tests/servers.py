"""Two servers behind one Envoy, and right and wrong ways to them."""

import socket
from dataclasses import replace

import psycopg
import pytest

from harness import Options, Stack
from harness import shop as example
from harness.envoy import LOOPBACK, Upstream
from harness.postgres import Postgres
from harness.renewal import Renewal
from harness.stack import SEALED, Way
from harness.waiting import until, until_done
from tests import wire

# Far below libpq's own patience in the connection strings: whoever runs into that, hung.
TIMED_OUT = "timeout expired"


class Servers:
    """A server that takes TCP with TLS alone, one without TLS on a Unix socket, and ways to them."""

    def __init__(self) -> None:
        self.second: Postgres | None = None
        self.renewal: Renewal | None = None
        preloaded = {"shared_preload_libraries": "pg_stat_statements"}
        self.stack = Stack(Options(tls=True, ways=self._ways, postgres_settings=preloaded))

    def start(self) -> "Servers":
        try:
            self.second.start()
            example.create_databases(self.second)
            self.stack.start()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        self.second.stop()
        self.stack.stop()

    def connect(self, user: str, way: str = SEALED, *, tcp: bool = False, **options: object) -> psycopg.Connection:
        dsn = self.stack.dsn(user, listener=way, tcp=tcp)
        return psycopg.connect(psycopg.conninfo.make_conninfo(dsn, **options), autocommit=True)

    def direct(self, way: str) -> psycopg.Connection:
        """As superuser, straight to the database that the way leads to."""
        return self.second.connect(example.DATABASE) if way == "second" else self.stack.direct()

    def refused(self, user: str, way: str = SEALED, **options: object) -> str:
        """What a client is told that can't come in; at once, not after its own patience."""
        with pytest.raises(psycopg.OperationalError) as refusal:
            self.connect(user, way, **options).close()
        assert TIMED_OUT not in str(refusal.value)
        return str(refusal.value)

    def connect_soon(self, user: str, way: str) -> psycopg.Connection:
        """Once Envoy has seen what was renewed."""
        return until_done(lambda: self.connect(user, way), psycopg.OperationalError)

    def open(self, way: str, *, tcp: bool = False) -> socket.socket:
        if not tcp:
            return wire.open_socket(self.stack.envoy.socket(way))
        connection = socket.create_connection((LOOPBACK, self.stack.envoy.port(way)), wire.timeout())
        return connection

    def logged(self, text: str) -> None:
        """Envoy says so in its log, soon."""
        log = self.stack.envoy.process.log
        until(lambda: text in log.read_text(errors="replace"), f"{text!r} in {log.name}")

    def _ways(self, stack: Stack) -> dict[str, Way]:
        self.second = Postgres(stack.work, name="second")
        verified = stack.server_upstream()
        known, stranger = stack.certificates, stack.certificates.unknown_ca
        shown = replace(verified.tls, certificate=known.client, key=known.client_key)
        self.renewal = Renewal(stack.work.path / "renewal", "renewed", verified.tls.server_name)
        self.renewal.publish(ca=stranger, certificate=known.client, key=known.client_key)
        renewed = replace(shown, secrets=self.renewal.secrets)
        return {
            "unfiltered": Way(verified, filter=False),
            "by_name": Way(replace(verified, address="localhost")),
            "wrong_authority": Way(replace(verified, tls=replace(verified.tls, ca=stranger))),
            "wrong_name": Way(replace(verified, tls=replace(verified.tls, server_name="other.shop.test"))),
            "with_certificate": Way(replace(verified, tls=shown)),
            "renewed": Way(replace(verified, tls=renewed)),
            "unencrypted": Way(replace(verified, tls=None)),
            "second": Way(Upstream(self.second.socket)),
        }
