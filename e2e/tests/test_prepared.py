"""PREPARE and EXECUTE beside protected tables: what concerns none of them is answered as by the server itself."""

import select
from collections.abc import Callable

import psycopg
import pytest
from psycopg import pq

from harness import Stack
from harness.waiting import patience
from tests.rows import ADA, INSERT

FIELDS = tuple(pq.DiagnosticField)
PREPARED = """SELECT name, statement, parameter_types::text, from_sql, generic_plans, custom_plans
FROM pg_prepared_statements ORDER BY 1"""
QUIETLY = "COSTS off, TIMING off, SUMMARY off, BUFFERS off"

Run = Callable[[pq.abc.PGconn, bytes], pq.abc.PGresult]


def simple(connection: pq.abc.PGconn, text: bytes) -> pq.abc.PGresult:
    return connection.exec_(text)


def extended(connection: pq.abc.PGconn, text: bytes) -> pq.abc.PGresult:
    return connection.exec_params(text, None)


def answer(result: pq.abc.PGresult) -> tuple:
    """All that a client can see of an answer."""
    error = tuple(result.error_field(field) for field in FIELDS)
    columns = [(result.fname(column), result.ftype(column), result.fmod(column)) for column in range(result.nfields)]
    rows = [[result.get_value(row, column) for column in range(result.nfields)] for row in range(result.ntuples)]
    return (pq.ExecStatus(result.status).name, result.command_status, columns, rows, error)


def parse(name: bytes, text: bytes) -> Callable:
    return lambda connection, _run: connection.prepare(name, text)


def bind(name: bytes, *values: bytes) -> Callable:
    return lambda connection, _run: connection.exec_prepared(name, list(values))


SCRIPT = (
    "CREATE TEMP TABLE t (id int, a text)",
    "PREPARE put (int, text) AS INSERT INTO t VALUES ($1, $2)",
    "PREPARE put AS SELECT 1",
    "EXECUTE put (1, 'x')",
    "EXECUTE put ('no number', 'x')",
    "EXECUTE put (1)",
    "EXECUTE put (nothing, 'x')",
    'PREPARE "Get it" AS SELECT * FROM t WHERE id = $1',
    'EXECUTE "Get it" (1)',
    'EXPLAIN (COSTS off) EXECUTE "Get it" (1)',
    f'EXPLAIN (ANALYZE, {QUIETLY}) EXECUTE "Get it" (1)',
    'CREATE TEMP TABLE made AS EXECUTE "Get it" (1)',
    'CREATE TEMP TABLE empty (i, b) AS EXECUTE "Get it" (1) WITH NO DATA',
    f'EXPLAIN (ANALYZE, {QUIETLY}) CREATE TEMP TABLE more AS EXECUTE "Get it" (1)',
    "SELECT * FROM made",
    "SELECT * FROM empty",
    PREPARED,
    "EXECUTE nosuch",
    "EXECUTE nosuch (1, 'x')",
    "EXPLAIN EXECUTE nosuch (1)",
    "CREATE TEMP TABLE z AS EXECUTE nosuch (1)",
    "DEALLOCATE nosuch",
    "PREPARE bad AS SELECT nothing FROM t",
    "PREPARE bad AS SELEC 1",
    "PREPARE bad AS SELECT FROM WHERE",
    "PREPARE bad (nonsense) AS SELECT $1",
    "PREPARE bad",
    "PREPARE 'bad' AS SELECT 1",
    "PREPARE bad AS DROP TABLE t",
    "PREPARE bad AS SELECT 1 INTO TEMP elsewhere",
    "EXECUTE bad",
    "EXECUTE",
    "EXECUTE 1",
    "EXECUTE put nonsense",
    "DECLARE c CURSOR FOR nonsense",
    "DECLARE c CURSOR FOR SELECT nothing",
    "DECLARE c CURSOR FOR INSERT INTO t VALUES (1)",
    "DECLARE c",
    "DECLARE",
    "FETCH",
    "FETCH 1",
    "FETCH FORWARD 5",
    "FETCH 'c'",
    "FETCH FROM $1",
    "MOVE 3",
    "CLOSE",
    "CLOSE 'c'",
    "CLOSE 1",
    "DEALLOCATE",
    "DEALLOCATE 'p'",
    "DEALLOCATE PREPARE 1",
    "EXPLAIN nonsense",
    "EXPLAIN (nonsense) SELECT 1",
    "EXPLAIN",
    "SELECT 1 AS a INTO TEMP chosen",
    "SELECT * FROM chosen",
    "BEGIN",
    "PREPARE within AS SELECT 7 AS seven",
    "SAVEPOINT s",
    "PREPARE behind AS SELECT 8",
    "ROLLBACK TO s",
    "EXECUTE behind",
    "ROLLBACK",
    "EXECUTE within",
    "BEGIN",
    "SELECT 1/0",
    "ROLLBACK",
    "BEGIN",
    "DISCARD ALL",
    "ROLLBACK",
    "EXECUTE within",
    parse(b"by_protocol", b"SELECT $1::int + 1 AS more"),
    "EXECUTE by_protocol (1)",
    "EXPLAIN (COSTS off) EXECUTE by_protocol (1)",
    "CREATE TEMP TABLE from_protocol AS EXECUTE by_protocol (2)",
    "SELECT * FROM from_protocol",
    "PREPARE by_protocol AS SELECT 2",
    "EXECUTE by_protocol (2)",
    bind(b"by_protocol", b"3"),
    parse(b"put", b"SELECT 1"),
    "EXECUTE put (2, 'y')",
    PREPARED,
    "DEALLOCATE by_protocol",
    "EXECUTE by_protocol (1)",
    "PREPARE by_protocol AS SELECT 9",
    "EXECUTE by_protocol",
    "DEALLOCATE PREPARE by_protocol",
    "ALTER TABLE t ADD more int",
    'EXECUTE "Get it" (1)',
    "EXECUTE put (3, 'z')",
    "DROP TABLE t",
    "EXECUTE put (3, 'z')",
    "DEALLOCATE put",
    "DEALLOCATE ALL",
    PREPARED,
    "EXECUTE within",
    "PREPARE within AS SELECT 10",
    "EXECUTE within",
    "DISCARD ALL",
    "EXECUTE within",
)


