"""Budgets of what is revealed, in MariaDB: the brake on a stolen credential that dumps a table."""

from collections.abc import Iterator
from contextlib import closing

import mysql.connector
import pymysql
import pytest

from harness import shop as example
from harness.mysql_builds import OLDER
from harness.mysql_stack import SEALED, MySqlOptions, MySqlStack
from harness.waiting import until_equal
from tests.mysql.asking import ask, refusal
from tests.policies.dump import BUDGETS, DATABASE, ROWS, expected, value, write_policies

BUDGET_SPENT = 1226


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MySqlStack]:
    """Each protected column of row n holds `value(n)`."""
    if not OLDER.is_there:
        pytest.skip(f"no {OLDER.name} for this machine: see dev/setup/servers.py")
    policies = write_policies(tmp_path_factory.mktemp("policies"), "mysql")
    with MySqlStack(MySqlOptions(policies=(policies,))).start() as stack:
        columns = ", ".join(f"{column} text" for column in BUDGETS)
        stack.stored(f"CREATE DATABASE {DATABASE}")
        stack.stored(f"CREATE TABLE {DATABASE}.person (id int PRIMARY KEY, {columns})")
        for role in example.ROLES:
            stack.stored(f"GRANT ALL ON {DATABASE}.* TO {role}@'%%'", [])
        with stack.connect("app", DATABASE) as app, app.cursor() as cursor:
            insert = f"INSERT INTO person (id, {', '.join(BUDGETS)}) VALUES ({', '.join(['%s'] * (1 + len(BUDGETS)))})"
            cursor.executemany(insert, [(number, *[value(number)] * len(BUDGETS)) for number in range(ROWS)])
        yield stack


def read(connection: pymysql.Connection, column: str, first: int, count: int) -> list[str | None]:
    text = f"SELECT {column} FROM person WHERE id >= {first} ORDER BY id LIMIT {count}"
    return [shown for (shown,) in ask(connection, text)]


def read_binary(stack: MySqlStack, column: str, first: int, count: int) -> list[str | None]:
    socket = str(stack.envoy.socket(SEALED))
    where = {"unix_socket": socket, "user": "support", "password": example.PASSWORD, "database": DATABASE}
    with (
        closing(mysql.connector.connect(**where, use_pure=True)) as connection,
        closing(connection.cursor(prepared=True)) as cursor,
    ):
        cursor.execute(f"SELECT {column} FROM person WHERE id >= %s ORDER BY id LIMIT {count}", (first,))
        return [shown for (shown,) in cursor.fetchall()]


def fetch_into(came: list[str], cursor: pymysql.cursors.SSCursor) -> None:
    """Row by row, so that those before an error are there."""
    while row := cursor.fetchone():
        came.append(row[0])


def test_dump_shows_as_many_rows_as_the_budget_has_however_it_is_read(dump: MySqlStack) -> None:
    with dump.connect("support", DATABASE) as support:
        shown = read(support, "ssn", 0, 300)
    shown += read_binary(dump, "ssn", 300, 150)
    # On a new connection, too.
    with dump.connect("support", DATABASE) as support:
        shown += read(support, "ssn", 450, ROWS)
        again = read(support, "ssn", 0, 10)
    assert shown == expected(500, ROWS)
    assert again == expected(0, 10)


def test_two_users_have_a_budget_each(dump: MySqlStack) -> None:
    for user in ("intern", "auditor"):
        with dump.connect(user, DATABASE) as connection:
            assert read(connection, "ssn", 0, ROWS) == expected(500, ROWS)


def test_refused_rows_end_the_answer_with_an_error_that_says_when_to_come_again(dump: MySqlStack) -> None:
    with dump.connect("support", DATABASE, cursorclass=pymysql.cursors.SSCursor) as support:
        came: list[str] = []
        with support.cursor() as cursor:
            cursor.execute("SELECT iban FROM person ORDER BY id")
            with pytest.raises(pymysql.MySQLError) as ended:
                fetch_into(came, cursor)
        assert came == expected(500, 500)
        number, told = ended.value.args
        assert number == BUDGET_SPENT
        assert "the budget of person.iban is spent: 500 rows within 3600 seconds" in told
        assert "Try again in" in told
    with dump.connect("support", DATABASE) as support:
        for statement in ("SELECT iban FROM person", "SELECT id FROM person WHERE iban = 'guess'"):
            assert refusal(support, statement)[0] == BUDGET_SPENT
        assert ask(support, "SELECT count(*) FROM person") == [(ROWS,)]


def test_rows_are_revealed_again_when_the_time_has_passed(dump: MySqlStack) -> None:
    with dump.connect("support", DATABASE) as support:
        assert read(support, "phone", 0, 25) == expected(20, 25)
        until_equal(lambda: read(support, "phone", 0, 1), [value(0)])
