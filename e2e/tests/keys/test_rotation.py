"""A deterministic key is added, made the primary and disabled while clients search, insert and update."""

import json
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from dev.layout import PGX_CLIENT
from harness import Stack
from harness.waiting import patience, until
from tests.keys.rotating import (
    COLUMNS,
    DATABASE,
    INSERT,
    KEYSET,
    LIST,
    NOT_SUPPORTED,
    Probes,
    connect,
    disable,
    keys,
    refusal,
    rotate,
    started,
    stored_keys,
    values,
)

# Rounds that every client does in each state of the keyset.
ROUNDS = 15
DATA_CORRUPTED = "XX001"


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    with started(tmp_path) as running:
        yield running


class Worker(threading.Thread):
    """A client that works on rows of its own, so that it knows what each statement must find."""

    def __init__(self, stack: Stack, number: int, binary: bool = False, **options: object) -> None:
        super().__init__(daemon=True)
        self._stack, self._options, self._binary = stack, options, binary
        self._first = number * 100_000
        self._rows: dict[int, int] = {}
        self._ends = threading.Event()
        self.rounds = 0
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            with connect(self._stack, **self._options) as connection:
                while not self._ends.is_set():
                    self._round(connection)
                    self.rounds += 1
        except BaseException as failure:
            self.failure = failure

    def stop(self) -> None:
        self._ends.set()
        self.join(patience())
        assert not self.is_alive()

    def _round(self, connection: psycopg.Connection) -> None:
        added = self._first + self.rounds
        self._execute(connection, INSERT, [added, *values(added)])
        self._rows[added] = added
        # One of the first rows, which an old key sealed, and the newest.
        for row in {self._first + self.rounds % min(len(self._rows), 10), added}:
            self._search(connection, row)
        # A row is found by its old value, gets a new one, and is found by that; the newest ones keep theirs, under the
        # key of then.
        if self.rounds % 5 == 4:
            moved = added - 2
            before, after = self._rows[moved], self._rows[moved] + 50_000
            update = (
                "UPDATE account SET login = %s, number = %s, mail = %s WHERE login = %s AND number = %s RETURNING id"
            )
            found = self._execute(connection, update, [*values(after), *values(before)[:2]])
            assert found == [(moved,)], "an update by an old value"
            self._rows[moved] = after
            assert self._execute(connection, "SELECT id FROM account WHERE login = %s", values(before)[:1]) == []
            self._search(connection, moved)

    def _search(self, connection: psycopg.Connection, row: int) -> None:
        login, number, mail = values(self._rows[row])
        everything = (row, login, number, mail)
        searches: list[tuple[str, list]] = [
            ("login = %s", [login]),
            ("%s = login AND %s <> (mail)", [login, "nobody"]),
            ("number = %s", [number]),
            ("mail = %s AND login <> %s", [mail, "nobody"]),
            ("login IN (%s, %s)", [login, "nobody"]),
            ("login IN (%s, %s)", [None, login]),
            ("number IN (%s, %s, %s)", [1, number, 2]),
            ("mail = ANY (%s)", [[mail, "nobody"]]),
            ("number = ANY (%s)", [[number, 1]]),
            ("login IS NOT DISTINCT FROM %s", [login]),
            # Written, so that a prepared text holds it.
            (f"login = '{login}' AND number IN ({number}, 1)", []),
        ]
        for condition, parameters in searches:
            found = self._execute(connection, f"SELECT id, {LIST} FROM account WHERE {condition}", parameters)
            assert found == [everything], f"{condition} found {found}"
        nothing = ["login = %s", "login NOT IN (%s, 'x')", "login <> ALL (ARRAY['x', %s])"]
        for condition in nothing:
            where = f"id = %s AND {condition}"
            assert self._execute(connection, f"SELECT id FROM account WHERE {where}", [row, None]) == [], condition

    def _execute(self, connection: psycopg.Connection, statement: str, parameters: list) -> list[tuple]:
        cursor = connection.execute(statement, parameters or None, binary=self._binary)
        return cursor.fetchall() if cursor.description else []


@pytest.fixture
def workers(stack: Stack) -> Iterator[list[Worker]]:
    """Clients of every way to send a value: prepared by the driver at once, with text and binary results; in the
    unnamed statement; and written into the text of a simple query."""
    made = [
        Worker(stack, 1, prepare_threshold=0),
        Worker(stack, 2, prepare_threshold=0, binary=True),
        Worker(stack, 3, prepare_threshold=None),
        Worker(stack, 4, cursor_factory=psycopg.ClientCursor),
    ]
    for worker in made:
        worker.start()
    yield made
    for worker in made:
        worker.stop()


def go_on(workers: list[Worker]) -> None:
    """Every client does some more rounds."""
    goals = [worker.rounds + ROUNDS for worker in workers]

    def have_gone_on() -> bool:
        for worker in workers:
            if worker.failure:
                raise worker.failure
        return all(worker.rounds >= goal for worker, goal in zip(workers, goals, strict=True))

    until(have_gone_on, "every client to do its rounds", seconds=120)


def test_rotation_under_load_fails_no_statement_and_misses_no_row(stack: Stack, workers: list[Worker]) -> None:
    old, _ = keys(stack)
    with ExitStack() as within:
        # All of the clients have connected by then.
        go_on(workers)
        probes = Probes(stack, within)
        rotate(stack, "--add")
        primary, enabled = keys(stack)
        assert primary == old
        (new,) = enabled - {old}
        probes.wait_for_several()
        go_on(workers)
        assert set(stored_keys(stack).values()) == {old}, "a key that is only added seals nothing"
        rotate(stack, "--promote", str(new))
        probes.wait_for_primary(new)
        go_on(workers)
        for worker in workers:
            worker.stop()
            assert worker.failure is None
        sealed = stored_keys(stack)
        assert set(sealed.values()) == {old, new}
        disable(stack, old)
        (row,) = [row for row, key in sealed.items() if key == old][:1]
        probes.wait(
            lambda connection: refusal(connection, "SELECT login FROM account WHERE id = %s", [row]) is not None
        )
        reads_what_the_new_key_sealed_alone(probes.connections[0], sealed, old)


