"""Drivers of MySQL and MariaDB for Python, as PEP 249 has them all: `mysql_client.py WAY`.

`pymysql` and `mysqlclient` are what they say; the others are MySQL Connector/Python: `pure`, all of it in Python, `c`,
over its C library, and `prepared`, with prepared statements, which send and read the binary protocol.
"""

import sys

if sys.argv[1:] == ["c"]:
    # Before another OpenSSL than its own is there.
    import _mysql_connector  # noqa: F401

import json
import os
import uuid

from steps import BATCH, NEW_BALANCE, NEW_EMAIL, PREPARED, USER, Absent, expect, run
from steps import row as postgres_row

WAY = sys.argv[1]
REFUSED = "1235" if WAY == "mysqlclient" else "42000"
# MySQL has no type for an instant, and none for a uuid or a truth value that its drivers know.
NAMES = ("id", "name", "ssn", "ref", "email", "born", "balance", "visits", "score", "active", "made", "extra", "photo")
COLUMNS = ", ".join(NAMES)
INSERT = f"INSERT INTO person ({COLUMNS}) VALUES ({', '.join(['%s'] * len(NAMES))})"
SELECT = f"SELECT {COLUMNS} FROM person WHERE id = %s"
SHORT = "INSERT INTO person (id, ssn) VALUES (%s, %s)"
SSN_OF = "SELECT ssn FROM person WHERE id = %s"
FIRST = {"ssn": "078-05-1120", "ref": uuid.UUID("c56a4180-65aa-42ec-a945-5fd21dec0538")}


def row_of(number: int) -> dict:
    """All columns of the row with this id, as the drivers send and give them."""
    row = postgres_row(number) if number != 1 else {**postgres_row(1), **FIRST}
    typed = {"ref": str(row["ref"]), "active": int(row["active"]), "extra": json.dumps(row["extra"])}
    return {name: {**row, **typed}[name] for name in NAMES}


def ask(connection: object, text: str, values: tuple | list = ()) -> list[tuple]:
    cursor = connection.cursor(prepared=True) if WAY == "prepared" else connection.cursor()
    cursor.execute(text, tuple(values))
    rows = [tuple(row) for row in cursor.fetchall()] if cursor.description else []
    cursor.close()
    return rows


def expect_row(connection: object, number: int) -> None:
    ((*got,),) = ask(connection, SELECT, [number])
    for (name, wanted), given in zip(row_of(number).items(), got, strict=True):
        if name == "extra":
            expect(name, json.loads(given), json.loads(wanted))
        elif name == "photo":
            expect(name, bytes(given), wanted)
        else:
            expect(name, given, wanted)


def ssn_of(connection: object, number: int) -> str | None:
    rows = ask(connection, SSN_OF, [number])
    return rows[0][0] if rows else None


def connect(connection: object) -> None:
    ((user,),) = ask(connection, "SELECT CURRENT_USER()")
    expect("current_user", user.partition("@")[0], USER)


def write(connection: object) -> None:
    ask(connection, INSERT, row_of(10).values())


def read(connection: object) -> None:
    expect_row(connection, 1)


def search(connection: object) -> None:
    for name in ("ssn", "ref"):
        found = ask(connection, f"SELECT id FROM person WHERE {name} = %s", [row_of(1)[name]])
        expect(f"found by {name}", found, [(1,)])
    expect("found by another", ask(connection, "SELECT id FROM person WHERE ssn = %s", ["no"]), [])


def update(connection: object) -> None:
    ask(connection, SHORT, [2, "ssn-2"])
    ask(connection, "UPDATE person SET email = %s, balance = %s WHERE ssn = %s", [NEW_EMAIL, NEW_BALANCE, "ssn-2"])
    got = ask(connection, "SELECT id, email, balance FROM person WHERE id = 2")
    expect("read again", got, [(2, NEW_EMAIL, NEW_BALANCE)])


