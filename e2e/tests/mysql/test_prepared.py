"""Prepared statements: the binary protocol's parameters are sealed, its rows opened."""

from collections.abc import Iterator

import mysql.connector
import pytest

from harness.mysql_stack import MySqlStack
from tests.mysql.test_connecting import connector
from tests.rows import ADA, ALAN, COLUMNS, LIST

INSERT = f"INSERT INTO customer ({LIST}) VALUES (?, ?, ?, ?, ?, ?, ?)"
SELECT = f"SELECT {LIST} FROM customer WHERE id = ?"


@pytest.fixture
def app(shop: MySqlStack) -> Iterator[mysql.connector.MySQLConnection]:
    connection = connector(shop)
    yield connection
    connection.close()


def ask(app: mysql.connector.MySQLConnection, statement: str, *values: object) -> list[tuple]:
    """The rows of one statement, prepared anew."""
    with app.cursor(prepared=True) as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall() if cursor.with_rows else []


def test_row_comes_back(shop: MySqlStack, app: mysql.connector.MySQLConnection) -> None:
    for row in (ADA, ALAN):
        ask(app, INSERT, *row)
    for row in (ADA, ALAN):
        assert ask(app, SELECT, row[0]) == [row]
    assert not [value for value in ADA[2:] if value.encode() in shop.relay.to_server()]
    assert shop.stored("SELECT DISTINCT LEFT(ssn, 4) FROM customer") == [("fv1.",)]


def test_one_statement_executed_many_times(app: mysql.connector.MySQLConnection) -> None:
    with app.cursor(prepared=True) as cursor:
        for number in range(50):
            cursor.execute(INSERT, (number, *ADA[1:3], f"ssn-{number}", *ADA[4:]))
    with app.cursor(prepared=True) as cursor:
        for number in range(50):
            cursor.execute("SELECT ssn FROM customer WHERE id = ?", (number,))
            assert cursor.fetchall() == [(f"ssn-{number}",)]


def test_search_update_and_delete_by_a_sealed_value(app: mysql.connector.MySQLConnection) -> None:
    for row in (ADA, ALAN):
        ask(app, INSERT, *row)
    assert ask(app, "SELECT id FROM customer WHERE ssn = ?", ADA[3]) == [(1,)]
    assert ask(app, "SELECT id FROM customer WHERE ssn IN (?, ?) ORDER BY id", ADA[3], ALAN[3]) == [(1,), (2,)]
    ask(app, "UPDATE customer SET phone = ? WHERE email = ?", "new", ADA[2])
    ask(app, "DELETE FROM customer WHERE ssn = ?", ALAN[3])
    assert ask(app, "SELECT id, phone FROM customer") == [(1, "new")]


def test_null_stays_null(app: mysql.connector.MySQLConnection) -> None:
    ask(app, INSERT, *ALAN)
    ask(app, "UPDATE customer SET ssn = ?", None)
    assert ask(app, "SELECT ssn, notes, name FROM customer") == [(None, None, ALAN[1])]


def test_upsert_seals_the_new_value(app: mysql.connector.MySQLConnection) -> None:
    ask(app, INSERT, *ADA)
    ask(app, "INSERT INTO customer (id, ssn) VALUES (?, ?) ON DUPLICATE KEY UPDATE ssn = ?", 1, "unused", "third")
    assert ask(app, "SELECT ssn FROM customer") == [("third",)]


def test_columns_show_their_declared_types(app: mysql.connector.MySQLConnection) -> None:
    with app.cursor(prepared=True) as cursor:
        cursor.execute(f"SELECT {LIST} FROM customer")
        cursor.fetchall()
        types = {column[0]: column[1] for column in cursor.description}
    assert {name: types[name] for name in COLUMNS[1:]} == dict.fromkeys(COLUMNS[1:], types["name"])


def test_statement_that_can_not_be_done_is_refused_when_it_is_prepared(shop: MySqlStack, app) -> None:
    with pytest.raises(mysql.connector.Error) as refused:
        ask(app, "SELECT id FROM customer WHERE ssn > ?", "0")
    assert (refused.value.errno, refused.value.sqlstate) == (1235, "42000")
    assert "customer.ssn" in refused.value.msg
    assert b"ssn > ?" not in shop.relay.to_server()
    assert ask(app, "SELECT 1") == [(1,)]


def test_prepared_in_sql_seals_what_it_is_executed_with(shop: MySqlStack, app) -> None:
    with app.cursor() as cursor:
        cursor.execute("PREPARE one FROM 'INSERT INTO customer (id, ssn) VALUES (1, \\'in the text\\')'")
        cursor.execute("EXECUTE one")
        cursor.execute("DEALLOCATE PREPARE one")
        cursor.execute("SELECT ssn FROM customer")
        assert cursor.fetchall() == [("in the text",)]
    assert b"in the text" not in shop.relay.to_server()


@pytest.mark.parametrize("question", ["select found_rows()", "SELECT FOUND_ROWS() = 3 AS n FROM DUAL"])
def test_what_the_sessions_own_ddl_left_is_told_to_a_prepared_question(shop: MySqlStack, app, question: str) -> None:
    shop.stored("CREATE TABLE IF NOT EXISTS visit (id bigint PRIMARY KEY, customer bigint)")
    direct = connector(shop, port=shop.server.port)

    def told(connection: mysql.connector.MySQLConnection) -> list[list[tuple]]:
        answers = []
        with connection.cursor(prepared=True) as asking, connection.cursor() as cursor:
            # It is prepared behind the first statement, and executed behind each.
            for _ in range(3):
                cursor.execute("SELECT 1 UNION SELECT 2 UNION SELECT 3")
                cursor.fetchall()
                cursor.execute("CREATE TABLE IF NOT EXISTS visit (id bigint PRIMARY KEY)")
                asking.execute(question)
                answers.append(asking.fetchall())
        return answers

    assert told(app) == told(direct)
    direct.close()