def both(shop: Stack, steps: tuple, run: Run) -> list[tuple]:
    """What each step is answered through the sidecar, and directly."""
    answers = []
    for connect in (lambda: shop.connect("app"), lambda: shop.direct("app")):
        with connect() as connection:
            pgconn = connection.pgconn
            done = [step(pgconn, run) if callable(step) else run(pgconn, step.encode()) for step in steps]
            answers.append([answer(result) for result in done])
    return list(zip(steps, *answers, strict=True))


@pytest.mark.parametrize("run", [simple, extended])
def test_what_concerns_nothing_protected_is_answered_as_by_the_server(shop: Stack, run: Run) -> None:
    compared = both(shop, SCRIPT, run)
    assert [(step, through, alone) for step, through, alone in compared if through != alone] == []
    codes = {through[-1][FIELDS.index(pq.DiagnosticField.SQLSTATE)] for _, through, _ in compared}
    assert {b"42P05", b"26000", b"42601", b"42703", b"25001", b"0A000", b"42P01"} <= codes


def test_texts_of_several_statements_are_answered_as_by_the_server(shop: Stack) -> None:
    steps = (
        "PREPARE m AS SELECT $1::text AS a; EXECUTE m ('x'); EXECUTE m ('y')",
        "EXECUTE m ('x'); EXECUTE m ('y'); SELECT 1/0",
        "PREPARE n AS SELECT 1; PREPARE n AS SELECT 2",
        "EXECUTE n",
        "PREPARE o AS SELECT 1; SELECT 1/0",
        "EXECUTE o",
        PREPARED,
    )
    compared = both(shop, steps, simple)
    assert [(step, through, alone) for step, through, alone in compared if through != alone] == []


# Up to a Sync each. The second fails, and so does what follows in it, but nothing behind it.
PIPELINE = (
    (b"EXECUTE a (1)", b"PREPARE b AS SELECT $1::text AS b", b"EXECUTE b ('x')"),
    (b"PREPARE a AS SELECT 2", b"EXECUTE a (2)"),
    (b"DEALLOCATE b",),
    (b"EXECUTE a (3)", b"EXECUTE b ('y')"),
    (b"PREPARE b AS SELECT nothing",),
    (b"PREPARE b AS SELECT $1::int * 2 AS b",),
    (b"EXECUTE b (4)",),
)


def pipelined(connection: psycopg.Connection) -> list[tuple]:
    """What each text of the pipeline is answered, where all are sent before the first answer is read."""
    pgconn = connection.pgconn
    pgconn.enter_pipeline_mode()
    pgconn.send_prepare(b"a", b"SELECT $1::int AS a")
    for texts in PIPELINE:
        for text in texts:
            pgconn.send_query_params(text, None)
        pgconn.pipeline_sync()
    pgconn.flush()
    answers: list[tuple] = []
    while sum(one[0] == "PIPELINE_SYNC" for one in answers) < len(PIPELINE):
        while pgconn.is_busy():
            # The relay is a thread of this process, which would not run while the driver waits.
            select.select([pgconn.socket], [], [], patience())
            pgconn.consume_input()
        result = pgconn.get_result()
        if result is not None:
            answers.append(answer(result))
    return answers


def test_statements_prepared_in_a_pipeline_are_answered_as_by_the_server(shop: Stack) -> None:
    with shop.connect("app") as through, shop.direct("app") as alone:
        assert pipelined(through) == pipelined(alone)


def error(result: pq.abc.PGresult) -> tuple:
    field = result.error_field
    return (field(pq.DiagnosticField.SQLSTATE), field(pq.DiagnosticField.MESSAGE_PRIMARY))


@pytest.fixture
def app(shop: Stack):
    with shop.connect("app") as connection:
        connection.execute(INSERT, ADA)
        shop.relay.forget()
        yield connection


