"""Prepared statements and cursors of SQL, portals, and what else a session holds."""

import asyncio

import asyncpg
import psycopg
import pytest
from psycopg import pq

from harness import Stack
from harness import shop as example
from harness.waiting import patience
from tests.rows import ADA, ALAN, INSERT


@pytest.fixture
def app(shop: Stack):
    with shop.connect("app") as connection:
        for row in (ADA, ALAN):
            connection.execute(INSERT, row)
        shop.relay.forget()
        yield connection


def test_statement_prepared_in_sql_seals_the_values_it_is_executed_with(shop: Stack, app: psycopg.Connection) -> None:
    app.execute("PREPARE put (bigint, text) AS INSERT INTO customer (id, ssn) VALUES ($1, $2)")
    app.execute("PREPARE find AS SELECT id, ssn FROM customer WHERE ssn = $1")
    app.execute("EXECUTE put (7, 'a sealed one')")
    assert app.execute("EXECUTE find ('a sealed one')").fetchall() == [(7, "a sealed one")]
    assert b"a sealed one" not in shop.relay.to_server()
    app.execute("DEALLOCATE find")
    with pytest.raises(psycopg.errors.InvalidSqlStatementName):
        app.execute("EXECUTE find ('x')")
    with pytest.raises(psycopg.errors.DuplicatePreparedStatement):
        app.execute("PREPARE put AS SELECT id FROM customer WHERE name = $1")
    app.execute("EXECUTE put (8, 'still the first')")
    assert app.execute("SELECT ssn FROM customer WHERE id = 8").fetchone() == ("still the first",)
    app.execute("DISCARD ALL")


def test_prepared_statement_does_not_outlive_what_its_names_mean(shop: Stack, app: psycopg.Connection) -> None:
    with shop.direct() as direct:
        direct.execute("CREATE SCHEMA IF NOT EXISTS apart")
        direct.execute("CREATE TABLE IF NOT EXISTS apart.customer (id bigint, ssn text)")
        direct.execute("GRANT ALL ON SCHEMA apart TO app")
        direct.execute("GRANT ALL ON apart.customer TO app")
    app.execute("SET search_path = apart")
    app.execute("PREPARE put AS INSERT INTO customer (id, ssn) VALUES ($1, $2)")
    app.pgconn.prepare(b"again", b"EXECUTE put (1, 'plain there')")
    app.execute("SET search_path = public")
    shop.relay.forget()
    with pytest.raises(psycopg.errors.FeatureNotSupported):
        app.execute("EXECUTE put (9, 'secret here')")
    assert app.pgconn.exec_prepared(b"again", None).error_field(pq.DiagnosticField.SQLSTATE) == b"0A000"
    assert b"secret here" not in shop.relay.to_server()
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="CREATE with EXECUTE"):
        app.execute("CREATE TABLE made AS EXECUTE put (9, 'secret here')")
    assert app.execute("SELECT count(*) FROM customer").fetchone() == (2,)


def test_statement_prepared_in_the_protocol_is_not_executed_in_sql(shop: Stack, app: psycopg.Connection) -> None:
    app.pgconn.prepare(b"by_protocol", b"SELECT id, ssn FROM customer WHERE ssn = $1")
    with pytest.raises(psycopg.errors.FeatureNotSupported):
        app.execute("EXECUTE by_protocol ('078-05-1120')")
    assert ADA[3].encode() not in shop.relay.to_server()


def test_name_that_is_given_twice_means_what_the_server_has(shop: Stack, app: psycopg.Connection) -> None:
    connection = app.pgconn
    connection.prepare(b"x", b"SELECT $1::text, $2::text")
    app.execute("DISCARD ALL")
    app.execute("PREPARE x (text, text) AS UPDATE customer SET email = $1 WHERE name = $2")
    assert connection.exec_prepared(b"x", [b"secret", b"Ada"]).status == pq.ExecStatus.FATAL_ERROR
    with pytest.raises(psycopg.errors.DuplicatePreparedStatement):
        app.execute("PREPARE x (text) AS SELECT $1")
    app.execute("EXECUTE x ('not in clear', 'Ada')")
    assert app.execute("SELECT email FROM customer WHERE id = 1").fetchone() == ("not in clear",)
    assert b"not in clear" not in shop.relay.to_server()


