"""The suite oltp in a real database: what it must notice of what is stored, by triggers that store something else."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from loadtests.results import Measurement
from loadtests.rig import PLAIN, SEALED, Live, NotSealed, Rig, WrongRows
from loadtests.runner import Runner
from loadtests.suites import oltp

SCALE = 0.001
# What triggers store in place of what is written.
INSERTS = {
    "null": "NEW.phone := NULL; RETURN NEW;",
    # Each opens: it is of the right column.
    "another row's": f"NEW.phone := coalesce((SELECT phone FROM {oltp.NEW} LIMIT 1), NEW.phone); RETURN NEW;",
    # Sealed for another column, it does not open.
    "another column's": "NEW.phone := NEW.email; RETURN NEW;",
}
UPDATES = {
    "nothing": "RETURN OLD;",
    "all but one column": "NEW.email := OLD.email; RETURN NEW;",
    "another row's": f"NEW.phone := (SELECT phone FROM saved.{oltp.CHANGED} WHERE id = 1); RETURN NEW;",
}


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    with Rig([oltp.SUITE]) as rig:
        oltp.prepare(rig, SCALE)
        yield rig


@pytest.fixture
def measure(rig: Rig, tmp_path: Path) -> Callable[[str, str], Measurement]:
    """One scenario at one target, with its looks before and after."""
    scenarios = {scenario.name: scenario for scenario in oltp.scenarios(SCALE)}

    def measured(scenario: str, target: str) -> Measurement:
        return Runner([], SCALE, 1, tmp_path, calls=40).measure(
            rig, oltp.SUITE, scenarios[scenario], rig.live[target], 1
        )

    return measured


@contextmanager
def trigger(rig: Rig, target: str, event: str, body: str) -> Iterator[None]:
    """In place of the row that a statement writes, another is stored."""
    table = {"INSERT": oltp.NEW, "UPDATE": oltp.CHANGED}[event]
    with rig.direct(rig.live[target].database) as straight:
        straight.execute(
            f"CREATE FUNCTION other() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN {body} END $$;"
            f"CREATE TRIGGER other BEFORE {event} ON {table} FOR EACH ROW EXECUTE FUNCTION other()"
        )
        try:
            yield
        finally:
            straight.execute("DROP FUNCTION other CASCADE")


@pytest.mark.parametrize("target", ["direct", "fieldveil"])
@pytest.mark.parametrize("scenario", ["insert-prepared-8", "update-prepared-8", "insert-500-a-second"])
def test_writes_that_are_stored_are_right(measure: Callable, scenario: str, target: str) -> None:
    measurement = measure(scenario, target)
    assert (measurement.answers, measurement.wrong_answers, measurement.errors) == (40, 0, 0)


@pytest.mark.parametrize("target", ["direct", "fieldveil"])
@pytest.mark.parametrize("stored", INSERTS)
def test_insert_that_stores_something_else_is_noticed(rig: Rig, measure: Callable, target: str, stored: str) -> None:
    with trigger(rig, target, "INSERT", INSERTS[stored]), pytest.raises((WrongRows, NotSealed), match=oltp.NEW):
        measure("insert-prepared-8", target)


@pytest.mark.parametrize("target", ["direct", "fieldveil"])
@pytest.mark.parametrize("stored", UPDATES)
def test_update_that_stores_something_else_is_noticed(rig: Rig, measure: Callable, target: str, stored: str) -> None:
    with (
        trigger(rig, target, "UPDATE", UPDATES[stored]),
        pytest.raises(WrongRows, match=f"{oltp.CHANGED} through {target}"),
    ):
        measure("update-prepared-8", target)


@pytest.mark.parametrize(("operation", "table"), [("insert", oltp.NEW), ("update", oltp.CHANGED)])
def test_write_that_was_acknowledged_and_is_not_there_is_noticed(rig: Rig, operation: str, table: str) -> None:
    live = rig.live["fieldveil"]
    oltp.BEFORE[operation](rig, live)
    with live.connect() as connection:
        row = oltp._row(1, 1 if operation == "update" else 0)
        if operation == "update":
            connection.execute(f"DELETE FROM {table} WHERE id = 1")
        connection.execute(f"INSERT INTO {table} VALUES (%s, %s, %s, %s, %s, %s)", row)
    oltp.STORED[operation](rig, live, 1)
    with pytest.raises(WrongRows):
        oltp.STORED[operation](rig, live, 2)


def test_null_among_sealed_values_is_noticed(rig: Rig) -> None:
    oltp.unchanged(rig, rig.live["fieldveil"])
    with rig.direct(SEALED) as straight:
        straight.execute(f"UPDATE {oltp.CHANGED} SET ssn = NULL WHERE id = 7")
    with pytest.raises(NotSealed, match=f"{oltp.CHANGED}.ssn: 1 of"):
        rig.assert_sealed(oltp.CHANGED, "ssn")


def test_concealed_row_is_the_one_that_is_stored(rig: Rig, measure: Callable, tmp_path: Path) -> None:
    assert measure("point-read-auditor-8", "fieldveil").wrong_answers == 0
    live = rig.live["fieldveil"]
    (scenario,) = [one for one in oltp.scenarios(SCALE) if one.name == "point-read-auditor-8"]

    def another(rig: Rig, live: Live) -> dict:
        stored = oltp.envelopes(rig, live)["stored"]
        return {"stored": stored[1:] + stored[:1]}

    wrong = replace(scenario, before=another)
    measurement = Runner([], SCALE, 1, tmp_path, calls=40).measure(rig, oltp.SUITE, wrong, live, 2)
    assert measurement.wrong_answers == measurement.answers == 40


def test_those_who_are_not_sealed_are_told_no_envelopes(rig: Rig) -> None:
    live = rig.live["direct"]
    assert live.database == PLAIN
    assert oltp.envelopes(rig, live) == {}


def test_eight_clients_come_before_one() -> None:
    """The first of a suite leads its chapter; what one client costs is mostly that the machine falls asleep between."""
    assert oltp.scenarios(1)[0].name == "point-read-prepared-8"
