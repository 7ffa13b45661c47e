"""psycopg 3, with its connection from the environment by libpq."""

import datetime as dt

import psycopg
from psycopg.types.json import Json

from steps import BATCH, COLUMNS, COPIED, NEW_BALANCE, NEW_EMAIL, PREPARED, REFUSED, ROW, USER, expect, expect_row, run
from steps import row as row_of

INSERT = f"INSERT INTO person ({COLUMNS}) VALUES ({', '.join(['%s'] * len(ROW))})"
INSERT_BINARY = INSERT.replace("%s", "%b")
SELECT = f"SELECT {COLUMNS} FROM person WHERE id = %s"
SHORT = "INSERT INTO person (id, ssn) VALUES (%s, %s)"


def values(row: dict) -> list:
    return [Json(value) if isinstance(value, dict) else value for value in row.values()]


def select(connection: psycopg.Connection, number: int, **how: object) -> dict:
    return dict(zip(ROW, connection.execute(SELECT, [number], **how).fetchone(), strict=True))


def ssn_of(connection: psycopg.Connection, number: int, **how: object) -> object:
    found = connection.execute("SELECT ssn FROM person WHERE id = %s", [number], **how).fetchone()
    return found and found[0]


def connect(connection: psycopg.Connection) -> None:
    expect("current_user", connection.execute("SELECT current_user").fetchone(), (USER,))


def write(connection: psycopg.Connection) -> None:
    connection.execute(INSERT, values(row_of(10)))


def read(connection: psycopg.Connection) -> None:
    expect_row(select(connection, 1), ROW)


def search(connection: psycopg.Connection) -> None:
    for name in ("ssn", "ref"):
        found = connection.execute(f"SELECT id FROM person WHERE {name} = %s", [ROW[name]]).fetchall()
        expect(f"found by {name}", found, [(1,)])
    expect("found by another", connection.execute("SELECT id FROM person WHERE ssn = %s", ["no"]).fetchall(), [])


def update(connection: psycopg.Connection) -> None:
    connection.execute(SHORT, [2, "ssn-2"])
    text = "UPDATE person SET email = %s, balance = %s WHERE ssn = %s RETURNING id, email, balance"
    got = connection.execute(text, [NEW_EMAIL, NEW_BALANCE, "ssn-2"]).fetchall()
    expect("returned", got, [(2, NEW_EMAIL, NEW_BALANCE)])


def upsert(connection: psycopg.Connection) -> None:
    text = (
        "INSERT INTO person (id, ssn, email) VALUES (%s, %s, %s) "
        "ON CONFLICT (id) DO UPDATE SET email = EXCLUDED.email RETURNING email"
    )
    for email in ("one@example.com", "two@example.com"):
        expect("returned", connection.execute(text, [3, "ssn-3", email]).fetchone(), (email,))
    expect("email", connection.execute("SELECT email FROM person WHERE id = 3").fetchone(), ("two@example.com",))


def batch(connection: psycopg.Connection) -> None:
    with connection.pipeline(), connection.cursor() as cursor:
        cursor.executemany(SHORT, [(number, f"ssn-{number}") for number in BATCH])
        found = [connection.execute("SELECT ssn FROM person WHERE id = %s", [number]) for number in BATCH]
        expect("ssn", [each.fetchone() for each in found], [(f"ssn-{number}",) for number in BATCH])


def prepared(connection: psycopg.Connection) -> None:
    for number in PREPARED:
        connection.execute(SHORT, [number, f"ssn-{number}"], prepare=True)
    for number in PREPARED:
        expect("ssn", ssn_of(connection, number, prepare=True), f"ssn-{number}")


def binary(connection: psycopg.Connection) -> None:
    connection.execute(INSERT_BINARY, values(row_of(300)))
    expect_row(select(connection, 300, binary=True), row_of(300))


def transaction(connection: psycopg.Connection) -> None:
    with connection.transaction(force_rollback=True):
        connection.execute(SHORT, [400, "ssn-400"])
        expect("before the rollback", ssn_of(connection, 400), "ssn-400")
    expect("after the rollback", ssn_of(connection, 400), None)
    with connection.transaction():
        connection.execute(SHORT, [401, "ssn-401"])
    expect("after the commit", ssn_of(connection, 401), "ssn-401")


def null(connection: psycopg.Connection) -> None:
    connection.execute("INSERT INTO person (id, ssn, email, born) VALUES (500, %s, %s, %s)", [None, "", None])
    got = connection.execute("SELECT ssn, email, born FROM person WHERE id = 500").fetchone()
    expect("NULL, empty, NULL", got, (None, "", None))


def refusal(connection: psycopg.Connection) -> None:
    try:
        connection.execute("SELECT id FROM person ORDER BY ssn")
    except psycopg.Error as error:
        expect("SQLSTATE", error.sqlstate, REFUSED)
    else:
        expect("refused", False, True)
    expect("after it", ssn_of(connection, 1), ROW["ssn"])


def copy_in(connection: psycopg.Connection) -> None:
    with connection.cursor().copy("COPY person (id, name, email, ssn, born) FROM STDIN") as copy:
        for copied in COPIED:
            copy.write_row(copied)
    text = "SELECT id, name, email, ssn, born FROM person WHERE id BETWEEN 600 AND 602 ORDER BY id"
    expect("copied", connection.execute(text).fetchall(), list(COPIED))


def copy_out(connection: psycopg.Connection) -> None:
    with connection.cursor().copy("COPY person (id, ssn, born) TO STDOUT") as copy:
        copy.set_types(["int8", "text", "date"])
        rows = [copied for copied in copy.rows() if copied[0] == 1]
    expect("copied", rows, [(1, ROW["ssn"], dt.date(1980, 5, 17))])


if __name__ == "__main__":
    run(
        "psycopg",
        globals(),
        lambda: psycopg.connect("", autocommit=True),
        psycopg.Connection.close,
        lambda error: getattr(error, "sqlstate", None),
    )
