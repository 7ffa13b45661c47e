"""What was written comes back, by every way that MySQL and MariaDB have of asking."""

import pymysql
import pytest
from pymysql.constants import CLIENT

from harness.mysql_stack import MySqlStack
from tests.mysql.asking import all_of, ask, change
from tests.rows import ADA, ALAN, COLUMNS, INSERT, LIST, SELECT


@pytest.fixture
def app(shop: MySqlStack):
    with shop.connect("app") as connection:
        yield connection


def test_row_comes_back(app: pymysql.Connection) -> None:
    for row in (ADA, ALAN):
        change(app, INSERT, row)
    for row in (ADA, ALAN):
        assert ask(app, SELECT, [row[0]]) == [row]
    assert ask(app, "SELECT * FROM customer ORDER BY id") == [ADA, ALAN]
    assert ask(app, "SELECT c.*, 1 FROM customer c WHERE id = 1") == [(*ADA, 1)]


def test_literals_of_every_writing_come_back(app: pymysql.Connection) -> None:
    change(
        app,
        "INSERT INTO customer (id, email, ssn, phone, card, notes) VALUES"
        r" (7, 'tab\tand \'quote\'', "
        "\"double 'quoted'\""
        ", 'it''s', x'4142', 'häßlich ☃')",
    )
    row = ask(app, "SELECT email, ssn, phone, card, notes FROM customer WHERE id = 7")
    assert row == [("tab\tand 'quote'", "double 'quoted'", "it's", "AB", "häßlich ☃")]


WRITES = {
    "backticks": "INSERT INTO `shop`.`customer` (`id`, `ssn`) VALUES (1, 'new')",
    "upper case columns": "INSERT INTO customer (ID, SSN) VALUES (1, 'new')",
    "without columns": "INSERT INTO customer VALUES (1, 'n', 'e', 'new', 'p', 'c', 'n')",
    "set": "INSERT INTO customer SET id = 1, ssn = 'new'",
    "ignore": "INSERT IGNORE INTO customer (id, ssn) VALUES (1, 'new')",
    "replace": "REPLACE INTO customer (id, ssn) VALUES (1, 'new')",
    "replace set": "REPLACE customer SET id = 1, ssn = 'new'",
    "values of the row": "INSERT INTO customer (id, ssn) VALUES (1, 'new') ON DUPLICATE KEY UPDATE ssn = VALUES(ssn)",
    "several rows": "INSERT INTO customer (id, ssn) VALUES (1, 'new'), (2, 'other')",
    "comment": "INSERT /* why */ INTO customer (id, ssn) VALUES (1, 'new') -- how",
}


@pytest.mark.parametrize("statement", WRITES.values(), ids=WRITES)
def test_every_way_of_inserting_seals(shop: MySqlStack, app: pymysql.Connection, statement: str) -> None:
    change(app, statement)
    assert ask(app, "SELECT ssn FROM customer WHERE id = 1") == [("new",)]
    assert shop.stored("SELECT LEFT(ssn, 4) FROM customer WHERE id = 1") == [("fv1.",)]


def test_upsert_seals_the_new_value(shop: MySqlStack, app: pymysql.Connection) -> None:
    change(app, INSERT, ADA)
    upsert = "INSERT INTO customer (id, ssn) VALUES (1, 'second') ON DUPLICATE KEY UPDATE ssn = "
    change(app, upsert + "VALUES(ssn)")
    assert ask(app, "SELECT ssn FROM customer") == [("second",)]
    change(app, upsert + "'third'")
    assert ask(app, "SELECT ssn FROM customer") == [("third",)]
    assert b"third" not in shop.relay.to_server()


def test_returning_gives_opened_values(shop: MySqlStack, app: pymysql.Connection) -> None:
    if shop.server.build.mysql:
        pytest.skip("MySQL has no RETURNING")
    assert ask(app, "INSERT INTO customer (id, ssn) VALUES (1, 'new') RETURNING id, ssn") == [(1, "new")]
    assert ask(app, "DELETE FROM customer WHERE ssn = 'new' RETURNING ssn") == [("new",)]


