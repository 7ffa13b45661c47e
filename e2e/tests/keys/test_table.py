"""Whole tables sealed in place, with an application at work, and the process killed again and again."""

import base64
import datetime
import json
import random
import re
import threading
import time
from collections.abc import Iterator

import psycopg
import pytest

from tests.keys.tables import EVERYTHING, ITEMS, PERSON, Tables
from tests.sample import SAMPLES
from tools.layout import POLICIES

ROWS = 1500
FILL = f"""
INSERT INTO person (id, ssn, note, token, born)
SELECT i, '078-05-' || i, CASE WHEN i % 5 > 0 THEN '0' END, 'token ' || i % 7,
  '2000-02-' || lpad((1 + i % 28)::text, 2, '0')
FROM generate_series(1, {ROWS}) i"""
STORED = "SELECT id, visits, ssn, note, token, born FROM person ORDER BY id"


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tables]:
    running = Tables(tmp_path_factory.mktemp("policies"))
    yield running
    running.stack.stop()


@pytest.fixture
def person(tables: Tables) -> Tables:
    """The table full of plaintext."""
    with tables.direct() as direct:
        direct.execute("TRUNCATE person")
        direct.execute(FILL)
    return tables


def stored(tables: Tables) -> list[tuple]:
    with tables.direct() as direct:
        return direct.execute(STORED).fetchall()


def seen(tables: Tables) -> list[tuple]:
    with tables.app() as app:
        return app.execute(STORED).fetchall()


