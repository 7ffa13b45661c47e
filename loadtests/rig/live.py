"""One target, running: how to connect to it, and whose CPU to read."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg

from harness import shop
from loadtests.rig.targets import Target

CONNECT_TIMEOUT = 15
# What a program that is started with `Live.argument` takes the password from.
ENVIRONMENT = {"PGPASSWORD": shop.PASSWORD}


@dataclass(frozen=True)
class Live:
    target: Target
    database: str
    # A Unix socket where libpq looks for one: the folder, and the number in its name.
    socket_dir: Path
    number: int
    # By the names of `loadtests.results.PROCESSES`, as the k6 extension takes them: "pid:1", "tree:2", "self".
    processes: Callable[[], dict[str, list[str]]]

    @property
    def name(self) -> str:
        return self.target.name

    @property
    def sealed(self) -> bool:
        return self.target.sealed

    def dsn(self, user: str = "app", **options: object) -> str:
        """A libpq connection string."""
        return self.argument(user, password=shop.PASSWORD, **options)

    def argument(self, user: str = "app", **options: object) -> str:
        """The same without the password, for a program's arguments, which everybody on the machine reads."""
        return psycopg.conninfo.make_conninfo(
            host=str(self.socket_dir), port=self.number, user=user, dbname=self.database,
            connect_timeout=CONNECT_TIMEOUT, **options,
        )  # fmt: skip

    def at(self, socket_dir: Path) -> "Live":
        """The same by another proxy of its kind."""
        return replace(self, socket_dir=socket_dir)

    def connect(self, user: str = "app", **options: object) -> psycopg.Connection:
        return psycopg.connect(self.dsn(user), **{"autocommit": True, **options})
