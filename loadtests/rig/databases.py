"""The two databases that are compared, plain and sealed, and what suites do with them."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar

import psycopg
from psycopg import sql

from harness import shop
from loadtests.failures import Failed
from loadtests.rig.live import LiveDatabase

PLAIN = "plain"
SEALED = "sealed"


class NotSealed(Failed):
    """A value stands in the database in clear, or is missing."""


class Databases(ABC):
    """Of one server, whichever it is."""

    # What a column of short text is declared as.
    TEXT: ClassVar[str]
    # Every way to them, by the target's name.
    live: dict[str, LiveDatabase]

    @abstractmethod
    def direct(self, database: str):
        """The superuser, straight to the server: what is really stored."""

    @abstractmethod
    def version(self) -> str:
        """The server's."""

    @abstractmethod
    def tables(self, plain: str, sealed: str = "") -> None:
        """Creates tables by DDL in both databases, for every role. `sealed` where the stored types differ."""

    @abstractmethod
    def settle(self, *tables: str) -> None:
        """After many writes: statistics are fresh and the log is flushed, in both databases."""

    @abstractmethod
    def keep(self, table: str) -> None:
        """A copy of its rows as they are now, in both databases."""

    @abstractmethod
    def put_back(self, database: str, table: str) -> None:
        """The rows that were kept, in place of all others."""

    @abstractmethod
    def _write(self, target: LiveDatabase, table: str, columns: tuple[str, ...], rows: list[tuple]) -> None: ...

    @abstractmethod
    def _unsealed(self, table: str, column: str) -> tuple[int, int]:
        """How many rows the sealed database has, and how many of them hold no envelope there."""

    def run(self, database: str, *statements: str) -> None:
        """Straight at the server."""
        with self.direct(database) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def rows(self, database: str, query: str) -> list[tuple]:
        """What stands there, straight from the server."""
        with self.direct(database) as connection, connection.cursor() as cursor:
            cursor.execute(query)
            return list(cursor.fetchall())

    def fill(self, table: str, columns: tuple[str, ...], rows: Iterable[tuple]) -> None:
        """The same rows in both databases: straight into the plain one, through the filter into the sealed one."""
        given = list(rows)
        for target in ("direct", "fieldveil"):
            self._write(self.live[target], table, columns, given)
        self.settle(table)

    def assert_sealed(self, table: str, *columns: str) -> None:
        """Straight at the server: every value of these columns is an envelope, and none is null."""
        for column in columns:
            rows, clear = self._unsealed(table, column)
            if not rows or clear:
                raise NotSealed(
                    f"{table}.{column}: {clear} of {rows} values in the sealed database are in clear or null"
                )


class PostgresDatabases(Databases):
    TEXT = "text"

    @abstractmethod
    def direct(self, database: str) -> psycopg.Connection: ...

    def version(self) -> str:
        return self.rows(PLAIN, "SHOW server_version")[0][0]

    def tables(self, plain: str, sealed: str = "") -> None:
        for database, ddl in ((PLAIN, plain), (SEALED, sealed or plain)):
            with self.direct(database) as connection:
                connection.execute(ddl)
                for role in shop.ROLES:
                    everything = "GRANT ALL ON ALL TABLES IN SCHEMA public TO {}"
                    connection.execute(sql.SQL(everything).format(sql.Identifier(role)))

    def settle(self, *tables: str) -> None:
        for database in (PLAIN, SEALED):
            with self.direct(database) as connection:
                for table in tables:
                    connection.execute(sql.SQL("VACUUM ANALYZE {}").format(sql.Identifier(table)))
        with self.direct(PLAIN) as connection:
            connection.execute("CHECKPOINT")

    def keep(self, table: str) -> None:
        for database in (PLAIN, SEALED):
            copied = f"CREATE UNLOGGED TABLE saved.{table} AS TABLE {table}"
            self.run(database, "CREATE SCHEMA IF NOT EXISTS saved", copied)

    def put_back(self, database: str, table: str) -> None:
        copied = f"INSERT INTO {table} SELECT * FROM saved.{table} ORDER BY id"
        self.run(database, f"TRUNCATE {table}", copied, f"VACUUM ANALYZE {table}")

    def _write(self, target: LiveDatabase, table: str, columns: tuple[str, ...], rows: list[tuple]) -> None:
        command = sql.SQL("COPY {} ({}) FROM STDIN").format(
            sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns))
        )
        with target.connect() as connection, connection.cursor().copy(command) as copy:
            for row in rows:
                copy.write_row(row)

    def _unsealed(self, table: str, column: str) -> tuple[int, int]:
        query = sql.SQL(
            # What is missing is not sealed: it was written.
            "SELECT count(*), count(*) FILTER ("
            "WHERE {column} IS NULL OR left({column}::text, 4) NOT IN ('fv1.', '\\xf7'))"
            " FROM {table}"
        )
        names = {"table": sql.Identifier(table), "column": sql.Identifier(column)}
        with self.direct(SEALED) as connection:
            return connection.execute(query.format(**names)).fetchone()
