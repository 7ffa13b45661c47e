"""One target, running: how to connect to it, and whose CPU to read."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import psycopg

from harness import shop
from loadtests.failures import Failed
from loadtests.rig.targets import Target

CONNECT_TIMEOUT = 60
# What a program that is started with `Live.argument` takes the password from.
ENVIRONMENT = {"PGPASSWORD": shop.PASSWORD}


class WrongRows(Failed):
    """A table does not hold what was written."""


class LiveDatabase(ABC):
    """A way to one of the two databases, of whichever server."""

    target: Target
    database: str
    # What the driver's errors are.
    ERROR: ClassVar[type[Exception]]

    @property
    def name(self) -> str:
        return self.target.name

    @property
    def sealed(self) -> bool:
        return self.target.sealed

    @abstractmethod
    def connect(self, user: str = "app"):
        """By a driver of DB-API 2.0."""

    @abstractmethod
    def code(self, error: Exception) -> str:
        """Which error it is, without its text: values may stand in that."""

    def rows(self, table: str, query: str) -> list[tuple]:
        """What a table gives through this target."""
        with self.connect() as connection, connection.cursor() as cursor:
            try:
                cursor.execute(query)
                return list(cursor.fetchall())
            except self.ERROR as error:
                raise WrongRows(f"{table} through {self.name} can't be read: {self.code(error)}") from error


class PostgresLive(LiveDatabase):
    ERROR = psycopg.Error

    def code(self, error: Exception) -> str:
        return f"SQLSTATE {error.sqlstate}"


@dataclass(frozen=True)
class Live(PostgresLive):
    target: Target
    database: str
    # A Unix socket where libpq looks for one: the folder, and the number in its name; by TCP the address and the port.
    socket_dir: Path
    number: int
    # By the names of `loadtests.results.PROCESSES`, as the k6 extension takes them: "pid:1", "tree:2", "self".
    processes: Callable[[], dict[str, list[str]]]
    # Of libpq, in every connection.
    options: dict[str, object] = field(default_factory=lambda: {"sslmode": "disable"})

    def dsn(self, user: str = "app", **options: object) -> str:
        """A libpq connection string."""
        return self.argument(user, password=shop.PASSWORD, **options)

    def argument(self, user: str = "app", **options: object) -> str:
        """The same without the password, for a program's arguments, which everybody on the machine reads."""
        told = {
            "host": str(self.socket_dir), "port": self.number, "user": user, "dbname": self.database,
            "connect_timeout": CONNECT_TIMEOUT,
        }  # fmt: skip
        return psycopg.conninfo.make_conninfo(**{**told, **self.options, **options})

    def at(self, socket_dir: Path) -> "Live":
        """The same by another proxy of its kind."""
        return replace(self, socket_dir=socket_dir)

    def connect(self, user: str = "app", **options: object) -> psycopg.Connection:
        return psycopg.connect(self.dsn(user), **{"autocommit": True, **options})
