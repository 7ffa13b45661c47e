"""Views of MySQL and MariaDB: each is known by what it shows before a statement names it."""

from collections.abc import Iterator

import pymysql
import pytest
from pymysql.constants import CLIENT

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


@pytest.fixture
def veiled(shop: MySqlStack) -> Iterator[MySqlStack]:
    """Views upon a view in a database of which the application may see nothing; one upon a table that it may see."""
    made = ("CREATE DATABASE apart", "CREATE TABLE plain.own (id int, note text)")
    views = {
        "apart.hidden": "SELECT id, ssn FROM shop.customer",
        "plain.upon": "SELECT id, ssn FROM apart.hidden",
        "plain.above": "SELECT id, ssn AS number FROM plain.upon",
        "plain.merged": "SELECT own.note, (SELECT count(*) FROM plain.own) AS n FROM plain.own",
    }
    try:
        for statement in (*made, *(f"CREATE VIEW {name} AS {query}" for name, query in views.items())):
            shop.stored(statement)
        yield shop
    finally:
        shop.stored(f"DROP VIEW IF EXISTS {', '.join(views)}")
        shop.stored("DROP TABLE plain.own")
        shop.stored("DROP DATABASE apart")


WRITES = (
    "INSERT INTO plain.upon (id, ssn) VALUES (9, %s)",
    "REPLACE INTO plain.above (id, number) VALUES (9, %s)",
    "UPDATE plain.above SET number = %s",
    "UPDATE plain.own RIGHT JOIN plain.upon u ON true SET u.ssn = %s",
    "CREATE VIEW plain.more AS SELECT id, ssn FROM plain.upon; INSERT INTO plain.more VALUES (9, %s)",
)


def test_what_stands_upon_what_may_not_be_seen_is_read_as_it_is_stored_and_not_written(veiled: MySqlStack) -> None:
    with veiled.connect("app", client_flag=CLIENT.MULTI_STATEMENTS) as app:
        change(app, INSERT, ADA)
        for query in ("SELECT ssn FROM plain.upon", "SELECT number FROM plain.above WHERE id = 1"):
            ((ssn,),) = ask(app, query)
            assert ssn.startswith("fv1."), query
        for write in WRITES:
            assert "may not see" in (said := refusal(app, write, ("219-09-9999",))[1]) or "names mean" in said, write
    assert b"219-09-9999" not in veiled.relay.to_server()
    assert veiled.stored("SELECT count(*) FROM shop.customer") == [(1,)]


def test_view_upon_what_may_be_seen_is_written(veiled: MySqlStack) -> None:
    veiled.stored("CREATE OR REPLACE VIEW plain.merged AS SELECT id, note FROM plain.own")
    with veiled.connect("app") as app:
        change(app, "INSERT INTO plain.merged VALUES (1, 'a note')")
        assert ask(app, "SELECT note FROM plain.merged") == [("a note",)]


def test_view_among_the_servers_own_is_known_too(shop: MySqlStack) -> None:
    shop.stored("CREATE VIEW sys.shown AS SELECT id, ssn AS number FROM shop.customer")
    try:
        shop.stored("GRANT SELECT, INSERT, SHOW VIEW ON sys.* TO app")
        with shop.connect("app") as app:
            change(app, INSERT, ADA)
            assert ask(app, "SELECT number FROM sys.shown") == [(ADA[3],)]
            assert "fieldveil" in refusal(app, "INSERT INTO sys.shown VALUES (9, '219-09-9999')")[1]
    finally:
        shop.stored("REVOKE SELECT, INSERT, SHOW VIEW ON sys.* FROM app")
        shop.stored("DROP VIEW sys.shown")
