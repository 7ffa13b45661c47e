"""One Envoy with the native shell, and many ways through it: what the tests of its TLS have in common."""

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Self

import psycopg
import pytest

from harness import Options, Stack
from harness import shop as example
from harness.envoy import LOOPBACK
from harness.stack import CONNECT_SECONDS, Way
from harness.waiting import until
from tests import wire


class NativeTls:
    """A server that takes TCP with TLS alone, and ways to it."""

    def __init__(self, ways: Callable[[Stack], dict[str, Way]], policies: tuple[Path, ...] = ()) -> None:
        audited = {"audit": {"interval_seconds": 1}}
        self.stack = Stack(Options(tls=True, ways=ways, policies=policies, filter_config=audited))
        self.stack.certificates.client_key.chmod(0o600)  # or libpq does not take it

    def start(self) -> Self:
        self.stack.start()
        return self

    def stop(self) -> None:
        self.stack.stop()

    def connect(self, user: str, way: str, *, tcp: bool = False) -> psycopg.Connection:
        """By a way whose clients come without TLS."""
        return psycopg.connect(self.stack.dsn(user, listener=way, tcp=tcp), autocommit=True)

    def refused(self, way: str, user: str = "app") -> str:
        with pytest.raises(psycopg.OperationalError) as refusal:
            self.connect(user, way).close()
        return str(refusal.value)

    def connect_tls(self, user: str, way: str, **options: object) -> psycopg.Connection:
        """By a way whose clients come within TLS."""
        told = {
            "host": "localhost", "hostaddr": LOOPBACK, "port": self.stack.envoy.port(way), "user": user,
            "dbname": example.DATABASE, "password": example.PASSWORD, "connect_timeout": CONNECT_SECONDS,
            "sslmode": "verify-full", "sslrootcert": self.stack.certificates.ca, "sslcertmode": "disable",
            "channel_binding": "disable",
        }  # fmt: skip
        return psycopg.connect(psycopg.conninfo.make_conninfo(**{**told, **options}), autocommit=True)

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
