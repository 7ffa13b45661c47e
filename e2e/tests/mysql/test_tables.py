"""`fieldveil table` on MySQL's protocol: tables sealed in place, sealed anew, unsealed, with an application at work."""

import datetime
import json
import random
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.mysql_builds import MYSQL, OLDER, Build
from harness.waiting import patience
from tests.mysql.asking import ask, change
from tests.mysql.tables import PARTS, PERSON, ROWS, MySqlTables

CHANGED = "SELECT DISTINCT CAST(changed AS CHAR) FROM person"
FIRST_DAY = "2001-01-01 00:00:00.000"


@pytest.fixture(scope="module", params=(OLDER, MYSQL), ids=lambda build: build.name)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MySqlTables]:
    build: Build = request.param
    if not build.is_there:
        pytest.skip(f"no {build.name} for this machine: see dev/setup/servers.py")
    made = MySqlTables(tmp_path_factory.mktemp("policies"), build)
    with made.stack:
        yield made


@pytest.fixture
def tables(server: MySqlTables) -> MySqlTables:
    server.fill()
    return server


def test_table_is_sealed_verified_sealed_anew_and_unsealed(tables: MySqlTables) -> None:
    before = tables.rows()
    assert before == [
        (n, 0, f"078-05-{n}", "0" if n % 5 else None, f"token {n % 7}", datetime.date(2000, 2, 1 + n % 28))
        for n in range(1, ROWS + 1)
    ]
    assert tables.run("verify", PERSON).status == 1

    sealed = tables.ok("seal", PERSON)
    assert sealed.report["written"] == ROWS
    assert tables.rows() == before
    stored = tables.stored()
    assert all(row[2].startswith("fv1.") and row[4].startswith("fv1.") and row[5].startswith("fv1.") for row in stored)
    assert all(note is None or note[0] == 0xF7 for _, _, _, note, _, _ in stored)
    assert len({row[2] for row in stored}) == ROWS
    assert tables.ok("seal", PERSON).report["written"] == 0
    tables.ok("verify", PERSON)

    tables.rotate("aead", "deterministic")
    assert tables.run("verify", PERSON).status == 1
    assert tables.ok("reseal", PERSON).report["written"] == ROWS
    tables.ok("verify", PERSON)
    assert tables.rows() == before

    tables.ok("unseal", PERSON)
    tables.ok("verify", PERSON, "--unsealed")
    assert tables.rows() == before
    # Nothing but the protected columns was written.
    assert tables.stored(CHANGED) == [(FIRST_DAY,)]


def test_primary_key_of_bytes_a_date_and_characters(tables: MySqlTables, tmp_path: Path) -> None:
    before = tables.rows("SELECT * FROM parts ORDER BY name")
    ranges = tmp_path / "ranges.json"
    ranges.write_text(tables.ok("ranges", PARTS, count=3).out)
    assert len(json.loads(ranges.read_text())["ranges"]) == 3
    done = [tables.ok("seal", PARTS, **{"ranges": ranges, "range-index": index}) for index in range(3)]
    assert sum(one.report["written"] for one in done) == ROWS
    tables.ok("verify", PARTS)
    assert tables.rows("SELECT * FROM parts ORDER BY name") == before
    tables.ok("unseal", PARTS)
    assert tables.stored("SELECT * FROM parts ORDER BY name") == before


def test_dry_run_changes_nothing(tables: MySqlTables) -> None:
    before = tables.stored()
    done = tables.ok("seal", PERSON, "--dry-run")
    assert (done.report["written"], done.found("ssn")["plaintext"]) == (0, ROWS)
    assert tables.stored() == before
    tables.ok("seal", PERSON)
    before = tables.stored()
    tables.ok("unseal", PERSON, "--dry-run")
    assert tables.stored() == before


