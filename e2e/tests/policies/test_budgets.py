"""Budgets of what is revealed: the brake on a stolen credential that dumps a table."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from harness import Options, Stack
from harness import shop as example
from harness.envoy import SHELL
from harness.waiting import until_equal
from harness.workers import of_every_worker
from tests.policies.dump import BUDGETS, DATABASE, LABEL, ROWS, expected, value, write_policies


def started(folder: Path, concurrency: int) -> Stack:
    """With a table in which each protected column of row n holds `value(n)`."""
    stack = Stack(Options(policies=(write_policies(folder),), concurrency=concurrency)).start()
    with stack.postgres.connect() as superuser:
        superuser.execute(f"CREATE DATABASE {DATABASE}")
    with stack.direct(database=DATABASE) as direct:
        columns = ", ".join(f"{column} text" for column in BUDGETS)
        direct.execute(f"CREATE TABLE person (id int PRIMARY KEY, {columns})")
        example.allow_all(direct, "person")
    with stack.connect("app", DATABASE) as app:
        names = ", ".join(("id", *BUDGETS))
        with app.cursor().copy(f"COPY person ({names}) FROM STDIN") as rows:
            for number in range(ROWS):
                rows.write_row((number, *[value(number)] * len(BUDGETS)))
    return stack


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """One worker, so that all connections spend the same budgets."""
    stack = started(tmp_path_factory.mktemp("policies"), concurrency=1)
    yield stack
    stack.stop()


def read(connection: psycopg.Connection, column: str, first: int, count: int, **how: bool) -> list[str | None]:
    text = f"SELECT {column} FROM person WHERE id >= {first} ORDER BY id LIMIT {count}"
    return [shown for (shown,) in connection.cursor(**how).execute(text)]


def copy_into(came: list[str], connection: psycopg.Connection, copy: str) -> None:
    """Row by row, so that those before an error are there."""
    with connection.cursor().copy(copy) as rows:
        for (shown,) in rows.rows():
            came.append(shown)


def spent(stack: Stack, column: str) -> int:
    name = f"wasmcustom.fieldveil.budget_spent.{LABEL(column)}"
    return stack.envoy.stats(name).get(name, 0)


def test_dump_shows_as_many_rows_as_the_budget_has_however_it_is_read(dump: Stack) -> None:
    with dump.connect("support", DATABASE) as support:
        shown = read(support, "ssn", 0, 150)
        shown += read(support, "ssn", 150, 150, binary=True)
        copy = "COPY (SELECT ssn FROM person WHERE id BETWEEN 300 AND 449 ORDER BY id) TO STDOUT"
        copy_into(shown, support, copy)
        with support.transaction(), support.cursor(name="c") as cursor:
            cursor.execute("SELECT ssn FROM person WHERE id BETWEEN 450 AND 599 ORDER BY id")
            while rows := cursor.fetchmany(40):
                shown += [row[0] for row in rows]
        with psycopg.ClientCursor(support) as simple:
            simple.execute("SELECT ssn FROM person WHERE id >= 600 ORDER BY id")
            shown += [row[0] for row in simple]
    # On a new connection, too.
    with dump.connect("support", DATABASE) as support:
        again = read(support, "ssn", 0, 10)
    assert shown == expected(500, ROWS)
    assert again == expected(0, 10)
    until_equal(lambda: spent(dump, "ssn"), 510)
    line = "user:support has spent its budget of person.ssn, 500 rows within 3600 seconds: more of them are masked"
    assert dump.envoy.process.log.read_text().count(line) == 1


def test_two_users_have_a_budget_each(dump: Stack) -> None:
    for user in ("intern", "auditor"):
        with dump.connect(user, DATABASE) as connection:
            assert read(connection, "ssn", 0, ROWS) == expected(500, ROWS)


def test_another_application_name_spends_the_same_budget(dump: Stack) -> None:
    shown = []
    for number in range(4):
        with dump.connect("support", DATABASE, application_name=f"tool {number}") as support:
            support.execute(f"SET application_name = 'another tool {number}'")
            shown += read(support, "card", 40 * number, 40)
    assert shown == expected(100, 160)


def test_refused_rows_end_the_answer_with_an_error_that_says_when_to_come_again(dump: Stack) -> None:
    with dump.connect("support", DATABASE) as support:
        came: list[str] = []
        with pytest.raises(psycopg.errors.ConfigurationLimitExceeded) as ended:
            copy_into(came, support, "COPY (SELECT iban FROM person ORDER BY id) TO STDOUT")
        assert "the budget of person.iban is spent: 500 rows within 3600 seconds" in str(ended.value)
        assert "Try again in" in ended.value.diag.message_hint
        for statement in ("SELECT iban FROM person", "SELECT id FROM person WHERE iban = 'guess'"):
            with pytest.raises(psycopg.errors.ConfigurationLimitExceeded):
                support.execute(statement)
        assert support.execute("SELECT count(*) FROM person").fetchone() == (ROWS,)
    assert came == [value(number) for number in range(500)]


def test_rows_are_revealed_again_when_the_time_has_passed(dump: Stack) -> None:
    with dump.connect("support", DATABASE) as support:
        assert read(support, "phone", 0, 25) == expected(20, 25)
        until_equal(lambda: read(support, "phone", 0, 1), [value(0)])


def test_each_worker_counts_for_itself_and_natively_all_count_together(tmp_path: Path) -> None:
    stack = started(tmp_path, concurrency=2)
    both = [*map(value, range(100)), *[None] * 50]
    second = both if SHELL == "wasm" else [None] * 150
    try:
        with of_every_worker(stack.envoy, lambda: stack.connect("support", DATABASE)) as sessions:
            assert [read(session, "email", 0, 150) for session in sessions] == [both, second]
        until_equal(lambda: spent(stack, "email"), both.count(None) + second.count(None))
    finally:
        stack.stop()
