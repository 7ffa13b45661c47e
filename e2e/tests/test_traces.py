"""What the filter's own questions leave behind in the server: no lock and no statement that others would see."""

import psycopg
import pytest

from harness import Stack

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
