"""asyncpg: every statement prepared, every value binary, its connection from the environment."""

import asyncio
import datetime as dt
import json
from collections.abc import Callable

import asyncpg

from steps import BATCH, COLUMNS, COPIED, NEW_BALANCE, NEW_EMAIL, PREPARED, REFUSED, ROW, USER, Wrong, expect, run
from steps import expect_row as same_row
from steps import row as row_of

INSERT = f"INSERT INTO person ({COLUMNS}) VALUES ({', '.join(f'${n}' for n in range(1, len(ROW) + 1))})"
SELECT = f"SELECT {COLUMNS} FROM person WHERE id = $1"
SHORT = "INSERT INTO person (id, ssn) VALUES ($1, $2)"
SSN = "SELECT ssn FROM person WHERE id = $1"


def values(row: dict) -> list:
    return [json.dumps(value) if isinstance(value, dict) else value for value in row.values()]


def expect_row(got: asyncpg.Record, wanted: dict) -> None:
    # asyncpg leaves JSON as text.
    same_row({**got, "extra": json.loads(got["extra"])}, wanted)


async def connect(connection: asyncpg.Connection) -> None:
    expect("current_user", await connection.fetchval("SELECT current_user"), USER)


async def write(connection: asyncpg.Connection) -> None:
    await connection.execute(INSERT, *values(row_of(10)))


async def read(connection: asyncpg.Connection) -> None:
    expect_row(await connection.fetchrow(SELECT, 1), ROW)


async def search(connection: asyncpg.Connection) -> None:
    for name in ("ssn", "ref"):
        found = await connection.fetch(f"SELECT id FROM person WHERE {name} = $1", ROW[name])
        expect(f"found by {name}", [row["id"] for row in found], [1])
    expect("found by another", await connection.fetch("SELECT id FROM person WHERE ssn = $1", "no"), [])


async def update(connection: asyncpg.Connection) -> None:
    await connection.execute(SHORT, 2, "ssn-2")
    text = "UPDATE person SET email = $1, balance = $2 WHERE ssn = $3 RETURNING id, email, balance"
    got = await connection.fetchrow(text, NEW_EMAIL, NEW_BALANCE, "ssn-2")
    expect("returned", tuple(got), (2, NEW_EMAIL, NEW_BALANCE))


async def upsert(connection: asyncpg.Connection) -> None:
    text = (
        "INSERT INTO person (id, ssn, email) VALUES ($1, $2, $3) "
        "ON CONFLICT (id) DO UPDATE SET email = EXCLUDED.email RETURNING email"
    )
    for email in ("one@example.com", "two@example.com"):
        expect("returned", await connection.fetchval(text, 3, "ssn-3", email), email)
    expect("email", await connection.fetchval("SELECT email FROM person WHERE id = 3"), "two@example.com")


async def batch(connection: asyncpg.Connection) -> None:
    await connection.executemany(SHORT, [(number, f"ssn-{number}") for number in BATCH])
    for number in BATCH:
        expect("ssn", await connection.fetchval(SSN, number), f"ssn-{number}")


async def prepared(connection: asyncpg.Connection) -> None:
    insert, select = await connection.prepare(SHORT), await connection.prepare(SSN)
    expect("types", [kind.name for kind in insert.get_parameters()], ["int8", "text"])
    for number in PREPARED:
        await insert.fetch(number, f"ssn-{number}")
    for number in PREPARED:
        expect("ssn", await select.fetchval(number), f"ssn-{number}")


async def binary(connection: asyncpg.Connection) -> None:
    await connection.execute(INSERT, *values(row_of(300)))
    expect_row(await connection.fetchrow(SELECT, 300), row_of(300))


async def transaction(connection: asyncpg.Connection) -> None:
    undone = connection.transaction()
    await undone.start()
    await connection.execute(SHORT, 400, "ssn-400")
    expect("before the rollback", await connection.fetchval(SSN, 400), "ssn-400")
    await undone.rollback()
    expect("after the rollback", await connection.fetchval(SSN, 400), None)
    async with connection.transaction():
        await connection.execute(SHORT, 401, "ssn-401")
    expect("after the commit", await connection.fetchval(SSN, 401), "ssn-401")


async def null(connection: asyncpg.Connection) -> None:
    await connection.execute("INSERT INTO person (id, ssn, email, born) VALUES (500, $1, $2, $3)", None, "", None)
    got = await connection.fetchrow("SELECT ssn, email, born FROM person WHERE id = 500")
    expect("NULL, empty, NULL", tuple(got), (None, "", None))


async def refusal(connection: asyncpg.Connection) -> None:
    try:
        await connection.fetch("SELECT id FROM person ORDER BY ssn")
    except asyncpg.PostgresError as error:
        expect("SQLSTATE", error.sqlstate, REFUSED)
    else:
        raise Wrong("it was not refused")
    expect("after it", await connection.fetchval(SSN, 1), ROW["ssn"])


async def copy_in(connection: asyncpg.Connection) -> None:
    columns = ["id", "name", "email", "ssn", "born"]
    await connection.copy_records_to_table("person", records=COPIED, columns=columns)
    text = "SELECT id, name, email, ssn, born FROM person WHERE id BETWEEN 600 AND 602 ORDER BY id"
    expect("copied", [tuple(row) for row in await connection.fetch(text)], list(COPIED))


async def copy_out(connection: asyncpg.Connection) -> None:
    received = bytearray()

    async def keep(data: bytes) -> None:
        received.extend(data)

    await connection.copy_from_table("person", columns=["id", "ssn", "born"], output=keep)
    rows = [line.split("\t") for line in received.decode().splitlines()]
    born: dt.date = ROW["born"]
    expect("copied", [row for row in rows if row[0] == "1"], [["1", ROW["ssn"], born.isoformat()]])


async def opened() -> asyncpg.Connection:
    return await asyncpg.connect()


def main() -> None:
    with asyncio.Runner() as loop:

        def waited(step: Callable) -> Callable:
            return lambda *words: loop.run(asyncio.wait_for(step(*words), 30))

        steps = {name: waited(step) for name, step in globals().items() if asyncio.iscoroutinefunction(step)}
        run(
            "asyncpg",
            steps,
            waited(opened),
            waited(asyncpg.Connection.close),
            lambda error: getattr(error, "sqlstate", None),
        )


if __name__ == "__main__":
    main()
