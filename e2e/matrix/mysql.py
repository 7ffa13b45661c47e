"""The clients of MySQL and MariaDB: the table that they share, and a run of one through the sidecar and without it."""

from collections.abc import Callable
from pathlib import Path

import pymysql

from harness import shop
from harness.envoy import LOOPBACK
from harness.mysql_stack import PLAIN, SEALED, MySqlStack
from harness.policies import write_for_table
from matrix import database
from matrix.clients import Client
from matrix.database import TABLE, USER
from matrix.result import Result
from matrix.run import expect_no_refusal, look_rows, look_sent, start, worked

DATABASE, PLAIN_DATABASE = database.DATABASE, database.PLAIN_DATABASE

# Declared type, protection, and the type of the twin's column. What is stored is text, but for `photo`.
COLUMNS = {
    "ssn": ("text", "deterministic", "text"),
    "ref": ("uuid", "deterministic", "char(36)"),
    "email": ("text", "randomized", "text"),
    "born": ("date", "randomized", "date"),
    "balance": ("numeric(12,2)", "randomized", "decimal(12,2)"),
    "visits": ("int4", "randomized", "int"),
    "score": ("float8", "randomized", "double"),
    "active": ("bool", "randomized", "tinyint(1)"),
    "made": ("timestamp(3)", "randomized", "datetime(3)"),
    "extra": ("json", "randomized", "json"),
    "photo": ("bytea", "randomized", "blob"),
}
NAMES = ("id", "name", *COLUMNS)
Connect = Callable[[], pymysql.Connection]


def row(number: int) -> dict:
    """The row with this id, as PyMySQL sends it."""
    values = database.ROW if number == 1 else database.row(number)
    as_sent = {"ref": str(values["ref"]), "active": int(values["active"]), "extra": '{"a": [1, 2.5], "b": "x"}'}
    return {name: {**values, **as_sent}[name] for name in NAMES}


def write_policies(folder: Path) -> Path:
    """Catalog and rules for the table, to load beside the example's."""
    columns = {name: {"protection": how, "keyset": "pii", "type": type_} for name, (type_, how, _) in COLUMNS.items()}
    return write_for_table(folder, DATABASE, TABLE, columns, USER, "mysql")


def create(stack: MySqlStack) -> None:
    sealed = {name: "blob" if type_ == "bytea" else "text" for name, (type_, *_) in COLUMNS.items()}
    plain = {name: twin for name, (*_, twin) in COLUMNS.items()}
    for database_, types in ((DATABASE, sealed), (PLAIN_DATABASE, plain)):
        columns = ", ".join(f"{name} {type_}" for name, type_ in types.items())
        stack.stored(f"CREATE DATABASE {database_} CHARACTER SET utf8mb4")
        stack.stored(f"CREATE TABLE {database_}.{TABLE} (id bigint PRIMARY KEY, name text, {columns})")
        for role in shop.ROLES:
            stack.stored(f"GRANT ALL ON {database_}.* TO {role}@'%%'")


def run(stack: MySqlStack, client: Client) -> Result:
    start_over(stack, DATABASE, lambda: stack.connect(USER, DATABASE))
    stack.relay.forget()
    result = Result(client.name)
    start(client, result, where(LOOPBACK, stack.envoy.port(SEALED), DATABASE))
    look_sent(stack.relay.to_server(), result)
    look_stored(stack, result)
    look_through(lambda: stack.connect(USER, DATABASE), result)
    return result


def run_plain(stack: MySqlStack, client: Client) -> Result:
    """The same without Fieldveil, so that what does not work is known to be of it, and not of the program."""
    start_over(stack, PLAIN_DATABASE, lambda: stack.connect(USER, PLAIN_DATABASE, listener=PLAIN))
    result = Result(client.name)
    start(client, result, where(LOOPBACK, stack.envoy.port(PLAIN), PLAIN_DATABASE))
    expect_no_refusal(result)
    return result


def start_over(stack: MySqlStack, database_: str, connect: Connect) -> None:
    """Row 1 alone."""
    stack.stored(f"TRUNCATE {database_}.{TABLE}")
    with connect() as connection, connection.cursor() as cursor:
        first = row(1)
        cursor.execute(
            f"INSERT INTO {TABLE} ({', '.join(first)}) VALUES ({', '.join(['%s'] * len(first))})", [*first.values()]
        )


def where(host: str, port: int, database_: str) -> dict[str, str]:
    """The environment that tells a client where to connect to, without TLS."""
    return {
        "MYSQL_HOST": host,
        "MYSQL_PORT": str(port),
        "MYSQL_USER": USER,
        "MYSQL_PASSWORD": shop.PASSWORD,
        "MYSQL_DATABASE": database_,
    }


def look_stored(stack: MySqlStack, result: Result) -> None:
    """What the server really has."""
    stored = stack.stored(f"SELECT id, {', '.join(COLUMNS)} FROM {DATABASE}.{TABLE}")
    look_rows({values[0]: dict(zip(COLUMNS, values[1:], strict=True)) for values in stored}, result)


def look_through(connect: Connect, result: Result) -> None:
    """What another driver reads through the sidecar: a client that writes and reads wrong alike is found out."""
    with connect() as other, other.cursor() as cursor:
        for step, number in (("write", 10), ("binary", 300)):
            if worked(result, step):
                wanted = row(number)
                cursor.execute(f"SELECT {', '.join(NAMES)} FROM {TABLE} WHERE id = %s", [number])
                got = dict(zip(NAMES, cursor.fetchone() or [None] * len(NAMES), strict=True))
                differ = [name for name in NAMES if got[name] != wanted[name] and name != "extra"]
                if differ:
                    result.faults.append(f"row {number} reads otherwise through PyMySQL: {', '.join(differ)}")
        cursor.execute(f"SELECT id, ssn FROM {TABLE} WHERE id <> 1 AND ssn IS NOT NULL")
        wrong = [number for number, ssn in cursor.fetchall() if ssn != f"ssn-{number}"]
        if wrong:
            result.faults.append(f"rows with another ssn than was written: {wrong}")
