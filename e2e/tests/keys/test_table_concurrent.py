"""Whole tables sealed in place with an application at work, the command killed, connections cut."""

import datetime
import random
import re
import threading
import time

import psycopg

from harness.waiting import patience, until_equal
from tests.keys.tables import PERSON, ROWS, Tables, seen


class Writers:
    """An application: it counts upwards in sealed and other columns, reading what it writes, and knows the sums."""

    def __init__(self, tables: Tables, count: int = 3) -> None:
        self.notes: dict[int, int] = {}
        self.visits: dict[int, int] = {}
        self.failures: list[str] = []
        self._tables = tables
        self._stop = threading.Event()
        # Each has rows of its own for what it knows the last value of, and all share the rest.
        self._threads = [threading.Thread(target=self._work, args=(number, count)) for number in range(count)]

    def __enter__(self) -> "Writers":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(patience())
            assert not thread.is_alive()

    def _work(self, number: int, count: int) -> None:
        chance = random.Random(number)
        try:
            with self._tables.app() as app:
                while not self._stop.is_set():
                    self._step(app, chance, number, count)
                    time.sleep(0.002)
        except Exception as failure:
            self.failures.append(f"{type(failure).__name__}: {failure}")

    def _step(self, app: psycopg.Connection, chance: random.Random, number: int, count: int) -> None:
        # Downwards, against the command's order: who waited with locks held would deadlock.
        rows = sorted({chance.randrange(ROWS // count) * count + number + 1 for _ in range(3)}, reverse=True)
        with app.transaction():
            for row in rows:
                (note,) = app.execute("SELECT note FROM person WHERE id = %s FOR UPDATE", [row]).fetchone()
                app.execute("UPDATE person SET note = %s WHERE id = %s", [str(int(note or "0") + 1), row])
                app.execute("UPDATE person SET visits = visits + 1 WHERE id = %s", [row])
        for row in rows:
            self.notes[row] = self.notes.get(row, 0) + 1
            self.visits[row] = self.visits.get(row, 0) + 1


def test_killed_at_twenty_points_with_writers_nothing_is_lost_or_sealed_twice(person: Tables, tmp_path) -> None:
    chance = random.Random(4)
    slow = ("--batch", 40)
    with Writers(person) as writers:
        for turn, (command, kills) in enumerate((("seal", 7), ("reseal", 7), ("unseal", 3), ("seal", 3))):
            if command == "reseal":
                person.rotate("aead", "deterministic")
            words = (*slow, "--checkpoint", tmp_path / f"checkpoint-{turn}", "--max-rows-per-second", 300)
            ended = [person.killed(command, PERSON, chance.uniform(0.03, 0.6), *words) for _ in range(kills)]
            assert [done.status for done in ended] == [-9] * kills, ended
            done = person.ok(command, PERSON, *slow, "--checkpoint", tmp_path / f"checkpoint-{turn}")
            assert done.report["rows"] == ROWS
            if command != "unseal":
                person.ok("verify", PERSON)
    assert writers.failures == []
    assert len(writers.notes) > 100
    for row in seen(person):
        number, visits, ssn, note, token, born = row
        assert ssn == f"078-05-{number}"
        assert token == f"token {number % 7}"
        assert born == datetime.date(2000, 2, 1 + number % 28)
        assert visits == writers.visits.get(number, 0)
        assert note == (str(writers.notes.get(number, 0)) if number % 5 or number in writers.notes else None)


def test_row_that_others_hold_is_waited_for_and_not_overwritten(person: Tables) -> None:
    with person.app(autocommit=False) as holder:
        holder.execute("UPDATE person SET ssn = 'theirs' WHERE id = 700")
        result: list = []
        worker = threading.Thread(target=lambda: result.append(person.run("seal", PERSON)))
        worker.start()
        with person.direct() as direct:
            # All before it are done; it alone is waited for.
            open_rows = "SELECT count(*) FROM person WHERE id <= 1000 AND ssn NOT LIKE 'fv1.%'"
            until_equal(lambda: direct.execute(open_rows).fetchone(), (1,))
        holder.commit()
        worker.join(patience())
    assert result[0].status == 0, result
    person.ok("verify", PERSON)
    assert seen(person)[699][2] == "theirs"


def test_row_that_is_held_for_ever_is_told_and_all_others_are_done(person: Tables) -> None:
    with person.app(autocommit=False) as holder:
        holder.execute("UPDATE person SET visits = 1 WHERE id = 20")
        done = person.run("seal", PERSON, "--retry-for", "300ms", "--batch", 100)
        assert (done.status, done.report["written"]) == (1, ROWS - 1)
        assert re.search(r'row \["20"\]: locked', done.errors)
        (problem,) = done.report["problems"]
        assert (problem["key"], "locked or written by others" in problem["reason"]) == (["20"], True)
    person.ok("seal", PERSON)


def test_row_that_is_written_all_the_time_is_sealed(person: Tables) -> None:
    ended = threading.Event()

    def count() -> None:
        with person.direct() as direct:
            while not ended.is_set():
                direct.execute("UPDATE person SET visits = visits + 1 WHERE id = 20")
                time.sleep(0.005)

    writer = threading.Thread(target=count)
    writer.start()
    try:
        assert person.ok("seal", PERSON, "--retry-for", "30s").report["written"] == ROWS
    finally:
        ended.set()
        writer.join(patience())


def sealed(tables: Tables) -> int:
    """How many rows of the table are sealed."""
    with tables.direct() as direct:
        return direct.execute("SELECT count(*) FROM person WHERE ssn LIKE 'fv1.%'").fetchone()[0]


def test_signal_ends_after_the_batch_and_the_checkpoint_goes_on_from_there(person: Tables, tmp_path) -> None:
    words = ("--checkpoint", tmp_path / "checkpoint", "--batch", 50)
    slowly = ("--max-rows-per-second", 300)
    done = person.interrupted("seal", PERSON, lambda _: sealed(person) > 0, *words, *slowly)
    assert done.status == 1
    assert "run the same command again" in done.errors
    first = done.report["rows"]
    assert 0 < first < ROWS
    other = person.run("reseal", PERSON, *words)
    assert (other.status, "it is of other work: command was seal" in other.errors) == (2, True)
    done = person.ok("seal", PERSON, *words)
    assert (done.report["rows"], done.report["written"]) == (ROWS, ROWS)
    # Only what came after was read.
    assert done.found("ssn") == {"plaintext": ROWS}
    assert person.ok("seal", PERSON, *words).report["rows"] == ROWS


def test_two_workers_share_a_table_by_ranges(person: Tables) -> None:
    ranges = person.ok("ranges", PERSON, "--count", 2).report["ranges"]
    assert ranges == [{"from": None, "to": [str(ROWS // 2)]}, {"from": [str(ROWS // 2)], "to": None}]
    written: list[int] = []

    def work(part: dict) -> None:
        bounds = {name: key[0] for name, key in part.items() if key}
        written.append(person.ok("seal", PERSON, "--batch", 100, **bounds).report["written"])

    workers = [threading.Thread(target=work, args=(part,)) for part in ranges]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(patience())
    assert written == [ROWS // 2, ROWS // 2]
    person.ok("verify", PERSON)


def test_lost_connections_are_made_again(person: Tables) -> None:
    result: list = []
    words = ("--batch", 50, "--max-rows-per-second", 700)
    worker = threading.Thread(target=lambda: result.append(person.run("seal", PERSON, *words)))
    worker.start()
    ended = 0
    with person.direct() as direct:
        while worker.is_alive() and ended < 4:
            time.sleep(0.3)
            cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'fieldveil table'"
            ended += len(direct.execute(cut).fetchall())
    worker.join(patience())
    assert ended >= 2
    assert result[0].status == 0, result
    assert "trying again" in result[0].errors
    person.ok("verify", PERSON)


def test_work_waits_for_a_standby_that_is_behind(person: Tables) -> None:
    refused = person.run("seal", PERSON, "--max-lag", "10s")
    assert (refused.status, "no standby" in refused.errors) == (2, True)
    server = person.stack.postgres
    with server.standby() as standby, standby.connect() as replica:
        replica.execute("SELECT pg_wal_replay_pause()")
        words = ("--max-lag", "2s", "--batch", 20, "--max-rows-per-second", 60, "--progress", "500ms")
        counts: list[int] = []

        def waits(told: str) -> bool:
            """And writes nothing more: three looks in a row find the same."""
            if "waiting: a standby is" in told:
                counts.append(sealed(person))
            return len(counts) > 2 and len(set(counts[-3:])) == 1

        ended = person.interrupted("seal", PERSON, waits, *words)
        written = ended.report["written"]
        assert 0 < written == counts[-1] < ROWS
        replica.execute("SELECT pg_wal_replay_resume()")
        assert person.ok("seal", PERSON, "--max-lag", "2s").report["written"] == ROWS - written
    person.ok("verify", PERSON)
