"""Answers of every shape pass whole: several result sets, several statements, long packets, rows of other tables."""

from collections.abc import Iterator

import mysql.connector
import pymysql
import pytest
from pymysql.constants import CLIENT

from harness.mysql_stack import MySqlStack
from tests.mysql.asking import all_of, ask, change, refusal
from tests.mysql.test_connecting import connector
from tests.rows import ADA, ALAN, INSERT

# A packet holds a byte less.
PACKET = 1 << 24


@pytest.fixture
def app(shop: MySqlStack) -> Iterator[pymysql.Connection]:
    with shop.connect("app", client_flag=CLIENT.MULTI_STATEMENTS) as connection:
        yield connection


@pytest.fixture
def plain(stack: MySqlStack) -> Iterator[pymysql.Connection]:
    """Where nothing is protected."""
    stack.stored("CREATE TABLE IF NOT EXISTS plain.blob_of (id int PRIMARY KEY, content longblob)")
    stack.stored("TRUNCATE plain.blob_of")
    with stack.connect("app", "plain", max_allowed_packet=1 << 26) as connection:
        yield connection


def test_several_statements_in_one_text_are_each_sealed_and_opened(shop: MySqlStack, app: pymysql.Connection) -> None:
    sets = all_of(app, "INSERT INTO customer (id, ssn) VALUES (1, 'first'); SELECT ssn FROM customer; SELECT 7")
    assert sets == [[], [("first",)], [(7,)]]
    assert b"first" not in shop.relay.to_server()


def test_an_error_in_the_middle_ends_the_text(app: pymysql.Connection) -> None:
    with app.cursor() as cursor:
        cursor.execute("SELECT 1; SELECT 1 FROM nowhere; SELECT 2")
        assert cursor.fetchall() == ((1,),)
        with pytest.raises(pymysql.ProgrammingError):
            cursor.nextset()
    assert ask(app, "SELECT 3") == [(3,)]


def test_a_refused_statement_refuses_the_whole_text(shop: MySqlStack, app: pymysql.Connection) -> None:
    change(app, INSERT, ADA)
    text = "UPDATE customer SET name = 'changed'; SELECT id FROM customer WHERE ssn > '0'"
    assert "customer.ssn" in refusal(app, text)[1]
    assert shop.stored("SELECT name FROM customer") == [(ADA[1],)]


def test_result_sets_of_a_procedure_are_opened(shop: MySqlStack, app: pymysql.Connection) -> None:
    shop.stored("DROP PROCEDURE IF EXISTS both_of")
    shop.stored("CREATE PROCEDURE both_of() BEGIN SELECT ssn FROM customer; SELECT id, email FROM customer; END")
    change(app, INSERT, ADA)
    assert all_of(app, "CALL both_of()")[:2] == [[(ADA[3],)], [(1, ADA[2])]]