def upsert(connection: object) -> None:
    text = "INSERT INTO person (id, ssn, email) VALUES (%s, %s, %s) ON DUPLICATE KEY UPDATE email = VALUES(email)"
    for email in ("one@example.com", "two@example.com"):
        ask(connection, text, [3, "ssn-3", email])
    expect("email", ask(connection, "SELECT email FROM person WHERE id = 3"), [("two@example.com",)])


def batch(connection: object) -> None:
    cursor = connection.cursor()
    cursor.executemany(SHORT, [(number, f"ssn-{number}") for number in BATCH])
    cursor.close()
    for number in BATCH:
        expect("ssn", ssn_of(connection, number), f"ssn-{number}")


def prepared(connection: object) -> None:
    if WAY != "prepared":
        raise Absent("the values are in the text, so there is nothing to prepare")
    with connection.cursor(prepared=True) as put:
        for number in PREPARED:
            put.execute(SHORT, (number, f"ssn-{number}"))
    with connection.cursor(prepared=True) as got:
        for number in PREPARED:
            got.execute(SSN_OF, (number,))
            expect("ssn", got.fetchall(), [(f"ssn-{number}",)])


def binary(connection: object) -> None:
    if WAY != "prepared":
        raise Absent("the binary protocol is that of prepared statements")
    ask(connection, INSERT, row_of(300).values())
    expect_row(connection, 300)


def begin(connection: object) -> None:
    """As each driver has it: MySQL prepares no START TRANSACTION."""
    (connection.begin if WAY in ("pymysql", "mysqlclient") else connection.start_transaction)()


def transaction(connection: object) -> None:
    begin(connection)
    ask(connection, SHORT, [400, "ssn-400"])
    expect("before the rollback", ssn_of(connection, 400), "ssn-400")
    connection.rollback()
    expect("after the rollback", ssn_of(connection, 400), None)
    begin(connection)
    ask(connection, SHORT, [401, "ssn-401"])
    connection.commit()
    expect("after the commit", ssn_of(connection, 401), "ssn-401")


def null(connection: object) -> None:
    ask(connection, "INSERT INTO person (id, ssn, email, born) VALUES (500, %s, %s, %s)", [None, "", None])
    got = ask(connection, "SELECT ssn, email, born FROM person WHERE id = 500")
    expect("NULL, empty, NULL", got, [(None, "", None)])


def refusal(connection: object) -> None:
    try:
        ask(connection, "SELECT id FROM person ORDER BY ssn")
    except Exception as error:
        expect("error", code(error), REFUSED)
    else:
        expect("refused", False, True)
    expect("after it", ssn_of(connection, 1), FIRST["ssn"])


def copy_in(_: object) -> None:
    raise Absent("MySQL has no COPY")


copy_out = copy_in


def code(error: BaseException) -> str | None:
    """The SQLSTATE; PyMySQL has it from version 1.2 on. mysqlclient has the number alone."""
    if WAY == "mysqlclient":
        return str(error.args[0]) if error.args else None
    return getattr(error, "sqlstate", None)


def driver() -> object:
    """A connection, with what the environment says."""
    where = {
        "host": os.environ["MYSQL_HOST"],
        "port": int(os.environ["MYSQL_PORT"]),
        "user": os.environ["MYSQL_USER"],
        "password": os.environ["MYSQL_PASSWORD"],
        "database": os.environ["MYSQL_DATABASE"],
        "autocommit": True,
    }
    # The certificate, and that it is for this host.
    if ca := os.environ.get("MYSQL_CA"):
        where |= {"ssl_ca": ca, "ssl_verify_identity": True}
    if WAY == "pymysql":
        import pymysql

        return pymysql.connect(**where)
    if WAY == "mysqlclient":
        import MySQLdb

        return MySQLdb.connect(**where)
    import mysql.connector

    return mysql.connector.connect(**where, use_pure=WAY != "c")


if __name__ == "__main__":
    name = f"connector-{WAY}" if WAY in ("pure", "c", "prepared") else WAY
    run(name, globals(), driver, lambda connection: connection.close(), code)
