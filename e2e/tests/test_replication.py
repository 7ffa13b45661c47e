"""Replication connections: only where the plan has no field, and then as the server speaks."""

import subprocess
from collections.abc import Iterator

import psycopg
import pytest

from harness import Options, Stack
from harness import shop as example
from harness.waiting import patience
from tests import unblocked

REPLICATED = "written while somebody listens"


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    """A server whose log can be decoded, and a user who may."""
    with Stack(Options(relay=True, postgres_settings={"wal_level": "logical"})).start() as running:
        with running.direct(database=example.PLAIN_DATABASE) as direct:
            direct.execute("ALTER ROLE app REPLICATION")
            direct.execute("CREATE TABLE t (x text)")
            direct.execute("CREATE PUBLICATION everything FOR ALL TABLES")
        yield running


def psql(stack: Stack, database: str, mode: str) -> subprocess.CompletedProcess:
    dsn = psycopg.conninfo.make_conninfo(stack.dsn("app", database), replication=mode)
    command = [stack.postgres.program("psql"), "-XAtc", "IDENTIFY_SYSTEM", dsn]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=patience())


def test_replication_of_a_database_with_fields_is_refused(stack: Stack) -> None:
    stack.relay.forget()
    done = psql(stack, example.DATABASE, "database")
    assert done.returncode != 0
    assert "fieldveil: replication connections carry sealed rows past the field policy" in done.stderr
    assert "Connect to the server directly for replication." in done.stderr
    assert b"replication" not in stack.relay.to_server()


@pytest.mark.parametrize("database", [example.DATABASE, example.PLAIN_DATABASE])
def test_physical_replication_is_refused(stack: Stack, database: str) -> None:
    stack.relay.forget()
    done = psql(stack, database, "true")
    assert done.returncode != 0
    assert "fieldveil: physical replication copies the whole server past the field policy" in done.stderr
    assert b"replication" not in stack.relay.to_server()


def test_replication_switched_off_is_an_ordinary_session(stack: Stack) -> None:
    done = psql(stack, example.DATABASE, "off")
    assert "syntax error" in done.stderr or "not understood" in done.stderr


def test_replication_of_a_database_without_fields_speaks_with_the_server(stack: Stack) -> None:
    done = psql(stack, example.PLAIN_DATABASE, "database")
    system, _timeline, position, database = done.stdout.strip().split("|")
    with stack.direct() as direct:
        assert direct.execute("SELECT system_identifier::text FROM pg_control_system()").fetchone() == (system,)
    assert "/" in position
    assert database == example.PLAIN_DATABASE


def test_logical_stream_passes_and_the_session_goes_on(stack: Stack) -> None:
    options = "proto_version '1', publication_names 'everything'"
    with stack.connect("app", example.PLAIN_DATABASE, replication="database") as session:
        server = session.pgconn
        made = server.exec_(b"CREATE_REPLICATION_SLOT s TEMPORARY LOGICAL pgoutput")
        assert made.status == psycopg.pq.ExecStatus.TUPLES_OK, made.error_message
        begun = server.exec_(f"START_REPLICATION SLOT s LOGICAL 0/0 ({options})".encode())
        assert begun.status == psycopg.pq.ExecStatus.COPY_BOTH, begun.error_message
        with stack.direct(database=example.PLAIN_DATABASE) as direct:
            direct.execute("INSERT INTO t VALUES (%s)", [REPLICATED])
        stream = unblocked.copied(server)
        assert any(REPLICATED.encode() in message for message in stream)
        server.put_copy_end()
        server.flush()
        for _ in stream:
            pass
        for ended in unblocked.results(server):
            assert ended.status == psycopg.pq.ExecStatus.COMMAND_OK, ended.error_message
        assert server.exec_(b"IDENTIFY_SYSTEM").status == psycopg.pq.ExecStatus.TUPLES_OK