def reads_what_the_new_key_sealed_alone(connection: psycopg.Connection, sealed: dict[int, int], old: int) -> None:
    for row, key in sealed.items():
        error = refusal(connection, "SELECT login FROM account WHERE id = %s", [row])
        if key != old:
            assert error is None
            (login,) = connection.execute("SELECT login FROM account WHERE id = %s", [row]).fetchone()
            assert connection.execute("SELECT id FROM account WHERE login = %s", [login]).fetchall() == [(row,)]
            continue
        assert error is not None
        assert error.sqlstate == DATA_CORRUPTED
        assert re.fullmatch(
            r"fieldveil: a stored value of public\.account\.login cannot be opened: "
            rf"it was sealed with key {old}, which the keyset does not hold or has disabled",
            error.diag.message_primary,
        ), error.diag.message_primary


COMPARING = [
    "SELECT DISTINCT login FROM account",
    "SELECT login, count(*) FROM account GROUP BY login",
    "SELECT count(DISTINCT number) FROM account",
    "SELECT a.id FROM account a JOIN account b ON a.login = b.login",
    "SELECT a.id FROM account a JOIN account b USING (mail)",
    "SELECT id FROM account WHERE login IN (SELECT login FROM account WHERE id = 1)",
    "SELECT login FROM account UNION SELECT login FROM account",
    "INSERT INTO account (id, login) VALUES (9, 'x') ON CONFLICT (login) DO NOTHING",
]


def searched(connection: psycopg.Connection) -> list[tuple]:
    """By the same statements in every state of the keyset: one with a parameter, and one that holds the value."""
    by_parameter = connection.execute("SELECT id FROM account WHERE login = %s", values(1)[:1]).fetchall()
    assert connection.execute("SELECT id FROM account WHERE login = 'user-1'").fetchall() == by_parameter
    return by_parameter


@pytest.mark.parametrize("threshold", [None, 0], ids=["unnamed", "prepared"])
def test_what_compares_ciphertexts_is_refused_until_rows_are_resealed(stack: Stack, threshold: int | None) -> None:
    with stack.direct(database=DATABASE) as direct:
        direct.execute("CREATE UNIQUE INDEX ON account (login)")
    with ExitStack() as within:
        probes = Probes(stack, within)
        app = within.enter_context(connect(stack, prepare_threshold=threshold))
        probes.connections.append(app)
        for row in (1, 2):
            app.execute(INSERT, [row, *values(row)])
        found = [(1,)]
        assert searched(app) == found
        counts = [app.execute(statement).rowcount for statement in COMPARING]
        app.execute("DELETE FROM account WHERE id = 9")
        old, _ = keys(stack)
        rotate(stack, "--add")
        probes.wait_for_several()
        for statement in COMPARING:
            error = refusal(app, statement)
            assert error is not None, statement
            assert error.sqlstate == NOT_SUPPORTED
            for word in ("public.account.", "several enabled deterministic keys", f"keyset {KEYSET}"):
                assert word in error.diag.message_primary, statement
            assert "table reseal" in error.diag.message_hint
        assert searched(app) == found
        (new,) = keys(stack)[1] - {old}
        rotate(stack, "--promote", str(new))
        probes.wait_for_primary(new)
        assert searched(app) == found
        # As `fieldveil table reseal` does it: read, and written again.
        for row, *read in app.execute(f"SELECT id, {LIST} FROM account").fetchall():
            app.execute("UPDATE account SET login = %s, number = %s, mail = %s WHERE id = %s", [*read, row])
        assert set(stored_keys(stack).values()) == {new}
        assert searched(app) == found
        disable(stack, old)
        probes.wait_for_one()
        assert searched(app) == found
        assert [app.execute(statement).rowcount for statement in COMPARING] == counts


def test_an_index_serves_a_search_under_several_keys(stack: Stack) -> None:
    with ExitStack() as within:
        probes = Probes(stack, within)
        rotate(stack, "--add")
        probes.wait_for_several()
        app = probes.connections[0]
        for row in range(1, 200):
            app.execute(INSERT, [row, *values(row)])
        with stack.direct(database=DATABASE) as direct:
            direct.execute("ANALYZE account")
        app.execute("SET enable_seqscan = off")
        for column, (_, _, value) in COLUMNS.items():
            for condition, parameters in [
                (f"{column} = %s", [value(7)]),
                (f"{column} IN (%s, %s)", [value(7), value(8)]),
                (f"{column} = ANY (%s)", [[value(7), value(8)]]),
            ]:
                for prepare in (False, True):
                    plan = app.execute(
                        f"EXPLAIN SELECT id FROM account WHERE {condition}", parameters, prepare=prepare
                    ).fetchall()
                    assert f"account_{column}" in str(plan), (condition, plan)


def test_pgx_works_in_every_query_mode_under_several_keys(stack: Stack) -> None:
    with ExitStack() as within:
        probes = Probes(stack, within)
        rotate(stack)
        probes.wait_for_several()
    done = subprocess.run(
        [PGX_CLIENT, stack.dsn("app")], capture_output=True, text=True, check=False, timeout=patience(90)
    )
    assert done.returncode == 0, done.stderr
    modes = [json.loads(line) for line in done.stdout.splitlines()]
    assert [mode["found"] for mode in modes] == [100, 200, 300, 400, 500]