def test_protected_statement_has_a_name_of_the_sidecars_and_no_plaintext(shop: Stack, app: psycopg.Connection) -> None:
    app.execute("PREPARE mine AS SELECT 1")
    app.execute("PREPARE find AS SELECT id FROM customer WHERE ssn = 'a secret'")
    (find, text), (mine, own) = app.execute("SELECT name, statement FROM pg_prepared_statements ORDER BY 1").fetchall()
    assert find.startswith("fieldveil_")
    assert (mine, own) == ("mine", "PREPARE mine AS SELECT 1")
    assert "a secret" not in text
    assert "fv1." in text
    assert b"a secret" not in shop.relay.to_server()
    for name, again in (("find", "SELECT 1"), ("find", "SELECT id FROM customer"), ("mine", "SELECT id FROM customer")):
        taken = simple(app.pgconn, f"PREPARE {name} AS {again}".encode())
        assert error(taken) == (b"42P05", f'prepared statement "{name}" already exists'.encode())
    assert app.execute("EXECUTE mine").fetchall() == [(1,)]
    # Nobody executes it by the name that the server has.
    assert error(simple(app.pgconn, f"EXECUTE {find}".encode()))[0] == b"0A000"


@pytest.mark.parametrize("run", [simple, extended])
@pytest.mark.parametrize(
    "text",
    [
        "EXECUTE {} ('078-05-1120')",
        "EXPLAIN EXECUTE {} ('078-05-1120')",
        "EXPLAIN ANALYZE EXECUTE {} ('078-05-1120')",
        "CREATE TEMP TABLE copied AS EXECUTE {} ('078-05-1120')",
        "EXPLAIN ANALYZE CREATE TEMP TABLE copied AS EXECUTE {} ('078-05-1120')",
    ],
)
def test_protected_statement_of_the_protocol_is_not_executed_in_sql(
    shop: Stack, app: psycopg.Connection, text: str, run: Run
) -> None:
    connection = app.pgconn
    assert connection.prepare(b"s", b"SELECT id, ssn FROM customer WHERE ssn = $1").status == pq.ExecStatus.COMMAND_OK
    refused = run(connection, text.format("s").encode())
    assert error(refused)[0] == b"0A000"
    if not text.count("CREATE"):
        assert b"prepared in the protocol" in refused.error_field(pq.DiagnosticField.MESSAGE_PRIMARY)
        assert b"bind and execute it in the protocol" in refused.error_field(pq.DiagnosticField.MESSAGE_HINT)
    # Under the name that it has, nothing else is prepared.
    assert error(run(connection, b"PREPARE s AS SELECT $1::text"))[0] == b"42P05"
    assert error(run(connection, text.format("s").encode()))[0] == b"0A000"
    app.execute("PREPARE by_sql AS SELECT id, ssn FROM customer WHERE ssn = $1")
    if "CREATE" in text:
        assert error(run(connection, text.format("by_sql").encode()))[0] == b"0A000"
    assert ADA[3].encode() not in shop.relay.to_server()
    assert connection.exec_prepared(b"s", [ADA[3].encode()]).get_value(0, 1) == ADA[3].encode()


@pytest.mark.parametrize("by_protocol", [False, True])
def test_statement_is_not_executed_once_its_table_is_protected(
    shop: Stack, app: psycopg.Connection, by_protocol: bool
) -> None:
    with shop.direct() as direct:
        direct.execute("CREATE SCHEMA IF NOT EXISTS apart")
        direct.execute("CREATE TABLE IF NOT EXISTS apart.customer (id bigint, ssn text)")
        direct.execute("GRANT ALL ON SCHEMA apart TO app")
        direct.execute("GRANT ALL ON apart.customer TO app")
    app.execute("SET search_path = apart")
    text = "INSERT INTO customer (id, ssn) VALUES ($1, $2)"
    if by_protocol:
        app.pgconn.prepare(b"put", text.encode())
    else:
        app.execute(f"PREPARE put AS {text}")
    app.execute("EXECUTE put (1, 'plain there')")
    app.execute("SET search_path = public")
    shop.relay.forget()
    for executed in ("EXECUTE put (9, 'secret here')", "EXPLAIN ANALYZE EXECUTE put (9, 'secret here')"):
        with pytest.raises(psycopg.errors.FeatureNotSupported):
            app.execute(executed)
    assert b"secret here" not in shop.relay.to_server()
    assert app.execute("SELECT count(*) FROM customer").fetchone() == (1,)
    app.execute("DEALLOCATE put")
    app.execute(f"PREPARE put AS {text}")
    app.execute("EXECUTE put (9, 'secret here')")
    assert app.execute("SELECT ssn FROM customer WHERE id = 9").fetchone() == ("secret here",)
    assert b"secret here" not in shop.relay.to_server()


def test_values_for_a_statement_that_was_refused_do_not_leave(shop: Stack, app: psycopg.Connection) -> None:
    with pytest.raises(psycopg.errors.FeatureNotSupported):
        app.execute("PREPARE bad AS UPDATE customer SET ssn = upper($1)")
    with pytest.raises(psycopg.errors.InvalidSqlStatementName):
        app.execute("EXECUTE bad ('a secret')")
    assert b"a secret" not in shop.relay.to_server()
