"""COPY both ways in every format, and the programs that live by it: psql, pg_dump and pg_restore."""

import subprocess
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from harness import Stack
from tests import sample
from tests.rows import ADA, ALAN, INSERT, LIST

FORMATS = ["", "(FORMAT csv)", "(FORMAT csv, HEADER, DELIMITER ';', QUOTE '''', NULL 'none')", "(DELIMITER '-')"]


@pytest.fixture
def app(shop: Stack):
    with shop.connect("app") as connection:
        yield connection


@pytest.mark.parametrize("options", FORMATS)
def test_what_is_copied_out_can_be_copied_in(shop: Stack, app: psycopg.Connection, options: str) -> None:
    for row in (ADA, ALAN, (3, "tab\tquote'", "a,b;c", "", "back\\slash", "two\nlines", '"')):
        app.execute(INSERT, row)
    before = app.execute(f"SELECT {LIST} FROM customer ORDER BY id").fetchall()
    with app.cursor().copy(f"COPY customer TO STDOUT {options}") as copy:
        data = b"".join(bytes(piece) for piece in copy)
    assert b"078-05-1120" in data or b"078\\-05" in data
    assert b"fv1." not in data
    app.execute("DELETE FROM customer")
    shop.relay.forget()
    with app.cursor().copy(f"COPY customer FROM STDIN {options}") as copy:
        for start in range(0, len(data), 7):
            copy.write(data[start : start + 7])
    assert app.execute(f"SELECT {LIST} FROM customer ORDER BY id").fetchall() == before
    assert ADA[3].encode() not in shop.relay.to_server()
    with shop.direct() as direct:
        assert direct.execute("SELECT count(*) FROM customer WHERE ssn LIKE 'fv1.%'").fetchone() == (3,)


def test_short_data_of_long_values_is_refused_and_the_sidecar_serves(stack: Stack) -> None:
    column = next(s.column for s in sample.SAMPLES if s.type == "numeric")
    for _ in range(3):
        with stack.connect("app", sample.DATABASE) as app:
            copying = app.cursor().copy(f"COPY sample ({column}) FROM STDIN")
            with pytest.raises(psycopg.errors.ProgramLimitExceeded), copying as copy:
                copy.write(b"1e4000\n" * 130_000)
            assert app.execute("SELECT count(*) FROM sample").fetchone() is not None


def test_rows_of_every_declared_type_are_copied_in_binary(stack: Stack) -> None:
    columns = [s.column for s in sample.SAMPLES]
    with stack.connect("app", sample.DATABASE) as app:
        app.execute("DELETE FROM sample")
        for number in range(2):
            values = [s.values[min(number, len(s.values) - 1)] for s in sample.SAMPLES]
            places = sql.SQL(", ").join(sql.Literal(value) for value in values)
            names = sql.SQL(", ").join(map(sql.Identifier, columns))
            app.execute(sql.SQL("INSERT INTO sample ({}) VALUES ({})").format(names, places))
        read = f"SELECT {', '.join(f'{column}' for column in columns)} FROM sample ORDER BY id"
        before = texts(app, read)
        listed = ", ".join(columns)
        with app.cursor().copy(f"COPY sample ({listed}) TO STDOUT (FORMAT binary)") as copy:
            data = b"".join(bytes(piece) for piece in copy)
        app.execute("DELETE FROM sample")
        with app.cursor().copy(f"COPY sample ({listed}) FROM STDIN (FORMAT binary)") as copy:
            for start in range(0, len(data), 11):
                copy.write(data[start : start + 11])
        assert texts(app, read) == before


def texts(connection: psycopg.Connection, query: str) -> list[list[bytes | None]]:
    """Rows as the server writes them: not every value has a form in Python."""
    result = connection.pgconn.exec_(query.encode())
    return [[result.get_value(row, column) for column in range(result.nfields)] for row in range(result.ntuples)]