def test_table_is_sealed_verified_sealed_anew_and_unsealed(person: Tables) -> None:
    before, shown = stored(person), seen(person)
    assert person.run("verify", PERSON).status == 1
    done = person.ok("seal", PERSON)
    assert done.report["written"] == ROWS
    assert done.found("note") == {"null": ROWS // 5, "plaintext": ROWS - ROWS // 5}
    assert person.ok("verify", PERSON).found("ssn") == {"wanted_key": ROWS}
    sealed = stored(person)
    assert all(value is None or value.startswith("fv1.") for row in sealed for value in row[2:])
    assert [[value is None for value in row] for row in sealed] == [[value is None for value in row] for row in before]
    assert seen(person) == shown
    with person.direct() as direct:
        direct.execute("UPDATE person SET note = 'plain' WHERE id <= 10")
    assert person.run("reseal", PERSON).status == 1
    person.rotate("deterministic")
    # What is sealed under the earlier key stays as it is.
    assert person.ok("seal", PERSON).report["written"] == 10
    sealed = stored(person)
    shown = seen(person)
    assert [row[3] for row in shown[:10]] == ["plain"] * 10
    again = person.ok("seal", PERSON)
    assert again.report["written"] == 0
    assert stored(person) == sealed

    person.rotate("aead", "deterministic")
    assert person.run("verify", PERSON).status == 1
    person.ok("reseal", PERSON)
    assert person.ok("verify", PERSON).found("ssn") == {"wanted_key": ROWS}
    assert not set(stored(person)) & set(sealed)
    assert seen(person) == shown

    person.ok("unseal", PERSON)
    assert stored(person) == [(*row[:3], "plain", *row[4:]) for row in before[:10]] + before[10:]
    person.ok("verify", PERSON, "--unsealed")


def test_every_type_is_the_same_before_while_and_after_it_is_sealed(tables: Tables) -> None:
    columns = ", ".join(s.column for s in SAMPLES)
    with tables.direct() as direct:
        direct.execute("TRUNCATE everything")
        for number in range(1 + max(len(s.values) for s in SAMPLES)):
            values = [s.values[number] if number < len(s.values) else None for s in SAMPLES]
            places = ", ".join(
                "convert_to(%s, 'UTF8')" if s.stored_as == "bytea" and s.type != "bytea" else "%s" for s in SAMPLES
            )
            direct.execute(f"INSERT INTO everything ({columns}) VALUES ({places})", values)
    rows = number + 1

    def shown(chosen: str) -> list[list[bytes | None]]:
        with tables.app() as app:
            result = app.pgconn.exec_(f"SELECT {chosen} FROM everything ORDER BY id".encode())
            assert result.ntuples == rows, result.error_message
            return [[result.get_value(row, n) for n in range(result.nfields)] for row in range(rows)]

    before = shown(columns)
    tables.ok("seal", EVERYTHING, "--dry-run")
    tables.ok("seal", EVERYTHING)
    assert tables.ok("verify", EVERYTHING).report["rows"] == rows
    canonical = shown(columns)
    assert canonical == before
    assert [row[-2] for row in canonical if row[-2]] == [b"\\x00ff10", b"\\x"]
    tables.rotate("aead")
    tables.ok("reseal", EVERYTHING)
    assert shown(columns) == canonical
    tables.ok("unseal", EVERYTHING)
    tables.ok("verify", EVERYTHING, "--unsealed")
    with tables.direct() as direct:
        after = direct.execute(f"SELECT {columns} FROM everything ORDER BY id").fetchall()
    for row, expected in zip(after, canonical, strict=True):
        for sample, value, wanted in zip(SAMPLES, row, expected, strict=True):
            text = value.decode() if isinstance(value, bytes) and sample.type != "bytea" else value
            text = "\\x" + text.hex() if isinstance(text, bytes) else text
            assert text == (None if wanted is None else wanted.decode()), sample


def test_partitioned_table_with_a_primary_key_of_several_columns_and_names_in_quotes(tables: Tables) -> None:
    names = ["acme", 'with "quotes"', "back\\slash, {comma}", "ünï", "O'Brien", ""]
    with tables.direct() as direct:
        direct.execute('TRUNCATE "Order Items"')
        for name in names:
            direct.execute(
                """INSERT INTO "Order Items" SELECT %s, i, convert_to('gift ' || i, 'UTF8'), '2024-02-29'
                FROM generate_series(1, 40) i""", [name]
            )  # fmt: skip
    rows = 40 * len(names)
    ranges = tables.ok("ranges", ITEMS, "--count", 5).report["ranges"]
    assert ranges[0]["from"] is None
    assert ranges[-1]["to"] is None
    counted = 0
    for part in ranges:
        bounds = {name: json.dumps(key) for name, key in part.items() if key}
        counted += tables.ok("seal", ITEMS, "--batch", 7, **bounds).report["written"]
    assert counted == rows
    assert tables.ok("verify", ITEMS).found("Gift") == {"wanted_key": rows}
    with tables.direct() as direct:
        (raw,) = direct.execute('SELECT "Gift" FROM "Order Items" LIMIT 1').fetchone()
        assert raw[:2] == b"\xf7\x01"
    tables.ok("unseal", ITEMS)
    with tables.direct() as direct:
        gifts = direct.execute('SELECT DISTINCT "Gift", "Born", n FROM "Order Items" ORDER BY n').fetchall()
    assert gifts == [(f"gift {n}".encode(), "2024-02-29", n) for n in range(1, 41)]


def test_dry_run_changes_nothing_and_finds_what_can_not_be_sealed(person: Tables) -> None:
    with person.direct() as direct:
        direct.execute("UPDATE person SET born = 'no date' WHERE id IN (3, 700)")
        versions = "SELECT id, xmin::text, ctid::text FROM person ORDER BY id"
        before = direct.execute(versions).fetchall()
        done = person.run("seal", PERSON, "--dry-run")
        assert done.status == 1
        assert [problem["key"] for problem in done.report["problems"]] == [["3"], ["700"]]
        assert "no date" not in done.out + done.errors
        assert direct.execute(versions).fetchall() == before
        # The others are sealed, and these told.
        done = person.run("seal", PERSON)
        assert (done.status, done.report["written"], done.report["faulty"]) == (1, ROWS - 2, 7)
        before = direct.execute(versions).fetchall()
        person.rotate("aead")
        person.run("reseal", PERSON, "--dry-run")
        person.run("unseal", PERSON, "--dry-run")
        assert direct.execute(versions).fetchall() == before


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
            thread.join(60)
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
            deadline = time.monotonic() + 30
            while direct.execute(open_rows).fetchone() != (1,):
                assert time.monotonic() < deadline
                time.sleep(0.05)
        holder.commit()
        worker.join(60)
    assert result[0].status == 0, result
    person.ok("verify", PERSON)
    assert seen(person)[699][2] == "theirs"


def test_row_that_is_held_for_ever_ends_the_command_with_its_key(person: Tables) -> None:
    with person.app(autocommit=False) as holder:
        holder.execute("UPDATE person SET visits = 1 WHERE id = 20")
        done = person.run("seal", PERSON, "--retry-for", "300ms")
        assert done.status == 1
        assert re.search(r'row \["20"\] is locked', done.errors)
    person.ok("seal", PERSON)


def test_signal_ends_after_the_batch_and_the_checkpoint_goes_on_from_there(person: Tables, tmp_path) -> None:
    words = ("--checkpoint", tmp_path / "checkpoint", "--batch", 50)
    done = person.killed("seal", PERSON, 0.7, *words, "--max-rows-per-second", 300, number=15)
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
        worker.join(60)
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
    worker.join(60)
    assert ended >= 2
    assert result[0].status == 0, result
    assert "trying again" in result[0].errors
    person.ok("verify", PERSON)


def test_verify_names_rows_that_are_not_as_they_should_be_and_no_value(person: Tables) -> None:
    person.ok("seal", PERSON)
    person.ok("verify", PERSON)
    with person.direct() as direct:
        direct.execute("UPDATE person SET ssn = 'secret word' WHERE id = 1")
        direct.execute("UPDATE person SET ssn = (SELECT note FROM person WHERE id = 4) WHERE id = 2")
        direct.execute("UPDATE person SET ssn = left(ssn, 24) WHERE id = 3")
        direct.execute("UPDATE person SET token = (SELECT token FROM person WHERE id = 5) || '!' WHERE id = 5")
        (other,) = direct.execute("SELECT ssn FROM person WHERE id = 6").fetchone()
        envelope = bytearray(base64.urlsafe_b64decode(other[4:] + "=" * (-len(other[4:]) % 4)))
        envelope[7:11] = bytes.fromhex("00000007")
        changed = "fv1." + base64.urlsafe_b64encode(envelope).decode().rstrip("=")
        direct.execute("UPDATE person SET ssn = %s WHERE id = 6", [changed])
    done = person.run("verify", PERSON)
    assert (done.status, done.report["faulty"]) == (1, 5)
    reasons = {problem["key"][0]: problem["reason"] for problem in done.report["problems"]}
    expected = {"1": "plaintext", "2": "under another label", "3": "broken", "5": "broken", "6": "under key 7, not"}
    assert all(word in reasons[key] for key, word in expected.items()), reasons
    assert "secret word" not in done.out + done.errors
    # A key that is not there: the row is told, and all others are done.
    person.rotate("deterministic")
    done = person.run("reseal", PERSON, "--column", "ssn")
    assert done.status == 1
    assert {problem["key"][0] for problem in done.report["problems"]} == {"1", "2", "3", "6"}
    assert done.report["written"] == ROWS - 4


def test_many_faulty_rows_are_counted_and_twenty_named(person: Tables) -> None:
    done = person.run("verify", PERSON, "--column", "ssn")
    assert (done.status, done.report["faulty"], len(done.report["problems"])) == (1, ROWS, 20)


def test_work_waits_for_a_standby_that_is_behind(person: Tables) -> None:
    refused = person.run("seal", PERSON, "--max-lag", "10s")
    assert (refused.status, "no standby" in refused.errors) == (2, True)
    server = person.stack.postgres
    with server.standby() as standby, standby.connect() as replica:
        replica.execute("SELECT pg_wal_replay_pause()")
        words = ("--max-lag", "2s", "--batch", 20, "--max-rows-per-second", 60, "--progress", "500ms")
        ended = person.killed("seal", PERSON, 8, *words, number=15)
        assert "waiting: a standby is" in ended.errors, ended
        written = ended.report["written"]
        assert 0 < written < 60 * 6
        replica.execute("SELECT pg_wal_replay_resume()")
        assert person.ok("seal", PERSON, "--max-lag", "2s").report["written"] == ROWS - written
    person.ok("verify", PERSON)


BAD = {
    "no such table": (("seal", "public.nowhere"), {}, "there is no such table"),
    "not a name": (("seal", "person"), {}, "not the name of a table"),
    "not protected": (("seal", "public.person"), {"catalog": POLICIES / "catalog"}, "no column of public.person"),
    "no primary key": (("seal", "public.keyless"), {}, "it has no primary key"),
    "protected primary key": (("seal", "public.keyed"), {}, "it is protected and part of the primary key"),
    "a view": (("seal", "public.shown"), {}, "it is no table"),
    "stored as a number": (
        ("seal", "public.numbers"),
        {},
        'ALTER TABLE "public"."numbers" ALTER COLUMN "amount" TYPE text USING "amount"::text',
    ),
    "too narrow": (("seal", "public.narrow"), {}, "holds 40 characters"),
    "too narrow, what to do": (("seal", "public.narrow", "--dry-run"), {}, 'ALTER COLUMN "short" TYPE text'),
    "format-preserving": (("seal", "public.cards"), {}, "nothing tells such a value from plaintext"),
    "no such column": (("seal", PERSON, "--column", "visits"), {}, "no such column"),
    "no such key": (("verify", PERSON, "--key-id", "x"), {}, "not a key id"),
    "a key of another shape": (("seal", ITEMS, "--from", "7"), {}, "not a key"),
    "no wanted key": (("reseal", PERSON), {"keysets": None}, "the wanted key"),
    "no connection through the sidecar": (("seal", PERSON), {"through": None}, "--through: not given"),
    "another database": (("seal", PERSON), {"through": "OTHER"}, "two servers or databases"),
    "nobody may write": (("seal", PERSON), {"user": "auditor"}, "42501"),
    "no catalog": (("seal", PERSON), {"catalog": None}, "--catalog: not given"),
    "a checkpoint that is none": (("seal", PERSON, "--checkpoint", "NONE"), {}, "not a checkpoint"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line_status_two_and_nothing_is_changed(tables: Tables, tmp_path, name: str) -> None:
    words, more, reason = BAD[name]
    (tmp_path / "none").write_text("{}")
    words = [str(tmp_path / "none") if word == "NONE" else word for word in words]
    if more.get("through") == "OTHER":
        more = {"through": tables.stack.dsn("app", "plain")}
    before = stored(tables)
    done = tables.run(*words, **more)
    assert (done.status, done.out) == (2, ""), done
    assert reason in done.errors
    assert len(done.errors.splitlines()) == 1
    assert stored(tables) == before


def test_user_who_does_not_see_values_as_they_are_can_not_reseal_or_unseal(person: Tables) -> None:
    person.ok("seal", PERSON)
    before = stored(person)
    person.rotate("aead", "deterministic")
    for command in ("reseal", "unseal"):
        for column in ("ssn", "note", "token", "born"):
            done = person.run(command, PERSON, "--column", column, user="support")
            assert done.status == 2, done
            assert f"does not see the values of public.person.{column} as they are" in done.errors
    assert stored(person) == before


@pytest.mark.parametrize("command", ["seal", "reseal", "unseal"])
def test_connection_past_the_sidecar_is_noticed(person: Tables, command: str) -> None:
    if command != "seal":
        person.ok("seal", PERSON)
        person.rotate("aead", "deterministic")
    before = stored(person)
    done = person.run(command, PERSON, through=person.direct_url)
    assert done.status != 0
    assert "--through leads through a sidecar" in done.errors
    assert stored(person) == before


def test_columns_can_be_told_without_a_catalog(person: Tables) -> None:
    column = ("--column", "token=public.person.token:pii:indexed")
    person.ok("seal", PERSON, *column, catalog=None)
    key = person.ok("verify", PERSON, *column, catalog=None).report["columns"][0]["wanted_key_id"]
    person.ok("verify", PERSON, *column, "--key-id", f"token={key}", catalog=None, keysets=None)
    wrong = person.run("verify", PERSON, *column, "--key-id", "7", catalog=None, keysets=None)
    assert (wrong.status, wrong.report["faulty"]) == (1, ROWS)
    mistaken = person.run("verify", PERSON, "--column", "token=other.label:pii:indexed", catalog=None)
    assert "sealed under another label than other.label" in mistaken.report["problems"][0]["reason"]
