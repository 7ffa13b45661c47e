"""What can't be done is refused with a code, a label, a reason and a remedy, and the session goes on."""

import psycopg
import pytest
from psycopg import pq

from harness import Stack
from tests.rows import ADA, INSERT

NOT_SUPPORTED = "0A000"

# Statements with the label that the refusal must name; none where the statement concerns a whole table.
REFUSED = [
    ("SELECT id FROM customer WHERE ssn LIKE '078%'", "customer.ssn"),
    ("SELECT id FROM customer WHERE ssn > '0'", "customer.ssn"),
    ("SELECT id FROM customer WHERE card = '4111 1111 1111 1111'", "customer.card"),
    ("SELECT id FROM customer ORDER BY email", "customer.email"),
    ("SELECT upper(email) FROM customer", "customer.email"),
    ("SELECT ssn || '!' FROM customer", "customer.ssn"),
    ("SELECT ssn::int FROM customer WHERE id = 1", "customer.ssn"),
    ("WITH c AS (SELECT ssn FROM customer) SELECT upper(ssn) FROM c", "customer.ssn"),
    ("COPY (SELECT upper(ssn) FROM customer) TO STDOUT", "customer.ssn"),
    ("PREPARE p AS SELECT upper(ssn) FROM customer", "customer.ssn"),
    ("DECLARE c CURSOR FOR SELECT upper(ssn) FROM customer", "customer.ssn"),
    ("SELECT max(ssn) FROM customer", "customer.ssn"),
    ("SELECT customer FROM customer", "customer.email"),
    ("SELECT row_to_json(c) FROM customer c", "customer.email"),
    ("UPDATE customer SET ssn = name", "customer.ssn"),
    ("UPDATE customer SET name = ssn", "customer.ssn"),
    ("UPDATE customer SET ssn = ssn || 'x'", "customer.ssn"),
    ("INSERT INTO customer (id, ssn) SELECT 2, name FROM customer", "customer.ssn"),
    ("INSERT INTO customer (id, ssn) VALUES (2, lower('X'))", "customer.ssn"),
    ("CREATE TABLE copied AS SELECT email FROM customer", "customer.email"),
    ("DO $$ BEGIN PERFORM ssn FROM customer; END $$", "customer.email"),
    ("SELEC ssn FROM customer", "customer.email"),
]


@pytest.fixture
def app(shop: Stack):
    with shop.connect("app") as connection:
        connection.execute(INSERT, ADA)
        shop.relay.forget()
        yield connection


def ids(case: tuple) -> str:
    return case[0]


@pytest.mark.parametrize("protocol", ["simple", "extended"])
@pytest.mark.parametrize("case", REFUSED, ids=ids)
def test_statement_is_refused_and_nothing_of_it_forwarded(shop: Stack, app, case: tuple, protocol: str) -> None:
    statement, named = case
    run = app.pgconn.exec_ if protocol == "simple" else lambda text: app.pgconn.exec_params(text, None)
    result = run(statement.encode())
    assert result.status == pq.ExecStatus.FATAL_ERROR
    assert result.error_field(pq.DiagnosticField.SQLSTATE) == NOT_SUPPORTED.encode()
    assert named in result.error_field(pq.DiagnosticField.MESSAGE_PRIMARY).decode()
    assert result.error_field(pq.DiagnosticField.MESSAGE_HINT)
    assert statement.encode() not in shop.relay.to_server()
    # The session is as good as before.
    assert app.info.transaction_status == pq.TransactionStatus.IDLE
    assert app.execute("SELECT ssn FROM customer").fetchone() == (ADA[3],)


def test_refusal_in_a_transaction_fails_it_as_an_error_does(app: psycopg.Connection) -> None:
    app.execute("BEGIN")
    app.execute("UPDATE customer SET phone = 'changed'")
    with pytest.raises(psycopg.errors.FeatureNotSupported):
        app.execute("SELECT id FROM customer WHERE ssn LIKE '0%'")
    assert app.info.transaction_status == pq.TransactionStatus.INERROR
    with pytest.raises(psycopg.errors.InFailedSqlTransaction):
        app.execute("SELECT 1")
    app.execute("ROLLBACK")
    assert app.execute("SELECT phone FROM customer").fetchone() == (ADA[4],)


def test_refusal_after_a_savepoint_can_be_rolled_back_to_it(app: psycopg.Connection) -> None:
    with app.transaction():
        app.execute("UPDATE customer SET phone = 'kept'")
        with pytest.raises(psycopg.errors.FeatureNotSupported), app.transaction():
            app.execute("SELECT upper(ssn) FROM customer")
    assert app.execute("SELECT phone FROM customer").fetchone() == ("kept",)


def test_refusal_in_a_pipeline_comes_in_its_turn(shop: Stack, app: psycopg.Connection) -> None:
    # The driver raises as soon as it has read the error: at any of the statements from then on.
    with pytest.raises(psycopg.errors.FeatureNotSupported), app.pipeline() as pipeline:  # noqa: PT012
        before = app.execute("SELECT ssn FROM customer WHERE id = %s", [1])
        pipeline.sync()
        app.execute("SELECT id FROM customer WHERE ssn LIKE %s", ["0%"])
        app.execute("UPDATE customer SET phone = %s", ["must not be"])
        pipeline.sync()
    assert before.fetchone() == (ADA[3],)
    assert app.execute("SELECT phone FROM customer").fetchone() == (ADA[4],)


def test_refused_prepare_is_an_error_at_parse_and_the_name_stays_free(app: psycopg.Connection) -> None:
    connection = app.pgconn
    refused = connection.prepare(b"one", b"SELECT upper(ssn) FROM customer")
    assert refused.error_field(pq.DiagnosticField.SQLSTATE) == NOT_SUPPORTED.encode()
    assert connection.prepare(b"one", b"SELECT ssn FROM customer").status == pq.ExecStatus.COMMAND_OK
    assert connection.exec_prepared(b"one", None).get_value(0, 0) == ADA[3].encode()


def test_statement_behind_a_change_of_the_catalog_in_one_text_is_refused(app: psycopg.Connection) -> None:
    result = app.pgconn.exec_(b"SET search_path = public; SELECT ssn FROM customer")
    assert result.error_field(pq.DiagnosticField.SQLSTATE) == NOT_SUPPORTED.encode()


def test_servers_own_errors_pass_as_they_are(app: psycopg.Connection) -> None:
    with pytest.raises(psycopg.errors.UniqueViolation) as violation:
        app.execute(INSERT, ADA)
    assert violation.value.diag.constraint_name == "customer_pkey"
    with pytest.raises(psycopg.errors.UndefinedColumn):
        app.execute("SELECT nothing FROM customer")
