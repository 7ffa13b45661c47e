"""In a database in which the policy protects no table, a name of a protected table is a name as any other: what is done
under it answers as the server does, and the protected table stays what it was."""

from collections.abc import Iterator

import pymysql
import pytest

from harness.mysql_stack import MySqlStack
from tests.mysql.asking import ask, change, refusal
from tests.rows import ADA, INSERT

MADE = "CREATE TABLE customer (id int, other text)"
# Statements, and the number that the table of that name then has.
DEFINITIONS = {
    "renamed": (["CREATE TABLE client AS SELECT 1 AS id, 'a' AS ssn", "RENAME TABLE client TO customer"], "a"),
    "altered": ([MADE, "ALTER TABLE customer RENAME COLUMN other TO ssn", "INSERT INTO customer VALUES (1, 'b')"], "b"),
    "temporary": (["CREATE TEMPORARY TABLE customer (id int, ssn text)", "INSERT INTO customer VALUES (1, 'c')"], "c"),
    "temporary, of a query": (["CREATE TEMPORARY TABLE customer AS SELECT 1 AS id, 'd' AS ssn"], "d"),
    "of a query": (["CREATE TABLE customer AS SELECT 1 AS id, 'e' AS ssn"], "e"),
    "view": (["CREATE VIEW customer AS SELECT 1 AS id, 'f' AS ssn"], "f"),
}


@pytest.fixture
def app(shop: MySqlStack) -> Iterator[pymysql.Connection]:
    """A connection that wrote a row to the protected table, and is in the other database now."""
    drop_all(shop)
    with shop.connect("app") as connection:
        change(connection, INSERT, ADA)
        connection.select_db("plain")
        try:
            yield connection
        finally:
            drop_all(shop)


def drop_all(shop: MySqlStack) -> None:
    shop.stored("DROP VIEW IF EXISTS plain.customer")
    shop.stored("DROP TABLE IF EXISTS plain.customer, plain.client")


@pytest.mark.parametrize(("statements", "ssn"), DEFINITIONS.values(), ids=DEFINITIONS)
def test_a_protected_name_is_free(shop: MySqlStack, app: pymysql.Connection, statements: list[str], ssn: str) -> None:
    for statement in statements:
        change(app, statement)
    assert ask(app, "SELECT ssn FROM customer") == [(ssn,)]
    assert ask(app, "SELECT ssn FROM shop.customer") == [(ADA[3],)]
    app.select_db("shop")
    assert ask(app, "SELECT ssn FROM customer") == [(ADA[3],)]
    assert ADA[3].encode() not in shop.relay.to_server()


def test_the_same_text_is_refused_where_the_name_is_protected(app: pymysql.Connection) -> None:
    text = "CREATE TEMPORARY TABLE customer (id int, ssn text)"
    change(app, text)
    app.select_db("shop")
    assert "fieldveil" in refusal(app, text)[1]
    change(app, "DROP TEMPORARY TABLE plain.customer")
    assert "fieldveil" in refusal(app, text)[1]
    change(app, "USE plain")
    change(app, text)


@pytest.mark.parametrize("name", ["customer", ".customer", "shop.customer", "`shop` . `customer`"])
def test_a_protected_name_is_not_free_where_it_is_protected(shop: MySqlStack, name: str) -> None:
    with shop.connect("app") as connection:
        change(connection, "CREATE TABLE IF NOT EXISTS plain.client (id int, ssn text)")
        for statement in (
            f"RENAME TABLE plain.client TO {name}",
            f"ALTER TABLE plain.client RENAME TO {name}",
            f"RENAME TABLE {name} TO plain.client2",
            f"ALTER TABLE {name} RENAME COLUMN ssn TO s",
            f"CREATE TEMPORARY TABLE {name} (id int, ssn text)",
        ):
            assert "fieldveil" in refusal(connection, statement)[1], statement
        change(connection, "DROP TABLE plain.client")
