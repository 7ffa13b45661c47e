"""What drivers prepared goes on when a deterministic key is rotated."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import psycopg
import pytest

from harness import Stack, shop
from harness.waiting import patience
from tests.keys.rotating import (
    DATABASE,
    INSERT,
    NOT_SUPPORTED,
    Probes,
    connect,
    refusal,
    rotate,
    started,
    values,
)


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    with started(tmp_path) as running:
        yield running


def test_a_batch_that_failed_at_a_change_of_keys_runs_again(stack: Stack) -> None:
    with ExitStack() as within:
        probes = Probes(stack, within)
        # Closed without a word to the server, for the batch may still wait.
        app = within.enter_context(closing(connect(stack, prepare_threshold=0)))
        app.execute(INSERT, [1, *values(1)])

        def batch(divisor: int) -> list[list[tuple]]:
            with app.pipeline():
                cursors = [
                    app.execute("SELECT 1 / %s::int", [divisor]),
                    app.execute("SELECT id FROM account WHERE login = %s", values(1)[:1]),
                ]
            return [cursor.fetchall() for cursor in cursors]

        found = [[(1,)], [(1,)]]
        assert batch(1) == found
        rotate(stack, "--add")
        probes.wait_for_several()
        # What parses the search anew stands behind a statement that fails, so the server skips it.
        with pytest.raises(psycopg.errors.DivisionByZero):
            batch(0)
        answers: list[list[list[tuple]]] = []
        again = threading.Thread(target=lambda: answers.append(batch(1)), daemon=True)
        again.start()
        again.join(patience())
        assert answers == [found], "no answer comes"


def test_what_was_prepared_goes_on_when_tables_and_keys_have_both_changed(stack: Stack) -> None:
    statements: list[tuple[str, list]] = [
        ("SELECT id FROM account WHERE login = %s", values(1)[:1]),
        ("SELECT id, login FROM account WHERE login = 'user-1' AND number = %s", values(1)[1:2]),
        ("UPDATE account SET mail = '1@example.org' WHERE login IN (%s, 'nobody') RETURNING id", values(1)[:1]),
        ("INSERT INTO account (id, login) VALUES (%s, 'user-2')", [2]),
        ("DELETE FROM account WHERE login = 'user-2' AND id = %s", [2]),
    ]
    with ExitStack() as within:
        probes = Probes(stack, within)
        app, other = (within.enter_context(connect(stack, prepare_threshold=0)) for _ in range(2))
        app.execute(INSERT, [1, *values(1)])

        def results(connection: psycopg.Connection) -> list[list[tuple]]:
            cursors = [connection.execute(statement, parameters) for statement, parameters in statements]
            return [cursor.fetchall() if cursor.description else [] for cursor in cursors]

        found = [[(1,)], [(1, "user-1")], [(1,)], [], []]
        assert results(app) == found
        assert results(other) == found
        whole = "SELECT * FROM account WHERE login = %s"
        for connection in (app, other):
            assert connection.execute(whole, values(1)[:1]).rowcount == 1
        with stack.direct(database=DATABASE) as direct:
            direct.execute("ALTER TABLE account ADD COLUMN added int")
        rotate(stack, "--add")
        probes.wait_for_several()
        # What may change the meaning of names lets a connection read the catalog again.
        app.execute("RESET search_path")
        assert results(app) == found
        with stack.direct(database=DATABASE) as direct:
            direct.execute("CREATE TABLE anew (LIKE account INCLUDING ALL)")
            direct.execute("INSERT INTO anew SELECT * FROM account")
            direct.execute("DROP TABLE account")
            direct.execute("ALTER TABLE anew RENAME TO account")
            shop.allow_all(direct, "account")
        other.execute("RESET search_path")
        assert results(other) == found
        # As without the sidecar, what returns another column than it did must be prepared again.
        error = refusal(other, whole, values(1)[:1])
        assert error is not None
        assert error.sqlstate == NOT_SUPPORTED
