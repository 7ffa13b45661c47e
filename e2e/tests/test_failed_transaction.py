"""In a failed transaction every statement gets the server's own answer, and none of its values reaches the server."""

from contextlib import ExitStack

import psycopg
import pytest
from psycopg import pq

from harness import Stack

CANARY = "123-45-6789-canary"
STATEMENTS = [
    "SELECT 1",
    f"INSERT INTO customer (id, ssn) VALUES (1, '{CANARY}')",
    "COPY customer (id, ssn) FROM STDIN",
    # As psql sends the rows of a COPY that was refused.
    f"1\t{CANARY}",
    "SELECT upper(ssn) FROM customer",
    "DECLARE c CURSOR FOR SELECT ssn FROM customer",
    "PREPARE p AS SELECT ssn FROM customer",
    "EXECUTE p",
    "SAVEPOINT s",
]


def answer(result: pq.abc.PGresult) -> dict[str, bytes | None]:
    return {field.name: result.error_field(field) for field in pq.DiagnosticField}


def fail(connection: psycopg.Connection) -> None:
    """Has a transaction fail in which the catalog may have changed, so that it would have to be read again."""
    connection.execute("BEGIN")
    connection.execute("CREATE TEMP TABLE other (id int)")
    with pytest.raises(psycopg.errors.DivisionByZero):
        connection.execute("SELECT 1/0")
    assert connection.info.transaction_status == pq.TransactionStatus.INERROR


@pytest.mark.parametrize("protocol", ["simple", "extended"])
def test_answer_is_the_servers_own(shop: Stack, protocol: str) -> None:
    with ExitStack() as sessions:
        through, direct = (sessions.enter_context(connect("app")) for connect in (shop.connect, shop.direct))
        for connection in (through, direct):
            fail(connection)
        for statement in STATEMENTS:
            told = [
                answer(
                    connection.pgconn.exec_(statement.encode())
                    if protocol == "simple"
                    else connection.pgconn.exec_params(statement.encode(), None)
                )
                for connection in (through, direct)
            ]
            # The server says of what is no SQL that it is none. It does not get to see such a text.
            if CANARY not in statement or statement.startswith("INSERT"):
                assert told[0] == told[1], statement
            assert told[0]["SQLSTATE"] == b"25P02", statement
            assert through.info.transaction_status == pq.TransactionStatus.INERROR
        assert CANARY.encode() not in shop.relay.to_server()
        # An empty text is none that fails.
        assert through.pgconn.exec_(b" ; ").status == pq.ExecStatus.EMPTY_QUERY
        through.execute("ROLLBACK")
        assert through.execute("SELECT count(*) FROM customer").fetchone() == (0,)


def test_prepared_statement_gets_it_too(shop: Stack) -> None:
    with shop.connect("app") as through, shop.direct("app") as direct:
        told = []
        for connection in (through, direct):
            prepared = connection.pgconn.prepare(b"p", b"SELECT ssn FROM customer WHERE ssn = $1")
            assert prepared.status == pq.ExecStatus.COMMAND_OK
            fail(connection)
            told.append(answer(connection.pgconn.exec_prepared(b"p", [CANARY.encode()])))
            connection.execute("ROLLBACK")
        assert told[0] == told[1]
        assert told[0]["SQLSTATE"] == b"25P02"
        assert through.pgconn.exec_prepared(b"p", [CANARY.encode()]).status == pq.ExecStatus.TUPLES_OK


@pytest.mark.parametrize("knows_catalog", [True, False])
def test_what_is_refused_behind_the_end_of_the_transaction_says_why(shop: Stack, knows_catalog: bool) -> None:
    with shop.connect("app") as app:
        app.execute("BEGIN")
        app.execute("SELECT ssn FROM customer" if knows_catalog else "SELECT set_config('search_path', 'public', true)")
        with pytest.raises(psycopg.errors.DivisionByZero):
            app.execute("SELECT 1/0")
        told = answer(app.pgconn.exec_(f"ROLLBACK; SELECT upper(ssn) FROM customer WHERE ssn = '{CANARY}'".encode()))
        assert told["SQLSTATE"] == b"0A000"
        reason = b"customer.ssn is sealed" if knows_catalog else b"the catalog cannot be read"
        assert reason in told["MESSAGE_PRIMARY"]
        # Nothing of the text was done.
        assert app.info.transaction_status == pq.TransactionStatus.INERROR
        assert CANARY.encode() not in shop.relay.to_server()
        app.execute("ROLLBACK")
        assert app.execute("SELECT count(*) FROM customer").fetchone() == (0,)
