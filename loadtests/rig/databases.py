"""The two databases that are compared, plain and sealed, and what suites do with them."""

from abc import ABC, abstractmethod
from collections.abc import Iterable

import psycopg
from psycopg import sql

from harness import shop
from loadtests.failures import Failed
from loadtests.rig.live import Live

PLAIN = "plain"
SEALED = "sealed"


class NotSealed(Failed):
    """A value stands in the database in clear, or is missing."""


class WrongRows(Failed):
    """A table does not hold what was written."""


class Databases(ABC):
    # Every way to them, by the target's name.
    live: dict[str, Live]

    @abstractmethod
    def direct(self, database: str) -> psycopg.Connection:
        """The superuser, straight to the server: what is really stored."""

    def tables(self, plain: str, sealed: str = "") -> None:
        """Creates tables by DDL in both databases, for every role. `sealed` where the stored types differ."""
        for database, ddl in ((PLAIN, plain), (SEALED, sealed or plain)):
            with self.direct(database) as connection:
                connection.execute(ddl)
                for role in shop.ROLES:
                    everything = "GRANT ALL ON ALL TABLES IN SCHEMA public TO {}"
                    connection.execute(sql.SQL(everything).format(sql.Identifier(role)))

    def fill(self, table: str, columns: tuple[str, ...], rows: Iterable[tuple]) -> None:
        """The same rows in both databases: straight into the plain one, through the filter into the sealed one."""
        command = sql.SQL("COPY {} ({}) FROM STDIN").format(
            sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns))
        )
        given = list(rows)
        for target in ("direct", "fieldveil"):
            with self.live[target].connect() as connection, connection.cursor().copy(command) as copy:
                for row in given:
                    copy.write_row(row)
        self.settle(table)

    def assert_sealed(self, table: str, *columns: str) -> None:
        """Straight at the server: every value of these text or bytea columns is an envelope, and none is null."""
        with self.direct(SEALED) as connection:
            for column in columns:
                query = sql.SQL(
                    # What is missing is not sealed: it was written.
                    "SELECT count(*), count(*) FILTER ("
                    "WHERE {column} IS NULL OR left({column}::text, 4) NOT IN ('fv1.', '\\xf7'))"
                    " FROM {table}"
                )
                names = {"table": sql.Identifier(table), "column": sql.Identifier(column)}
                rows, clear = connection.execute(query.format(**names)).fetchone()
                if not rows or clear:
                    raise NotSealed(
                        f"{table}.{column}: {clear} of {rows} values in the sealed database are in clear or null"
                    )

    def settle(self, *tables: str) -> None:
        """After many writes: statistics are fresh and the log is flushed, in both databases."""
        for database in (PLAIN, SEALED):
            with self.direct(database) as connection:
                for table in tables:
                    connection.execute(sql.SQL("VACUUM ANALYZE {}").format(sql.Identifier(table)))
        with self.direct(PLAIN) as connection:
            connection.execute("CHECKPOINT")