@pytest.mark.parametrize("size", [PACKET - 1, PACKET, PACKET + 5, 2 * PACKET], ids=str)
def test_packets_longer_than_one_pass_both_ways(stack: MySqlStack, plain: pymysql.Connection, size: int) -> None:
    content = (bytes(range(256)) * (size // 256 + 1))[:size]
    sender = connector(stack, database="plain")
    with sender.cursor(prepared=True) as cursor:
        cursor.execute("INSERT INTO blob_of VALUES (?, ?)", (1, content))
    sender.close()
    ((stored,),) = ask(plain, "SELECT content FROM blob_of")
    assert (len(stored), stored == content) == (size, True)


def test_a_text_longer_than_what_is_read_of_one_passes_if_it_is_values_of_another_table(
    stack: MySqlStack, plain: pymysql.Connection
) -> None:
    content = (bytes(range(256)) * (PACKET // 256 + 1))[: PACKET + 5]
    with plain.cursor() as cursor:
        cursor.execute("INSERT INTO blob_of VALUES (1, _binary %s)", [content])
        cursor.execute("UPDATE blob_of SET content = _binary %s WHERE id = 1", [content[::-1]])
    ((stored,),) = stack.stored("SELECT content FROM plain.blob_of")
    assert (len(stored), stored == content[::-1]) == (PACKET + 5, True)


@pytest.mark.parametrize("own", ["?", "(?)"], ids=["parameter", "in brackets"])
def test_such_a_text_is_prepared_too(stack: MySqlStack, plain: pymysql.Connection, own: str) -> None:
    content = "prepared " * (PACKET // 9 + 5)
    text = f"INSERT INTO blob_of VALUES (1, '{content}'), ({own}, 'short')"
    sender = connector(stack, database="plain")
    with sender.cursor(prepared=True) as cursor:
        cursor.execute(text, (2,))
        cursor.execute("DELETE FROM blob_of WHERE id = ?", (2,))
    sender.close()
    ((number, stored),) = ask(plain, "SELECT id, content FROM blob_of")
    assert (number, len(stored), stored == content.encode()) == (1, len(content), True)


def test_a_prepared_text_that_is_more_than_values_is_refused(stack: MySqlStack) -> None:
    stack.stored("TRUNCATE plain.blob_of")
    stack.relay.forget()
    sender = connector(stack, database="plain")
    query = "(SELECT ssn FROM shop.customer WHERE ssn = 'canary-of-prepared')"
    with sender.cursor(prepared=True) as cursor:
        with pytest.raises(mysql.connector.Error) as raised:
            cursor.execute(f"INSERT INTO blob_of VALUES (?, '{'x' * PACKET}'), (2, {query})", (1,))
        assert raised.value.errno == 1153
        cursor.execute("INSERT INTO blob_of VALUES (?, 'short')", (1,))
    sender.close()
    assert b"canary-of-prepared" not in stack.relay.to_server()
    assert stack.stored("SELECT id FROM plain.blob_of") == [(1,)]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT LENGTH(_binary %s)",
        "INSERT INTO shop.customer (id, ssn) VALUES (1, %s)",
        "INSERT INTO blob_of VALUES (1, %s); INSERT INTO shop.customer (id, ssn) VALUES (1, 'canary-of-length')",
        "INSERT INTO blob_of VALUES (1, %s), (2, (SELECT ssn FROM shop.customer WHERE ssn = 'canary-of-length'))",
    ],
)
def test_any_other_of_that_length_is_refused(stack: MySqlStack, text: str) -> None:
    stack.stored("TRUNCATE plain.blob_of")
    stack.relay.forget()
    options = {"client_flag": CLIENT.MULTI_STATEMENTS, "max_allowed_packet": 1 << 26}
    with stack.connect("app", "plain", **options) as plain:
        assert refusal(plain, text, [bytes(PACKET + 5)])[0] == 1153
        assert ask(plain, "SELECT COUNT(*) FROM blob_of") == [(0,)]
    assert b"canary-of-length" not in stack.relay.to_server()


def test_rows_fetched_one_by_one_are_opened(shop: MySqlStack, app: pymysql.Connection) -> None:
    for row in (ADA, ALAN):
        change(app, INSERT, row)
    with app.cursor(pymysql.cursors.SSCursor) as cursor:
        cursor.execute("SELECT ssn FROM customer ORDER BY id")
        assert [cursor.fetchone(), cursor.fetchone(), cursor.fetchone()] == [(ADA[3],), (ALAN[3],), None]


def test_other_commands_and_statements_pass(app: pymysql.Connection) -> None:
    for statement in ("SHOW TABLES", "SHOW CREATE TABLE customer", "DESCRIBE customer", "EXPLAIN SELECT 1", "SELECT 1"):
        assert ask(app, statement)
    for statement in ("SET @a = 1", "SET SESSION wait_timeout = 100", "SET NAMES utf8mb4"):
        assert ask(app, statement) == []
    assert ask(app, "SELECT @a") == [(1,)]


def test_a_file_of_the_clients_is_loaded_sealed_or_refused(shop: MySqlStack, tmp_path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("1\tloaded-canary\n")
    with shop.connect("app", local_infile=True) as app:
        load = f"LOAD DATA LOCAL INFILE '{file}' INTO TABLE customer (id, ssn)"
        told = ""
        try:
            change(app, load)
        except pymysql.MySQLError as refused:
            told = str(refused)
        if told:
            assert "customer.ssn" in told
        assert ask(app, "SELECT ssn FROM customer") == ([] if told else [("loaded-canary",)])
    assert b"loaded-canary" not in shop.relay.to_server()


def test_a_file_of_the_clients_is_loaded_where_the_statement_names_it(shop: MySqlStack, tmp_path) -> None:
    file = tmp_path / "Ada's röws.csv"
    file.write_text("1\tone\n")
    name = str(file).replace("'", "\\'")
    with shop.connect("app", local_infile=True) as app:
        change(app, "CREATE TEMPORARY TABLE loaded (id int, what text)")
        assert change(app, f"LOAD DATA LOCAL INFILE '{name}' INTO TABLE loaded") == 1
        assert ask(app, "SELECT id, what FROM loaded") == [(1, "one")]