def test_update_and_delete_by_a_sealed_value(app: pymysql.Connection) -> None:
    for row in (ADA, ALAN):
        change(app, INSERT, row)
    assert change(app, "UPDATE customer SET phone = %s WHERE ssn = %s", ["new", ADA[3]]) == 1
    assert ask(app, "SELECT phone FROM customer WHERE id = 1") == [("new",)]
    assert change(app, "DELETE FROM customer WHERE email = %s", [ALAN[2]]) == 1
    assert ask(app, "SELECT id FROM customer") == [(1,)]


def test_update_and_delete_over_several_tables(shop: MySqlStack, app: pymysql.Connection) -> None:
    shop.stored("CREATE TABLE IF NOT EXISTS visit (id bigint PRIMARY KEY, customer bigint)")
    shop.stored("REPLACE INTO visit VALUES (10, 1)")
    for row in (ADA, ALAN):
        change(app, INSERT, row)
    update = "UPDATE customer c JOIN visit v ON v.customer = c.id SET c.phone = 'visited', v.customer = 2"
    change(app, f"{update} WHERE c.ssn = '{ADA[3]}'")
    assert ask(app, "SELECT phone FROM customer ORDER BY id") == [("visited",), (ALAN[4],)]
    change(app, f"DELETE c FROM customer c JOIN visit v ON v.customer = c.id WHERE c.email = '{ALAN[2]}'")
    assert ask(app, "SELECT id FROM customer") == [(1,)]


def test_null_stays_null(app: pymysql.Connection) -> None:
    change(app, INSERT, ALAN)
    assert ask(app, "SELECT notes FROM customer WHERE notes IS NULL") == [(None,)]
    change(app, "UPDATE customer SET ssn = NULL")
    assert ask(app, "SELECT ssn FROM customer") == [(None,)]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT c.ssn AS number FROM customer AS c WHERE c.id = 1",
        "SELECT a.ssn FROM customer a JOIN customer b ON a.ssn = b.ssn WHERE b.id = 1",
        "SELECT inner_one.s FROM (SELECT ssn AS s, id FROM customer) AS inner_one WHERE inner_one.id = 1",
        "SELECT ssn FROM customer WHERE email IN (SELECT email FROM customer WHERE id = 1)",
        "SELECT ssn FROM customer WHERE ssn IN ('078-05-1120', 'no one')",
        "SELECT `customer`.ssn FROM shop.customer WHERE id = 1 FOR UPDATE",
        "SELECT SSN FROM customer WHERE NOT (id <> 1) ORDER BY id LIMIT 0, 1",
        "SELECT ssn FROM customer WHERE ssn = '078-05-' '1120'",
        "WITH one AS (SELECT ssn FROM customer WHERE id = 1) SELECT ssn FROM one",
    ],
)
def test_query_gives_the_opened_value(app: pymysql.Connection, query: str) -> None:
    for row in (ADA, ALAN):
        change(app, INSERT, row)
    assert ask(app, query) == [(ADA[3],)]


def test_columns_show_their_declared_types(app: pymysql.Connection) -> None:
    with app.cursor() as cursor:
        cursor.execute(f"SELECT {LIST} FROM customer")
        types = {column[0]: column[1] for column in cursor.description}
    assert tuple(types) == COLUMNS
    assert {name: types[name] for name in COLUMNS[1:]} == dict.fromkeys(COLUMNS[1:], types["name"])


def test_transaction_rolls_back(app: pymysql.Connection) -> None:
    app.begin()
    change(app, INSERT, ADA)
    assert ask(app, "SELECT ssn FROM customer") == [(ADA[3],)]
    app.rollback()
    assert ask(app, "SELECT ssn FROM customer") == []


def test_what_the_statement_before_left_is_still_the_clients(app: pymysql.Connection) -> None:
    for row in (ADA, ALAN):
        change(app, INSERT, row)
    change(app, "UPDATE customer SET phone = 'x'")
    assert ask(app, "SELECT ROW_COUNT()") == [(2,)]
    change(app, "INSERT IGNORE INTO customer (id, ssn) VALUES (1, 'again')")
    assert [warning[1] for warning in ask(app, "SHOW WARNINGS")] == [1062]


