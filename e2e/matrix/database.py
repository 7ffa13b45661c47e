"""The table that the clients share: a sealed column of the common types, and the row that all of them write."""

import datetime as dt
import uuid
from decimal import Decimal
from pathlib import Path

from psycopg.types.json import Json

from harness import Stack, policies, shop

DATABASE = "drivers"
# The same table with columns of the declared types, in a database that no catalog speaks of.
PLAIN_DATABASE = "drivers_plain"
TABLE = "person"
USER = "app"

# Declared type, protection. What is stored is text, but for `photo`, which is bytea both ways.
COLUMNS = {
    "ssn": ("text", "deterministic"),
    "ref": ("uuid", "deterministic"),
    "email": ("text", "randomized"),
    "born": ("date", "randomized"),
    "balance": ("numeric(12,2)", "randomized"),
    "visits": ("int4", "randomized"),
    "score": ("float8", "randomized"),
    "active": ("bool", "randomized"),
    "seen": ("timestamptz", "randomized"),
    "made": ("timestamp", "randomized"),
    "extra": ("json", "randomized"),
    "photo": ("bytea", "randomized"),
}

# Milliseconds: the finest that every client's own type has.
ROW = {
    "id": 1,
    "name": "Zoë",
    "ssn": "078-05-1120",
    "ref": uuid.UUID("c56a4180-65aa-42ec-a945-5fd21dec0538"),
    "email": "zoë@example.com",
    "born": dt.date(1980, 5, 17),
    "balance": Decimal("1234.50"),
    "visits": 42,
    "score": 0.1,
    "active": True,
    "seen": dt.datetime(2024, 2, 29, 10, 0, 0, 500_000, tzinfo=dt.UTC),
    "made": dt.datetime(1999, 12, 31, 23, 59, 59, 123_000),
    "extra": {"a": [1, 2.5], "b": "x"},
    "photo": b"\x00\xff\x10",
}


def row(number: int) -> dict:
    """What the clients write as the row with this id, but for row 1."""
    return {**ROW, "id": number, "ssn": f"ssn-{number}", "ref": uuid.UUID(int=number)}


def write_policies(folder: Path) -> Path:
    """Catalog and rules for the table, to load beside the example's."""
    columns = {name: {"protection": how, "keyset": "pii", "type": type_} for name, (type_, how) in COLUMNS.items()}
    return policies.write_for_table(folder, DATABASE, TABLE, columns, USER)


def create(stack: Stack) -> None:
    stored = {name: "bytea" if type_ == "bytea" else "text" for name, (type_, _) in COLUMNS.items()}
    _create(stack, DATABASE, stored)


def create_plain(stack: Stack) -> None:
    _create(stack, PLAIN_DATABASE, {name: type_ for name, (type_, _) in COLUMNS.items()})


def _create(stack: Stack, database: str, types: dict[str, str]) -> None:
    with stack.postgres.connect() as superuser:
        superuser.execute(f"CREATE DATABASE {database}")
    with stack.direct(database=database) as direct:
        columns = ", ".join(f"{name} {type_}" for name, type_ in types.items())
        direct.execute(f"CREATE TABLE {TABLE} (id bigint PRIMARY KEY, name text, {columns})")
        shop.allow_all(direct, TABLE)


def start_over(stack: Stack, database: str) -> None:
    """Row 1 alone, written through psycopg: through the sidecar, or straight where nothing is sealed."""
    with stack.direct(database=database) as direct:
        direct.execute(f"TRUNCATE {TABLE}")
    connect = stack.connect if database == DATABASE else stack.direct
    with connect(USER, database) as connection:
        values = [Json(value) if isinstance(value, dict) else value for value in ROW.values()]
        connection.execute(f"INSERT INTO {TABLE} ({', '.join(ROW)}) VALUES ({', '.join(['%s'] * len(ROW))})", values)