class Writers:
    """An application that counts upwards in sealed columns, and knows what it has counted."""

    def __init__(self, tables: MySqlTables, count: int = 2) -> None:
        self.notes: dict[int, int] = {}
        self.failures: list[str] = []
        self._tables = tables
        self._stop = threading.Event()
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
                    self._step(app, chance.randrange(ROWS // count) * count + number + 1)
        except Exception as failure:
            self.failures.append(f"{type(failure).__name__}: {failure}")

    def _step(self, app: object, row: int) -> None:
        app.begin()
        ((note,),) = ask(app, "SELECT note FROM person WHERE id = %s FOR UPDATE", [row])
        known = int(note or "0") + 1
        change(app, "UPDATE person SET note = %s, visits = visits + 1 WHERE id = %s", [str(known), row])
        app.commit()
        self.notes[row] = self.notes.get(row, 0) + 1
        self._stop.wait(0.005)


def test_killed_at_ten_points_with_writers_nothing_is_lost_or_sealed_twice(tables: MySqlTables, tmp_path: Path) -> None:
    chance = random.Random(9)
    with Writers(tables) as writers:
        for turn, (command, kills) in enumerate((("seal", 4), ("reseal", 3), ("unseal", 3), ("seal", 0))):
            if command == "reseal":
                tables.rotate("aead", "deterministic")
            words = ("--batch", 40, "--checkpoint", tmp_path / f"checkpoint-{turn}")
            for _ in range(kills):
                tables.killed(command, PERSON, chance.uniform(0.05, 0.5), *words, "--max-rows-per-second", 200)
            assert tables.ok(command, PERSON, *words).report["rows"] == ROWS
    assert writers.failures == []
    assert len(writers.notes) > 50
    # What the application wrote while there was no envelope to be has been sealed since.
    tables.ok("verify", PERSON)
    for number, visits, ssn, note, token, _ in tables.rows():
        assert (ssn, token) == (f"078-05-{number}", f"token {number % 7}")
        assert visits == writers.notes.get(number, 0)
        assert int(note or "0") == visits


def test_row_that_others_hold_is_waited_for_and_not_overwritten(tables: MySqlTables) -> None:
    with tables.app() as holder:
        holder.begin()
        change(holder, "UPDATE person SET ssn = 'theirs' WHERE id = 7")
        release = threading.Timer(2, holder.commit)
        release.start()
        tables.ok("seal", PERSON)
        release.join()
    assert tables.rows("SELECT ssn FROM person WHERE id = 7") == [("theirs",)]


def test_envelope_that_does_not_open_is_told_and_all_others_are_done(tables: MySqlTables) -> None:
    tables.ok("seal", PERSON)
    with tables.direct() as direct:
        # Whatever the last letter is, it is another then.
        other = "CONCAT(LEFT(ssn, CHAR_LENGTH(ssn) - 1), IF(RIGHT(ssn, 1) = 'A', 'Q', 'A'))"
        change(direct, f"UPDATE person SET ssn = {other} WHERE id IN (5, 6)")
    done = tables.run("unseal", PERSON, column="ssn")
    assert (done.status, done.report["faulty"]) == (1, 2), done
    assert "078" not in done.out + done.errors
    left = tables.stored("SELECT id FROM person WHERE ssn LIKE 'fv1.%' ORDER BY id")
    assert left == [(5,), (6,)]


@pytest.mark.parametrize("command", ["reseal", "unseal"])
def test_user_who_sees_masks_can_not_write_them_back(tables: MySqlTables, command: str) -> None:
    tables.ok("seal", PERSON)
    if command == "reseal":
        tables.rotate("aead", "deterministic")
    before = tables.stored()
    for column in ("ssn", "note", "token", "born"):
        done = tables.run(command, PERSON, user="support", column=column)
        assert done.status == 2, done
        assert "does not see the values" in done.errors
    assert tables.stored() == before


@pytest.mark.parametrize("command", ["seal", "reseal"])
def test_connection_past_the_sidecar_is_noticed(tables: MySqlTables, command: str) -> None:
    if command == "reseal":
        tables.ok("seal", PERSON)
        tables.rotate("aead", "deterministic")
    done = tables.run(command, PERSON, through=tables.direct_url)
    assert done.status in (1, 2), done
    assert "--through leads through a sidecar" in done.errors
    tables.fill()
    done = tables.run(command, PERSON, direct=tables.through_url("app"))
    assert (done.status, "it leads through a sidecar" in done.errors) == (2, True), done


TRAPS = {
    "no transactions": ("CREATE TABLE trap (id int PRIMARY KEY, ssn text) ENGINE = MyISAM", "ENGINE = InnoDB"),
    "no primary key": ("CREATE TABLE trap (id int, ssn text)", "ADD PRIMARY KEY"),
    "floating point": ("CREATE TABLE trap (id double PRIMARY KEY, ssn text)", "another primary key"),
    "first characters": ("CREATE TABLE trap (id varchar(90), ssn text, PRIMARY KEY (id(8)))", "another primary key"),
    "protected key": ("CREATE TABLE trap (ssn varchar(200) PRIMARY KEY)", "part of the primary key"),
    "a number": ("CREATE TABLE trap (id int PRIMARY KEY, ssn int)", "MODIFY `ssn` TEXT"),
    "generated": ("CREATE TABLE trap (id int PRIMARY KEY, ssn varchar(200) AS (id) STORED)", "an ordinary column"),
    "no column": ("CREATE TABLE trap (id int PRIMARY KEY)", "no such column"),
    "too narrow": ("CREATE TABLE trap (id int PRIMARY KEY, ssn varchar(20))", "MODIFY `ssn` TEXT"),
    "a trigger": (
        "CREATE TABLE trap (id int PRIMARY KEY, ssn text);; CREATE TRIGGER lower_it BEFORE UPDATE ON trap FOR EACH ROW "
        "SET NEW.ssn = LOWER(NEW.ssn)",
        "--allow-triggers",
    ),
}


@pytest.mark.parametrize("name", TRAPS)
def test_what_can_not_be_sealed_is_refused_with_a_remedy(tables: MySqlTables, name: str) -> None:
    schema, remedy = TRAPS[name]
    tables.trap(schema)
    done = tables.run("seal", "tables.trap")
    assert (done.status, remedy in done.errors) == (2, True), done


def test_trigger_that_changes_envelopes_ends_the_work_at_the_first_row(tables: MySqlTables) -> None:
    tables.trap(f"{TRAPS['a trigger'][0]};; INSERT INTO trap VALUES (1, 'A'), (2, 'B'), (3, 'C')")
    done = tables.run("seal", "tables.trap", "--allow-triggers")
    assert (done.status, "not stored as it was written" in done.errors) == (1, True), done
    assert tables.stored("SELECT ssn FROM trap WHERE id > 1") == [("B",), ("C",)]


def test_lag_of_replicas_is_not_known(tables: MySqlTables) -> None:
    done = tables.run("seal", PERSON, **{"max-lag": "10s"})
    assert (done.status, "--max-rows-per-second" in done.errors) == (2, True), done
