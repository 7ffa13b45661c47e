"""Views of MySQL and MariaDB: each is known by what it shows before a statement names it."""

from collections.abc import Iterator

import pymysql
import pytest

from harness.mysql_stack import MySqlStack
from tests.mysql.asking import ask, change, refusal
from tests.rows import ADA, INSERT

MANY = 40
VIEWS = {
    "shop.shown": "SELECT id, ssn AS number FROM shop.customer",
    "shop.above": "SELECT number AS x FROM shop.shown",
    "shop.computed": "SELECT concat(ssn, '!') AS x FROM shop.customer",
    "plain.elsewhere": "SELECT ssn FROM shop.customer",
    "plain.other": "SELECT 1 AS one",
    # What the server can not open: its table is gone.
    "plain.broken": "SELECT customer.ssn FROM plain.gone AS customer",
} | {f"plain.v{number}": "SELECT id, ssn FROM shop.customer" for number in range(MANY)}


@pytest.fixture
def views(shop: MySqlStack) -> Iterator[MySqlStack]:
    shop.stored("CREATE TABLE plain.gone (ssn int)")
    try:
        for name, query in VIEWS.items():
            shop.stored(f"CREATE VIEW {name} AS {query}")
        shop.stored("DROP TABLE plain.gone")
        yield shop
    finally:
        shop.stored(f"DROP VIEW IF EXISTS {', '.join(VIEWS)}")
        shop.stored("DROP TABLE IF EXISTS plain.gone")


@pytest.fixture
def app(views: MySqlStack) -> Iterator[pymysql.Connection]:
    """A connection that was opened when the views were there, with a row."""
    with views.connect("app") as connection:
        change(connection, INSERT, ADA)
        yield connection


def test_views_show_what_their_columns_are(views: MySqlStack, app: pymysql.Connection) -> None:
    ssn = ask(app, "SELECT ssn FROM customer")[0][0]
    assert ask(app, "SELECT number FROM shown WHERE number = %s", (ssn,)) == [(ssn,)]
    for query in ("SELECT x FROM above", "SELECT ssn FROM plain.elsewhere", f"SELECT ssn FROM plain.v{MANY - 1}"):
        assert ask(app, query) == [(ssn,)], query
    assert ask(app, "SELECT one FROM plain.other") == [(1,)]
    assert ssn.encode() not in views.relay.to_server()


def test_view_that_computes_with_a_protected_column_can_not_be_named(app: pymysql.Connection) -> None:
    assert "fieldveil" in refusal(app, "SELECT x FROM computed")[1]


def test_view_whose_text_may_not_be_seen_can_not_be_named(shop: MySqlStack) -> None:
    shop.stored("CREATE DATABASE apart")
    try:
        shop.stored("CREATE VIEW apart.hidden AS SELECT ssn FROM shop.customer")
        shop.stored("GRANT SELECT ON apart.* TO app")
        with shop.connect("app") as connection:
            assert "fieldveil" in refusal(connection, "SELECT ssn FROM apart.hidden")[1]
    finally:
        shop.stored("REVOKE SELECT ON apart.* FROM app")
        shop.stored("DROP DATABASE apart")
