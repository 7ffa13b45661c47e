"""What can't be done is refused with a number, a label, a reason and a remedy, and the session goes on."""

import pymysql
import pytest

from harness.mysql_stack import MySqlStack
from tests.mysql.asking import ask, change, refusal
from tests.rows import ADA, INSERT

NOT_SUPPORTED, NOT_UNDERSTOOD, NOT_ALLOWED, COLUMN_NOT_ALLOWED = 1235, 1064, 1142, 1143

# Statements with the label that the refusal must name.
REFUSED = [
    ("SELECT id FROM customer WHERE ssn LIKE '078%%'", "customer.ssn"),
    ("SELECT id FROM customer WHERE ssn > '0'", "customer.ssn"),
    ("SELECT id FROM customer WHERE card = '4111 1111 1111 1111'", "customer.card"),
    ("SELECT id FROM customer ORDER BY email", "customer.email"),
    ("SELECT UPPER(email) FROM customer", "customer.email"),
    ("SELECT CONCAT(ssn, '!') FROM customer", "customer.ssn"),
    ("SELECT CAST(ssn AS SIGNED) FROM customer WHERE id = 1", "customer.ssn"),
    ("SELECT MAX(ssn) FROM customer", "customer.ssn"),
    ("SELECT GROUP_CONCAT(ssn) FROM customer", "customer.ssn"),
    ("SELECT id FROM customer WHERE ssn REGEXP '^0'", "customer.ssn"),
    ("SELECT ssn INTO @x FROM customer", "customer.ssn"),
    ("UPDATE customer SET ssn = name", "customer.ssn"),
    ("UPDATE customer SET name = ssn", "customer.ssn"),
    ("UPDATE customer SET ssn = CONCAT(ssn, 'x')", "customer.ssn"),
    ("INSERT INTO customer (id, ssn) SELECT 2, name FROM customer", "customer.ssn"),
    ("INSERT INTO customer (id, ssn) VALUES (2, LOWER('X'))", "customer.ssn"),
    ("INSERT INTO customer (id, ssn) VALUES (1, 'x') ON DUPLICATE KEY UPDATE ssn = name", "customer.ssn"),
    ("REPLACE INTO customer (id, ssn) SELECT 2, name FROM customer", "customer.ssn"),
    ("CREATE TABLE copied AS SELECT email FROM customer", "customer.email"),
    ("PREPARE p FROM 'SELECT UPPER(ssn) FROM customer'", "customer.ssn"),
    ("SELEC ssn FROM customer", "customer."),
    ("SELECT /*!50000 ssn, */ id FROM customer", "customer."),
]


@pytest.fixture
def app(shop: MySqlStack):
    with shop.connect("app") as connection:
        change(connection, INSERT, ADA)
        shop.relay.forget()
        yield connection


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case[0])
def test_statement_is_refused_and_nothing_of_it_forwarded(shop: MySqlStack, app, case: tuple[str, str]) -> None:
    statement, named = case[0].replace("%%", "%"), case[1]
    number, text = refusal(app, statement)
    assert number in (NOT_SUPPORTED, NOT_UNDERSTOOD)
    assert named in text
    assert statement.encode() not in shop.relay.to_server()
    # The session is as good as before.
    assert ask(app, "SELECT ssn FROM customer") == [(ADA[3],)]


@pytest.mark.parametrize(
    "statement",
    ["INSERT INTO customer (id, ssn) VALUES (2, 'x')", "UPDATE customer SET ssn = 'x'", "SELECT ssn FROM customer"],
)
def test_what_the_policy_does_not_allow_is_refused_as_a_server_does(shop: MySqlStack, app, statement: str) -> None:
    with shop.connect("intern") as intern:
        number, text = refusal(intern, statement)
        assert number in (NOT_ALLOWED, COLUMN_NOT_ALLOWED)
        assert "customer.ssn" in text
        assert ask(intern, "SELECT id FROM customer") == [(1,)]


def test_a_refusal_leaves_the_transaction_to_the_client(app: pymysql.Connection) -> None:
    app.begin()
    change(app, "UPDATE customer SET phone = 'changed'")
    assert refusal(app, "SELECT id FROM customer WHERE ssn LIKE '0%'")[0] == NOT_SUPPORTED
    assert ask(app, "SELECT phone FROM customer") == [("changed",)]
    app.rollback()
    assert ask(app, "SELECT phone FROM customer") == [(ADA[4],)]


def test_servers_own_errors_pass_as_they_are(app: pymysql.Connection) -> None:
    number, text = refusal(app, INSERT, ADA)
    assert (number, "Duplicate entry '1'" in text) == (1062, True)
    assert refusal(app, "SELECT nothing FROM customer")[0] in (1054, NOT_UNDERSTOOD)
    assert refusal(app, "SELECT 1 FROM nowhere")[0] == 1146


@pytest.mark.parametrize("harm", ["cut short", "another label's", "plaintext"])
def test_value_that_does_not_open_is_an_error_that_names_its_label(shop: MySqlStack, app, harm: str) -> None:
    harms = {
        "cut short": "UPDATE customer SET ssn = LEFT(ssn, 40)",
        "another label's": "UPDATE customer SET ssn = email",
        "plaintext": "UPDATE customer SET ssn = 'planted'",
    }
    shop.stored(harms[harm])
    _, text = refusal(app, "SELECT ssn FROM customer")
    assert "customer.ssn" in text
    assert "planted" not in text
    # The columns beside it are as good as ever, and so is the session.
    assert ask(app, "SELECT phone FROM customer") == [(ADA[4],)]


@pytest.mark.parametrize("command", [0x12, 0x15], ids=["binlog dump", "register slave"])
def test_replication_is_refused(app: pymysql.Connection, command: int) -> None:
    app._execute_command(command, b"\x04\x00\x00\x00\x00\x00\x01\x00\x00\x00")
    with pytest.raises(pymysql.MySQLError):
        app._read_packet()
