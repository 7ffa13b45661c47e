"""Modes of sql_mode that give texts another meaning: what names nothing protected is answered as by the server."""

import mysql.connector
import pymysql
import pytest

from harness.mysql_stack import MySqlStack
from tests.mysql.asking import ask, change, refusal
from tests.mysql.test_connecting import connector
from tests.rows import ADA, INSERT

# Each with a statement that it answers otherwise.
COMMON = {"HIGH_NOT_PRECEDENCE": "SELECT NOT 1 BETWEEN -5 AND 5"}
MARIADB = {
    **COMMON,
    "EMPTY_STRING_IS_NULL": "SELECT '' IS NULL, N'' IS NULL",
    "ORACLE": "SELECT 'a' || NULL || 'b'",
    "MYSQL40": "SELECT NOT 1 BETWEEN -5 AND 5",
}


def modes(stack: MySqlStack) -> dict[str, str]:
    with stack.direct() as direct:
        return MARIADB if "MariaDB" in ask(direct, "SELECT VERSION()")[0][0] else COMMON


def script(mode: str, own: str) -> list[str]:
    """Statements that name nothing protected."""
    return [
        f"SET @@sql_mode = '{mode}'",
        "SELECT @@sql_mode",
        own,
        "CREATE TABLE moded (id INT NOT NULL, name VARCHAR(10))",
        "INSERT INTO moded VALUES (1, 'one'), (2, '')",
        "SELECT id FROM moded WHERE NOT id BETWEEN 0 AND 0 AND name IS NULL",
        "SHOW CREATE TABLE moded",
        "SELECT * FROM absent",
        "SELECT 1 +",
        "DROP TABLE moded",
        "SET @@sql_mode = ''",
        own,
    ]


def answers(connection: pymysql.Connection, statements: list[str]) -> list[object]:
    found: list[object] = []
    for statement in statements:
        try:
            found.append(ask(connection, statement))
        except pymysql.MySQLError as error:
            found.append(error.args)
    return found


def test_what_names_nothing_protected_is_answered_as_without_the_sidecar(shop: MySqlStack) -> None:
    for mode, own in modes(shop).items():
        with shop.direct("app") as direct, shop.connect("app") as through:
            straight = answers(direct, script(mode, own))
            assert answers(through, script(mode, own)) == straight, mode
            assert straight[2] != straight[-1], mode


def test_what_names_something_protected_is_refused_until_the_mode_is_left(shop: MySqlStack) -> None:
    for mode in modes(shop):
        shop.stored("TRUNCATE customer")
        with shop.connect("app") as app:
            change(app, INSERT, ADA)
            change(app, f"SET sql_mode = '{mode}'")
            for statement in ("SELECT ssn FROM customer WHERE NOT id", "PREPARE p FROM 'SELECT NOT ssn FROM customer'"):
                number, text = refusal(app, statement)
                assert (number, "the session's sql_mode has" in text) == (1235, True)
                assert "set sql_mode without it" in text
            change(app, "SET sql_mode = ''")
            assert ask(app, "SELECT ssn FROM customer WHERE NOT id = 0") == [(ADA[3],)]


def test_statements_are_prepared_that_name_nothing_protected(shop: MySqlStack) -> None:
    for mode in modes(shop):
        connection = connector(shop)
        with connection.cursor(prepared=True) as cursor:
            cursor.execute("SELECT ssn FROM customer WHERE NOT id = ?", (0,))
            cursor.fetchall()
            change_mode(connection, mode)
            with pytest.raises(mysql.connector.Error, match="the session's sql_mode has"):
                cursor.execute("SELECT ssn FROM customer WHERE NOT id = ?", (0,))
        with connection.cursor(prepared=True) as cursor:
            cursor.execute("SELECT NOT ? BETWEEN 7 AND 9", (8,))
            assert len(cursor.fetchall()) == 1
        connection.close()


def change_mode(connection: mysql.connector.MySQLConnection, mode: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET sql_mode = '{mode}'")


def test_block_of_oracles_grammar_returns_its_rows(shop: MySqlStack) -> None:
    if "ORACLE" not in modes(shop):
        pytest.skip("the server has no mode ORACLE")
    block = "DECLARE a INT := 1; BEGIN FOR i IN 1..3 LOOP a := a + i; END LOOP; SELECT a; SELECT a + 1; END;"
    for connection in (shop.direct("app"), shop.connect("app")):
        with connection, connection.cursor() as cursor:
            cursor.execute("SET sql_mode = 'ORACLE'")
            cursor.execute(block)
            assert cursor.fetchall() == ((7,),)
            assert cursor.nextset()
            assert cursor.fetchall() == ((8,),)
            while cursor.nextset():
                pass
            assert ask(connection, "SELECT 5 FROM dual") == [(5,)]