def test_copy_of_a_query_and_of_columns_in_another_order(app: psycopg.Connection) -> None:
    app.execute(INSERT, ADA)
    with app.cursor().copy("COPY (SELECT c.ssn, c.id, upper(c.name) FROM customer c) TO STDOUT") as copy:
        assert list(copy.rows()) == [(ADA[3], "1", "ADA")]
    with app.cursor().copy("COPY customer (ssn, id) FROM STDIN") as copy:
        copy.write_row(("219-09-9999", 2))
    assert app.execute("SELECT ssn FROM customer WHERE id = 2").fetchone() == ("219-09-9999",)


def test_copy_out_is_treated_by_the_plan(shop: Stack, app: psycopg.Connection) -> None:
    app.execute(INSERT, ADA)
    with shop.connect("support") as support, support.cursor().copy("COPY customer (ssn, notes) TO STDOUT") as copy:
        ((ssn, notes),) = copy.rows()
    assert ssn.endswith("1120")
    assert "078" not in ssn
    assert notes is None
    with shop.connect("auditor") as auditor, auditor.cursor().copy("COPY customer (ssn) TO STDOUT") as copy:
        ((ssn,),) = copy.rows()
    assert ssn.startswith("fv1.")
    with shop.connect("intern") as intern, pytest.raises(psycopg.errors.InsufficientPrivilege):
        intern.execute("COPY customer (ssn) TO STDOUT")
    with shop.connect("support") as support:
        with (
            pytest.raises(psycopg.errors.InsufficientPrivilege, match="customer"),
            support.cursor().copy("COPY customer FROM STDIN") as copy,
        ):
            copy.write("2\tcanary of a refused copy\n")
        assert support.execute("SELECT count(*) FROM customer").fetchone() == (1,)
    assert b"canary" not in shop.relay.to_server()


REFUSED = "COPY customer (id, ssn) FROM stdin WHERE id > 1;"
FAILED = "SET transaction_read_only = on; COPY customer (id, ssn) FROM stdin;"


@pytest.mark.parametrize("copy", [REFUSED, f"BEGIN; {FAILED}"])
def test_rows_in_a_script_of_psql_do_not_reach_the_server_if_the_copy_fails(shop: Stack, copy: str) -> None:
    script = f"{copy}\n1\t078-05-1120;\n2\t219-09-9999; ROLLBACK; 3\t457-55-5462;\n\\.\nROLLBACK;\nSELECT 'goes on';\n"
    assert run(shop, "psql", "-qXAt", feed=script).endswith("goes on\n")
    sent = shop.relay.to_server()
    for value in (b"078-05-1120", b"219-09-9999", b"457-55-5462"):
        assert value not in sent


def test_row_that_cannot_be_sealed_stores_nothing_and_the_session_goes_on(stack: Stack) -> None:
    with stack.connect("app", sample.DATABASE) as app:
        app.execute("DELETE FROM sample")
        with (
            pytest.raises(psycopg.DataError, match=r"public\.sample\.c_date"),
            app.cursor().copy("COPY sample (c_date_text) FROM STDIN") as copy,
        ):
            copy.write("2024-01-01\n2024-02-30\n")
        assert app.execute("SELECT count(*) FROM sample").fetchone() == (0,)
        with (
            pytest.raises(psycopg.errors.BadCopyFileFormat),
            app.cursor().copy("COPY sample (c_date_text) FROM STDIN") as c,
        ):
            c.write("2024-01-01\t2024-01-02\n")
        assert app.execute("SELECT 1").fetchone() == (1,)


def test_server_error_within_a_copy_comes_through(app: psycopg.Connection) -> None:
    app.execute(INSERT, ADA)
    with pytest.raises(psycopg.errors.UniqueViolation), app.cursor().copy("COPY customer (id, ssn) FROM STDIN") as copy:
        copy.write_row((1, "x"))
    with (
        pytest.raises(psycopg.errors.InvalidTextRepresentation),
        app.cursor().copy("COPY customer (id) FROM STDIN") as c,
    ):
        c.write_row(("not a number",))
    assert app.execute("SELECT ssn FROM customer").fetchall() == [(ADA[3],)]


