"""Targets that others started, by address: what suites fill their tables through."""

from dataclasses import dataclass
from typing import NoReturn

import psycopg
from psycopg import sql

from harness import shop
from harness.workdir import WorkDir
from loadtests import values
from loadtests.kubernetes.places import Place, Places
from loadtests.rig import PLAIN, SEALED, TARGETS, Target, interrupt
from loadtests.rig.databases import PostgresDatabases
from loadtests.rig.live import CONNECT_TIMEOUT, PostgresLive

# What a rig has beside, whose programs and files a script of k6 shares.
ONE_MACHINE = ("agent", "catalog", "mysql", "opa", "postgres", "service")


class NotReady(Exception):
    """The databases, or the suite, are not as a run here needs them; the text says what is missing and what to do."""


@dataclass(frozen=True)
class RemoteLive(PostgresLive):
    """A target in a cluster; `loadtests.rig.Live` of one that is not ours."""

    target: Target
    place: Place

    @property
    def database(self) -> str:
        return SEALED if self.sealed else PLAIN

    def dsn(self, user: str = "app", **options: object) -> str:
        """For the runners. What the address says goes before `options`."""
        return self._dsn(self.place.address, user, options)

    def connect(self, user: str = "app", **options: object) -> psycopg.Connection:
        place = self.place.reached_by or self.place.address
        return psycopg.connect(self._dsn(place, user, {}), **{"autocommit": True, **options})

    def processes(self) -> dict[str, list[str]]:
        """What a runner reads. The containers are read by meters."""
        return {"client": ["self"]}

    def _dsn(self, address: str, user: str, options: dict) -> str:
        said = psycopg.conninfo.conninfo_to_dict(address)
        ours = {"user": user, "dbname": self.database, "connect_timeout": CONNECT_TIMEOUT}
        return psycopg.conninfo.make_conninfo("", **{**options, **said, **ours})


class Remote(PostgresDatabases):
    """Stands where `loadtests.rig.Rig` does. Starts nothing, and stops nothing."""

    def __init__(self, places: Places, *, drop: bool) -> None:
        self._places = places
        self._drop = drop
        self.work = WorkDir()
        self.live = {
            name: RemoteLive(target, places.targets[name]) for name, target in TARGETS.items() if name in places.targets
        }

    def __getattr__(self, name: str) -> NoReturn:
        if name in ONE_MACHINE:
            raise NotReady(f"the suite uses the rig's {name}, which is on one machine: run it by make loadtest")
        raise AttributeError(name)

    def __enter__(self) -> "Remote":
        interrupt.on_termination()
        try:
            self._prepare()
        except BaseException:
            self.work.remove()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.work.remove()

    def direct(self, database: str) -> psycopg.Connection:
        return psycopg.connect(
            self._places.server.address, dbname=database, connect_timeout=CONNECT_TIMEOUT, autocommit=True
        )

    def _prepare(self) -> None:
        """Both databases without tables, with the functions that make values."""
        for database in (PLAIN, SEALED):
            with self.direct(database) as connection:
                self._check_roles(connection)
                self._empty(connection, database)
                connection.execute(values.SQL)

    def _check_roles(self, connection: psycopg.Connection) -> None:
        known = {name for (name,) in connection.execute("SELECT rolname FROM pg_roles")}
        if missing := [role for role in shop.ROLES if role not in known]:
            raise NotReady(
                f"the server has no role {', '.join(missing)}: create them, see loadtests/kubernetes/README.md"
            )

    def _empty(self, connection: psycopg.Connection, database: str) -> None:
        if self._drop:
            connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
            for role in shop.ROLES:
                connection.execute(sql.SQL("GRANT USAGE ON SCHEMA public TO {}").format(sql.Identifier(role)))
        held = "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace"
        (count,) = connection.execute(held).fetchone()
        (functions,) = connection.execute(held.replace("pg_class", "pg_proc").replace("rel", "pro")).fetchone()
        if count or functions:
            raise NotReady(f"schema public of database {database} is not empty: --drop drops all that is in it")