@pytest.mark.parametrize("binary", [False, True])
def test_cursor_gives_opened_rows(app: psycopg.Connection, binary: bool) -> None:
    with app.transaction(), app.cursor("named", binary=binary) as cursor:
        cursor.itersize = 1
        cursor.execute("SELECT id, ssn FROM customer WHERE ssn <> %s ORDER BY id", ["none"])
        assert list(cursor) == [(1, ADA[3]), (2, ALAN[3])]
        cursor.scroll(0, mode="absolute")
        assert cursor.fetchone() == (1, ADA[3])


def test_cursor_is_declared_fetched_moved_and_closed_in_simple_queries(app: psycopg.Connection) -> None:
    connection = app.pgconn

    def run(text: bytes) -> list[list[bytes]]:
        result = connection.exec_(text)
        assert result.status in {pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK}, result.error_message
        return [[result.get_value(row, column) for column in range(result.nfields)] for row in range(result.ntuples)]

    run(b"BEGIN")
    run(b"DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT id, ssn FROM customer UNION ALL SELECT 3, NULL ORDER BY 1")
    assert run(b"FETCH NEXT FROM c") == [[b"1", ADA[3].encode()]]
    run(b"MOVE FORWARD 1 IN c")
    run(b"COMMIT")
    assert run(b"FETCH BACKWARD 1 FROM c") == [[b"1", ADA[3].encode()]]
    run(b"CLOSE c")
    run(b"BEGIN")
    run(b"DECLARE b BINARY CURSOR FOR SELECT id, ssn FROM customer ORDER BY id")
    assert run(b"FETCH ALL FROM b") == [[bytes(7) + b"\1", ADA[3].encode()], [bytes(7) + b"\2", ALAN[3].encode()]]
    run(b"ROLLBACK")


def test_fetch_that_is_prepared_once_gives_each_cursor_its_own_columns(app: psycopg.Connection) -> None:
    connection = app.pgconn
    for query, row in [
        (b"SELECT id, ssn FROM customer", [b"1", ADA[3].encode()]),
        (b"SELECT card FROM customer", [ADA[5].encode()]),
    ]:
        connection.exec_(b"BEGIN")
        connection.exec_(b"DECLARE again CURSOR FOR " + query + b" ORDER BY id")
        if query.startswith(b"SELECT id"):
            assert connection.prepare(b"fetching", b"FETCH 1 FROM again").status == pq.ExecStatus.COMMAND_OK
        result = connection.exec_prepared(b"fetching", None)
        assert [result.get_value(0, column) for column in range(result.nfields)] == row
        connection.exec_(b"ROLLBACK")


def test_refused_cursor_leaves_the_transaction_as_an_error_does(app: psycopg.Connection) -> None:
    with pytest.raises(psycopg.errors.FeatureNotSupported), app.transaction():
        app.execute("DECLARE c CURSOR FOR SELECT upper(ssn) FROM customer")
    assert app.execute("SELECT ssn FROM customer WHERE id = 1").fetchone() == (ADA[3],)


def test_notifications_pass(shop: Stack, app: psycopg.Connection) -> None:
    app.execute("LISTEN customer")
    with shop.connect("app") as other:
        other.execute("NOTIFY customer, 'hello'")
    (notification,) = app.notifies(timeout=patience(), stop_after=1)
    assert (notification.channel, notification.payload) == ("customer", "hello")


def test_portal_with_a_row_limit_goes_on_where_it_stopped(shop: Stack, app: psycopg.Connection) -> None:
    async def read() -> list[list[tuple]]:
        connection = await asyncpg.connect(
            host=str(shop.socket_dir), user="app", password=example.PASSWORD, database=example.DATABASE
        )
        try:
            async with connection.transaction():
                cursor = await connection.cursor("SELECT id, ssn FROM customer WHERE ssn <> $1 ORDER BY id", "none")
                return [[tuple(row) for row in await cursor.fetch(1)] for _ in range(3)]
        finally:
            await connection.close()

    assert asyncio.run(read()) == [[(1, ADA[3])], [(2, ALAN[3])], []]


def test_statement_behind_one_that_fails_in_a_pipeline_is_answered(app: psycopg.Connection) -> None:
    with pytest.raises(psycopg.errors.UndefinedTable), app.pipeline():  # noqa: PT012
        app.execute("ALTER TABLE nothing ADD x int")
        app.execute("SELECT ssn FROM customer")
    assert app.execute("SELECT ssn FROM customer WHERE id = 1").fetchone() == (ADA[3],)
