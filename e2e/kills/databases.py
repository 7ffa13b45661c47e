"""How the clients and the check reach each server: through the sidecar, and straight."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path

import psycopg
import pymysql

from harness import Options, Stack
from harness.envoy import Envoy
from harness.mysql_stack import MySqlOptions, MySqlStack
from harness.mysqld import MySqld
from harness.postgres import Postgres
from harness.sidecar import Sidecar

# More than one worker, as most have.
CONCURRENCY = 2


class Database(ABC):
    """A stack, and what differs between the drivers."""

    # What a driver raises when its connection is lost, or refused while Envoy is away.
    lost: tuple[type[Exception], ...]
    # What it raises when a statement is refused or fails.
    refused: tuple[type[Exception], ...]
    # Of pg_stat_activity or the like, by a session's number.
    sessions: str
    can_copy = False
    stack: Sidecar
    envoy: Envoy

    @abstractmethod
    def connect(self): ...

    @abstractmethod
    def direct(self): ...

    @abstractmethod
    def session_number(self, connection) -> int:
        """The server's own number of a session that came through the sidecar."""

    @abstractmethod
    def is_lost(self, connection, error: Exception) -> bool:
        """Returns true when the connection has ended, and false when the statement was refused."""

    @property
    @abstractmethod
    def server(self) -> Postgres | MySqld: ...

    @abstractmethod
    def files(self) -> list[Path]:
        """What the server has stored, and its log of all statements that reached it; the server has stopped."""


class OnPostgres(Database):
    lost = (psycopg.OperationalError, psycopg.InterfaceError)
    refused = (psycopg.DatabaseError,)
    sessions = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s"
    can_copy = True

    def __init__(self) -> None:
        self.stack = Stack(Options(concurrency=CONCURRENCY))
        self.envoy = self.stack.envoy

    def connect(self) -> psycopg.Connection:
        return self.stack.connect("app")

    def direct(self) -> psycopg.Connection:
        return self.stack.direct()

    def session_number(self, connection: psycopg.Connection) -> int:
        return connection.info.backend_pid

    def is_lost(self, connection: psycopg.Connection, error: Exception) -> bool:
        return connection.closed

    @property
    def server(self) -> Postgres:
        return self.stack.postgres

    def files(self) -> list[Path]:
        return [path for path in self.server.data.rglob("*") if path.is_file()]


class OnMariaDb(Database):
    lost = (pymysql.err.OperationalError, pymysql.err.InterfaceError)
    refused = (pymysql.err.DatabaseError,)
    sessions = "SELECT count(*) FROM information_schema.processlist WHERE id = %s"

    def __init__(self) -> None:
        self.stack = MySqlStack(MySqlOptions(concurrency=CONCURRENCY))
        self.envoy = self.stack.envoy

    def connect(self) -> pymysql.Connection:
        return self.stack.connect("app")

    def direct(self) -> pymysql.Connection:
        return self.stack.direct()

    def session_number(self, connection: pymysql.Connection) -> int:
        return connection.thread_id()

    def is_lost(self, connection: pymysql.Connection, error: Exception) -> bool:
        return not connection.open

    @property
    def server(self) -> MySqld:
        return self.stack.server

    def files(self) -> list[Path]:
        return [path for path in self.server.home.rglob("*") if path.is_file() and path.suffix != ".sock"]


DATABASES: dict[str, Callable[[], Database]] = {"postgres": OnPostgres, "mariadb": OnMariaDb}
