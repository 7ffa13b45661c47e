"""The table that is taken out and in as a whole, its rows as files, and the looks at what came of it.

It has as many partitions as there are clients at most, for pg_dump divides its work by table.
"""

import functools
import hashlib
import os
import shutil
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path

import psycopg
from psycopg import Connection, sql

from loadtests import values
from loadtests.failures import Failed
from loadtests.rig import ENVIRONMENT, SEALED, Live, Rig

TABLE = "db2_ledger"
PARTS = 8
# At SCALE=1.
ROWS = 40_000
COLUMNS = ("email", "ssn", "phone")
FIELDS = {
    "email": {"protection": "randomized", "type": "text"},
    "ssn": {"protection": "deterministic", "type": "text"},
    "phone": {"protection": "randomized", "type": "text"},
}
# A user whom no rule names: it reads what is stored.
CONCEALED = "auditor"
# What ends the rows of a table in a dump.
END = b"\\.\n\n\n"


@dataclass(frozen=True)
class Part:
    """One partition, and its rows as COPY's text."""

    table: str
    file: str
    rows: int
    # Hexadecimal SHA-256 of the text.
    digest: str


class NotRestored(Failed):
    """Rows that came out or went in are not those that there are; the text says where."""


def prepare(rig: Rig, scale: float) -> None:
    columns = (
        "id bigint NOT NULL, part int NOT NULL, amount bigint NOT NULL, email text, ssn text, phone text, note text"
    )
    partitions = (f"CREATE TABLE {_part(k)} PARTITION OF {TABLE} FOR VALUES IN ({k});" for k in range(PARTS))
    rig.tables(f"CREATE TABLE {TABLE} ({columns}) PARTITION BY LIST (part);{''.join(partitions)}")
    _folder(rig).mkdir()
    size = max(50, round(ROWS * scale / PARTS))
    for k in range(PARTS):
        with _file(rig, k).open("w") as file:
            file.writelines("\t".join(_row(number, k)) + "\n" for number in range(k * size + 1, (k + 1) * size + 1))
    for target in ("direct", "fieldveil"):
        with rig.live[target].connect() as connection:
            for part in parts(rig):
                with (
                    connection.cursor().copy(_copy(part.table, "FROM STDIN")) as copy,
                    Path(part.file).open("rb") as file,
                ):
                    shutil.copyfileobj(file, copy)
    rig.settle(TABLE)
    look(rig, rig.live["fieldveil"])
    # What is restored: the rows in clear, dumped straight at the server.
    execute(_program(rig, _pg_dump(rig, rig.live["direct"].argument(), 1, _source(rig))))


def parts(rig: Rig) -> list[Part]:
    return [_read(_part(k), _file(rig, k)) for k in range(PARTS)]


def rows(rig: Rig) -> int:
    return sum(part.rows for part in parts(rig))


def copying_out(rig: Rig, live: Live) -> dict:
    return {"parts": [asdict(part) for part in parts(rig)]}


def copying_in(rig: Rig, live: Live) -> dict:
    empty(rig, live.database)
    return copying_out(rig, live)


def dumping(rig: Rig, live: Live, clients: int, user: str) -> dict:
    shutil.rmtree(dump(rig), ignore_errors=True)
    return _program(rig, _pg_dump(rig, live.argument(user), clients, dump(rig)))


def restoring(rig: Rig, live: Live, clients: int) -> dict:
    empty(rig, live.database)
    return _program(rig, _pg_restore(rig, live.argument(), clients, _source(rig)))


def look(rig: Rig, live: Live) -> None:
    """All rows are there, in the order in which they went in; in the sealed database no value is stored in clear."""
    with live.connect() as connection:
        for part in parts(rig):
            if _digest(connection, part.table) != part.digest:
                raise NotRestored(f"{part.table} does not hold the rows that went in, through {live.name}")
    if live.sealed:
        rig.assert_sealed(TABLE, *COLUMNS)


def look_at_dump(rig: Rig, live: Live, user: str) -> None:
    """Each table's file holds its rows: those that went in, or, for who sees envelopes, what is stored."""
    wanted = [part.digest for part in parts(rig)]
    if live.sealed and user == CONCEALED:
        with rig.direct(SEALED) as connection:
            wanted = [_digest(connection, part.table) for part in parts(rig)]
    found = [digest_of(file) for file in dump(rig).glob("[0-9]*.dat")]
    if sorted(found) != sorted(wanted):
        raise NotRestored(f"what pg_dump wrote as {user} through {live.name} is not what the table holds")


def empty(rig: Rig, database: str) -> None:
    with rig.direct(database) as connection:
        connection.execute(f"TRUNCATE {TABLE}")


def dump(rig: Rig) -> Path:
    """Where the last dump is."""
    return _folder(rig) / "dump"


def restoring_straight(rig: Rig, database: str, clients: int) -> dict:
    """The last dump, to the server, whatever the database."""
    empty(rig, database)
    server = psycopg.conninfo.make_conninfo(rig.live["direct"].argument(), dbname=database)
    return _program(rig, _pg_restore(rig, server, clients, dump(rig)))


def execute(program: dict) -> None:
    """What k6 is given to run."""
    subprocess.run(program["argv"], env={**os.environ, **program["env"]}, check=True)


def _pg_restore(rig: Rig, dsn: str, clients: int, source: Path) -> list:
    return [rig.postgres.program("pg_restore"), "--data-only", f"--jobs={clients}", f"--dbname={dsn}", source]


def _pg_dump(rig: Rig, dsn: str, clients: int, target: Path) -> list:
    return [
        rig.postgres.program("pg_dump"), "--format=directory", "--compress=none", "--data-only", f"--jobs={clients}",
        f"--table={TABLE}*", f"--file={target}", dsn,
    ]  # fmt: skip


def _program(rig: Rig, argv: list) -> dict:
    return {"argv": [str(word) for word in argv], "env": ENVIRONMENT, "units": rows(rig)}


def _row(number: int, part: int) -> tuple[str, ...]:
    """As COPY's text; nothing in it needs to be escaped."""
    contact = values.email(number), values.ssn(number), values.phone(number)
    return (str(number), str(part), str(number % 10_000), *contact, values.text(number, 60))


@functools.cache
def _read(table: str, path: Path) -> Part:
    with path.open("rb") as file:
        count = sum(1 for _ in file)
        file.seek(0)
        return Part(table, str(path), count, hashlib.file_digest(file, "sha256").hexdigest())


def _digest(connection: Connection, table: str) -> str:
    digest = hashlib.sha256()
    with connection.cursor().copy(_copy(table, "TO STDOUT")) as copy:
        for data in copy:
            digest.update(data)
    return digest.hexdigest()


def digest_of(file: Path) -> str:
    """Of the rows in a dump's file; one that does not end as it must has another."""
    digest = hashlib.sha256()
    kept = b""
    with file.open("rb") as data:
        while chunk := data.read(1 << 20):
            kept += chunk
            digest.update(kept[: -len(END)])
            kept = kept[-len(END) :]
    digest.update(kept.removesuffix(END))
    return digest.hexdigest()


def _copy(table: str, where: str) -> sql.Composed:
    return sql.SQL("COPY {} " + where).format(sql.Identifier(table))


def _part(number: int) -> str:
    return f"{TABLE}_{number}"


def _folder(rig: Rig) -> Path:
    return rig.work.path / "db2-backup"


def _file(rig: Rig, number: int) -> Path:
    return _folder(rig) / f"{number}.copy"


def _source(rig: Rig) -> Path:
    return _folder(rig) / "source"
