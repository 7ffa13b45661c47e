"""What drivers prepared goes on when a deterministic key is rotated."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import psycopg
import pytest

from harness import Stack
from tests.keys.rotating import (
    INSERT,
    TAKEN_UP_SECONDS,
    Probes,
    connect,
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
        again.join(TAKEN_UP_SECONDS)
        assert answers == [found], "no answer comes"
