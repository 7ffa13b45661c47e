"""What the filter's own questions leave behind in the server: no lock and no statement that others would see."""

import contextlib
from collections.abc import Iterator

import psycopg
import pytest

from harness import Stack, install
from harness.certificates import Certificates
from harness.postgres import Postgres
from harness.workdir import WorkDir
from tests import wire

LOCKS = """
SELECT relation::regclass::text, mode FROM pg_locks
WHERE pid = pg_backend_pid() AND locktype = 'relation' ORDER BY 1, 2
"""
ACTIVITY = "SELECT query FROM pg_stat_activity WHERE pid = %s"


def locks_of_a_transaction(connection: psycopg.Connection, statement: str) -> list[tuple]:
    with connection.transaction():
        connection.execute(statement)
        return connection.execute(LOCKS).fetchall()


@pytest.mark.parametrize("statement", ["SELECT 1", "SELECT ssn FROM customer", "LOCK TABLE customer"])
def test_a_transaction_holds_the_locks_of_its_statements_alone(shop: Stack, statement: str) -> None:
    """The questions are asked before it begins."""
    with shop.connect("app") as through, shop.direct("app") as direct:
        assert locks_of_a_transaction(through, statement) == locks_of_a_transaction(direct, statement)


def test_the_last_statement_that_others_see_is_the_clients(shop: Stack) -> None:
    with shop.connect("app") as through, shop.direct() as other:
        pid = through.info.backend_pid
        for statement in ("SELECT 42", "BEGIN", "SELECT ssn FROM customer", "COMMIT"):
            through.execute(statement)
            assert other.execute(ACTIVITY, (pid,)).fetchone() == (statement,)


MANY = """
CREATE SCHEMA many;
CREATE TABLE many.parted (id int, a text) PARTITION BY RANGE (id);
DO $$ BEGIN FOR i IN 1..400 LOOP
  EXECUTE format('CREATE TABLE many.p%s PARTITION OF many.parted FOR VALUES FROM (%s) TO (%s)', i, i, i + 1);
  EXECUTE format('CREATE VIEW many.v%s AS SELECT a.id, b.a FROM many.p%s a JOIN many.parted b USING (id)', i, i);
END LOOP; END $$;
ANALYZE;
"""


@pytest.fixture
def many(shop: Stack) -> Iterator[None]:
    with shop.direct() as direct:
        direct.execute(MANY, prepare=False)
        try:
            yield
        finally:
            direct.execute("DROP SCHEMA many CASCADE")


def messages_of_the_session(shop: Stack) -> list[bytes]:
    """What the server got in the one session since the last forget(), and not in an older one that ends only now."""
    (session,) = shop.relay.recordings
    return list(wire.messages(bytes(session.to_server), startup_first=True))


def the_questions(shop: Stack) -> list[str]:
    """The questions for the digest and for the catalog, which has a view that the worker does not know."""
    with shop.direct() as direct:
        direct.execute("CREATE VIEW unknown AS SELECT id, ssn FROM customer")
        try:
            with shop.connect("app") as app:
                app.execute("SELECT 1")
        finally:
            direct.execute("DROP VIEW unknown")
    sent = [message for message in messages_of_the_session(shop) if message[:1] == b"P"]
    questions = [message[5:].split(b"\0")[1].decode() for message in sent if b"relation(oids)" in message]
    assert len(questions) == 2
    return questions


def require_cheap(direct: psycopg.Connection, question: str) -> None:
    (compiled_from,) = direct.execute("SELECT setting::float FROM pg_settings WHERE name = 'jit_above_cost'").fetchone()
    for nested in ("on", "off"):
        direct.execute(f"SET enable_nestloop = {nested}")
        (plan,) = direct.execute(f"EXPLAIN (FORMAT json) {question}").fetchone()
        assert plan[0]["Plan"]["Total Cost"] < compiled_from / 5, nested


@pytest.mark.usefixtures("many")
def test_the_question_for_the_catalog_is_cheap_to_the_planner_in_a_database_of_many_tables(shop: Stack) -> None:
    """From some cost on a server compiles a query, which takes longer than all else that the question does."""
    questions = the_questions(shop)
    with shop.direct() as direct:
        for question in questions:
            require_cheap(direct, question)


@pytest.mark.skipif(not install.is_there(install.WITH_TLS), reason="no other PostgreSQL has a wheel for this system")
def test_the_question_for_the_catalog_is_cheap_to_planners_with_a_price_on_what_is_off(shop: Stack) -> None:
    """Up to PostgreSQL 17 a nested loop costs more than any limit while `enable_nestloop` is off."""
    questions = the_questions(shop)
    work = WorkDir()
    with contextlib.ExitStack() as ending:
        ending.callback(work.remove)
        # The server that takes TLS is an older one.
        older = Postgres(work, certificates=Certificates(work.path / "certificates"))
        older.start()
        ending.callback(older.stop)
        with older.connect() as direct:
            assert direct.info.server_version < 180000
            direct.execute(MANY, prepare=False)
            for question in questions:
                require_cheap(direct, question)


@pytest.mark.parametrize("first", ["SELECT 1", "BEGIN", "SET extra_float_digits = 3"])
def test_a_session_asks_once(shop: Stack, first: str) -> None:
    with shop.connect("app") as app:
        for text in (first, "SELECT ssn FROM customer", "SELECT 2"):
            app.execute(text)
        sent = messages_of_the_session(shop)
    # The question ends with a Sync; the client sends texts alone.
    kinds = b"".join(message[:1] for message in sent)
    assert kinds.count(b"P") == 1
    assert kinds.count(b"S") == 1
    assert kinds.index(b"S") < kinds.index(b"Q")
