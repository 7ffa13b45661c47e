"""Clients that read a hundred rows over and over in one session each, the way that drivers and pgbench do."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from weakref import WeakSet

import psycopg

ROWS = 100
COLUMNS = ("email", "ssn", "phone", "card", "notes")
SELECT = f"SELECT id, {', '.join(COLUMNS)} FROM customer"
RANGE = f"{SELECT} WHERE id BETWEEN %s AND %s ORDER BY id"
IN_A_PIPELINE = 5
AT_ONCE = 10


def value(column: str, row: int) -> str:
    return f"{column}-{row:04}-of-the-customer"


def shown(column: str, row: int, treatment: str) -> str:
    """What support reads."""
    whole = value(column, row)
    return whole if treatment == "revealed" else masked(whole)


def masked(whole: str) -> str:
    """As `last4` has it: letters and digits but the last four are starred."""
    characters = [place for place, character in enumerate(whole) if character.isalnum()]
    hidden = set(characters[:-4])
    return "".join("*" if place in hidden else character for place, character in enumerate(whole))


def fill(app: psycopg.Connection) -> None:
    places = ", ".join(["%s"] * (1 + len(COLUMNS)))
    insert = f"INSERT INTO customer (id, {', '.join(COLUMNS)}) VALUES ({places})"
    for row in range(ROWS):
        app.execute(insert, [row, *(value(column, row) for column in COLUMNS)])


# Those on which the statement of `prepared_in_sql` is.
_has_prepared: WeakSet[psycopg.Connection] = WeakSet()

Rows = list[tuple]
Read = Callable[[psycopg.Connection], Iterator[tuple[Rows, range]]]


def simple(connection: psycopg.Connection) -> Iterator[tuple[Rows, range]]:
    """As a text with its literals in it, by the simple protocol."""
    cursor = psycopg.ClientCursor(connection)
    yield cursor.execute(RANGE, [0, ROWS - 1]).fetchall(), range(ROWS)


def unnamed(connection: psycopg.Connection) -> Iterator[tuple[Rows, range]]:
    """Parsed anew each time."""
    yield connection.execute(RANGE, [0, ROWS - 1], prepare=False).fetchall(), range(ROWS)


def prepared(connection: psycopg.Connection) -> Iterator[tuple[Rows, range]]:
    """Prepared once, in the first turn."""
    yield connection.execute(RANGE, [0, ROWS - 1], prepare=True).fetchall(), range(ROWS)


def binary(connection: psycopg.Connection) -> Iterator[tuple[Rows, range]]:
    cursor = connection.cursor(binary=True)
    yield cursor.execute(RANGE, [0, ROWS - 1], prepare=True).fetchall(), range(ROWS)


def pipelined(connection: psycopg.Connection) -> Iterator[tuple[Rows, range]]:
    """Several before the first answer."""
    with connection.pipeline():
        cursors = [connection.execute(RANGE, [0, ROWS - 1], prepare=True) for _ in range(IN_A_PIPELINE)]
        for cursor in cursors:
            yield cursor.fetchall(), range(ROWS)


def in_a_transaction(connection: psycopg.Connection) -> Iterator[tuple[Rows, range]]:
    """In a block, which the change of the policy does not end."""
    with connection.transaction():
        for _ in range(2):
            yield connection.execute(RANGE, [0, ROWS - 1], prepare=True).fetchall(), range(ROWS)


def by_cursor(connection: psycopg.Connection) -> Iterator[tuple[Rows, range]]:
    """A piece at a time: each is an answer of its own."""
    with connection.transaction(), connection.cursor(name="pieces") as cursor:
        cursor.execute(RANGE, [0, ROWS - 1])
        for first in range(0, ROWS, AT_ONCE):
            yield cursor.fetchmany(AT_ONCE), range(first, first + AT_ONCE)


def prepared_in_sql(connection: psycopg.Connection) -> Iterator[tuple[Rows, range]]:
    """By PREPARE, in the first turn."""
    if connection not in _has_prepared:
        connection.execute(f"PREPARE hundred AS {SELECT} ORDER BY id")
        _has_prepared.add(connection)
    yield connection.execute("EXECUTE hundred").fetchall(), range(ROWS)


def searching(connection: psycopg.Connection) -> Iterator[tuple[Rows, range]]:
    """One row each, found by a sealed value."""
    for row in (0, ROWS - 1):
        yield connection.execute(f"{SELECT} WHERE ssn = %s", [value("ssn", row)], prepare=True).fetchall(), [row]


READERS: dict[str, Read] = {
    read.__name__: read
    for read in (
        simple, unnamed, prepared, binary, pipelined, in_a_transaction, by_cursor, prepared_in_sql, searching,
    )
}  # fmt: skip


class Reader:
    """One session, and what it saw: the treatments in their order, each as often as it came."""

    def __init__(self, name: str, read: Callable, connect: Callable[[], AbstractContextManager]) -> None:
        self.name = name
        self._read = read
        self._connect = connect
        self._seen: list[str] = []
        self._failed: BaseException | None = None

    def run(self, stop: threading.Event) -> None:
        try:
            with self._connect() as connection:
                while not stop.is_set():
                    for rows, ids in self._read(connection):
                        self._seen.append(treatment(rows, ids))
        except BaseException as failure:  # handed to the test
            self._failed = failure

    def check(self) -> str | None:
        """What it saw last. Raises what went wrong in its thread."""
        if self._failed is not None:
            raise AssertionError(f"{self.name}: {self._failed!r}") from self._failed
        return self._seen[-1] if self._seen else None

    def turns(self) -> list[str]:
        """What it saw, once for each change."""
        return [now for before, now in zip([None, *self._seen], self._seen, strict=False) if now != before]


def treatment(rows: Rows, ids: range | list[int]) -> str:
    """That of all rows of an answer. One that is mixed, or not complete, has none."""
    for name in ("revealed", "masked"):
        if rows == [(row, *(shown(column, row, name) for column in COLUMNS)) for row in ids]:
            return name
    raise AssertionError(f"neither revealed nor masked: {rows[:3]} … {rows[-3:]}")