def test_copy_to_or_from_the_servers_files_is_refused(app: psycopg.Connection) -> None:
    for statement in ("COPY customer TO '/tmp/x'", "COPY customer FROM PROGRAM 'cat'"):
        with pytest.raises(psycopg.errors.FeatureNotSupported, match="file or program"):
            app.execute(statement)


def run(stack: Stack, program: str, *arguments: str, user: str = "app", feed: str = "") -> str:
    done = subprocess.run(
        [stack.postgres.program(program), *arguments, "--dbname", stack.dsn(user)],
        input=feed,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_psql_copies_files(shop: Stack, app: psycopg.Connection, tmp_path: Path) -> None:
    app.execute(INSERT, ADA)
    out = tmp_path / "out.csv"
    run(shop, "psql", "-qX", "-c", f"\\copy customer to '{out}' csv header")
    assert ADA[3] in out.read_text()
    app.execute("DELETE FROM customer")
    run(shop, "psql", "-qX", "-v", "ON_ERROR_STOP=1", "-c", f"\\copy customer from '{out}' csv header")
    assert app.execute(f"SELECT {LIST} FROM customer").fetchall() == [ADA]


@pytest.mark.parametrize("how", ["plain", "inserts", "custom"])
def test_dump_and_restore(shop: Stack, app: psycopg.Connection, tmp_path: Path, how: str) -> None:
    for row in (ADA, ALAN):
        app.execute(INSERT, row)
    dump = tmp_path / "dump"
    options = {"plain": [], "inserts": ["--inserts"], "custom": ["--format=custom"]}[how]
    run(shop, "pg_dump", "--data-only", "--table=customer", f"--file={dump}", *options)
    app.execute("DELETE FROM customer")
    shop.relay.forget()
    if how == "custom":
        run(shop, "pg_restore", "--data-only", str(dump))
    else:
        assert ADA[3] in dump.read_text()
        run(shop, "psql", "-qX", "-v", "ON_ERROR_STOP=1", "-f", str(dump))
    assert app.execute(f"SELECT {LIST} FROM customer ORDER BY id").fetchall() == [ADA, ALAN]
    assert ADA[3].encode() not in shop.relay.to_server()


def test_what_a_dump_holds_is_the_plans_choice(shop: Stack, app: psycopg.Connection) -> None:
    app.execute(INSERT, ADA)
    arguments = ("--data-only", "--table=customer")
    assert ADA[3] in run(shop, "pg_dump", *arguments, user="app")
    masked = run(shop, "pg_dump", *arguments, user="support")
    assert ADA[3] not in masked
    assert "1120" in masked
    concealed = run(shop, "pg_dump", *arguments, user="auditor")
    assert "1120" not in concealed
    assert concealed.count("fv1.") == 5


def test_a_hundred_megabytes_beside_a_sealed_value_stream_through(shop: Stack, app: psycopg.Connection) -> None:
    name = "n" * (100 << 20)
    before = shop.envoy.memory_bytes()
    with app.cursor().copy("COPY customer (id, ssn, name) FROM STDIN") as copy:
        copy.write("1\t078-05-1120\t")
        for start in range(0, len(name), 1 << 20):
            copy.write(name[start : start + (1 << 20)])
        copy.write("\n")
    with app.cursor().copy("COPY customer (ssn, name) TO STDOUT") as copy:
        got = b"".join(bytes(piece) for piece in copy)
    assert got == b"078-05-1120\t" + name.encode() + b"\n"
    del got
    (ssn, length) = app.execute("SELECT ssn, length(name) FROM customer").fetchone()
    assert (ssn, length) == ("078-05-1120", len(name))
    (ssn, back) = app.execute("SELECT ssn, name FROM customer").fetchone()
    assert (ssn, back == name) == ("078-05-1120", True)
    assert shop.envoy.memory_bytes() - before < 64 << 20
    with pytest.raises(psycopg.errors.ProgramLimitExceeded, match="16 MiB"):
        app.execute("SELECT name, ssn FROM customer")
    assert app.execute("SELECT ssn FROM customer").fetchone() == ("078-05-1120",)