@pytest.mark.parametrize(
    "question",
    [
        "SELECT ROW_COUNT(), FOUND_ROWS()",
        "SELECT FOUND_ROWS() - ROW_COUNT() AS n, @@local.error_count 'm' FROM DUAL LIMIT 1;",
        "/* who */ SELECT @@warning_count, @@session.warning_count",
        "SELECT ROW_COUNT(), FOUND_ROWS() INTO @n, @m",
        "SELECT @n := FOUND_ROWS(), @m := 1",
        "SET @n = FOUND_ROWS(), @m = @@warning_count",
        "GET DIAGNOSTICS @n = NUMBER, @m = ROW_COUNT",
        "GET CURRENT DIAGNOSTICS CONDITION 1 @n = MYSQL_ERRNO, @m = MESSAGE_TEXT",
        "SHOW WARNINGS LIMIT 5",
        "SHOW COUNT(*) WARNINGS",
        "USE shop; SELECT FOUND_ROWS()",
        "SHOW WARNINGS; SELECT ROW_COUNT()",
    ],
)
def test_what_the_sessions_own_ddl_left_is_as_the_server_tells_it_directly(shop: MySqlStack, question: str) -> None:
    shop.stored("CREATE TABLE IF NOT EXISTS visit (id bigint PRIMARY KEY, customer bigint)")

    def told(connection: pymysql.Connection) -> list:
        change(connection, "SET @n = NULL, @m = NULL")
        ask(connection, "SELECT 1 UNION SELECT 2 UNION SELECT 3")
        # It is there: a warning says so.
        change(connection, "CREATE TABLE IF NOT EXISTS visit (id bigint PRIMARY KEY)")
        return [all_of(connection, question), ask(connection, "SELECT @n, @m")]

    connections = [connect("app", client_flag=CLIENT.MULTI_STATEMENTS) for connect in (shop.direct, shop.connect)]
    direct, through = map(told, connections)
    for connection in connections:
        connection.close()
    assert through == direct


def test_large_values_and_many_rows_come_back(app: pymysql.Connection) -> None:
    # As much as a column of type text holds of it, sealed.
    notes = "long " * 9_000
    change(app, "INSERT INTO customer (id, notes) VALUES (1, %s)", [notes])
    assert ask(app, "SELECT notes FROM customer") == [(notes,)]
    change(app, "DELETE FROM customer")
    rows = [(number, *ADA[1:]) for number in range(1000)]
    with app.cursor() as cursor:
        cursor.executemany(INSERT, rows)
    assert ask(app, f"SELECT {LIST} FROM customer ORDER BY id") == rows


def test_table_of_another_database_is_not_the_protected_one(shop: MySqlStack, app: pymysql.Connection) -> None:
    shop.stored("CREATE TABLE IF NOT EXISTS plain.customer (id bigint, ssn text)")
    shop.stored("TRUNCATE plain.customer")
    change(app, "INSERT INTO plain.customer VALUES (1, 'not sealed')")
    app.select_db("plain")
    change(app, "INSERT INTO customer VALUES (2, 'nor this')")
    # The protected one is so from wherever it is named.
    change(app, "INSERT INTO shop.customer (id, ssn) VALUES (3, 'sealed')")
    change(app, "USE shop")
    change(app, "INSERT INTO customer (id, ssn) VALUES (4, 'sealed too')")
    assert shop.stored("SELECT ssn FROM plain.customer ORDER BY id") == [("not sealed",), ("nor this",)]
    assert shop.stored("SELECT DISTINCT LEFT(ssn, 4) FROM customer") == [("fv1.",)]
    assert ask(app, "SELECT ssn FROM customer ORDER BY id") == [("sealed",), ("sealed too",)]


def test_each_reads_what_the_policy_says(shop: MySqlStack, app: pymysql.Connection) -> None:
    change(app, INSERT, ADA)
    columns = "SELECT email, ssn, phone, notes FROM customer"
    with shop.connect("support") as support:
        assert ask(support, columns) == [("a***@e***.com", "***-**-1120", "*** ** **** 0958", None)]
    with shop.connect("auditor") as auditor:
        (row,) = ask(auditor, columns)
        assert all(value.startswith("fv1.") for value in row)
