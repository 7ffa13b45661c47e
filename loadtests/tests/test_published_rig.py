"""What the suites of published experiments see in the database, for each thing that can be wrong."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from harness import shop
from loadtests.results import Measurement
from loadtests.rig import Live, NotSealed, Rig, WrongRows
from loadtests.runner import Runner
from loadtests.scenario import Suite
from loadtests.suites import db2_backup, fieldproc, ledger, sqlcredit

SCALE = 0.001
ROWS = fieldproc.row_count(SCALE)


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    suites = [fieldproc.SUITE, sqlcredit.SUITE, db2_backup.SUITE]
    with Rig(suites) as rig:
        for suite in suites:
            suite.prepare(rig, SCALE)
        yield rig


@pytest.fixture
def fieldveil(rig: Rig) -> Live:
    return rig.live["fieldveil"]


@pytest.mark.parametrize("target", ["direct", "envoy-tcp", "fieldveil"])
@pytest.mark.parametrize("protected", fieldproc.PROTECTED)
def test_table_is_whole_through_every_target(rig: Rig, target: str, protected: int) -> None:
    fieldproc.as_written(protected, ROWS, rig, rig.live[target])
    fieldproc.look(protected, ROWS, 0, rig, rig.live[target])


@pytest.mark.parametrize("target", ["direct", "fieldveil"])
def test_one_wrong_value_is_noticed(rig: Rig, target: str) -> None:
    fieldproc.as_written(1, ROWS, rig, rig.live[target])
    with rig.live[target].connect() as connection:
        connection.execute("UPDATE fieldproc_1 SET c1 = 'other' WHERE id = %s", [ROWS])
    with pytest.raises(WrongRows, match=f"fieldproc_1 through {target}"):
        fieldproc.look(1, ROWS, 0, rig, rig.live[target])


def test_update_that_missed_a_row_is_noticed(rig: Rig, fieldveil: Live) -> None:
    fieldproc.as_written(5, ROWS, rig, fieldveil)
    with fieldveil.connect() as connection:
        for row in range(1, ROWS):
            cells = [fieldproc.cell(row, column, 1) for column in range(1, 6)]
            connection.execute(
                "UPDATE fieldproc_5 SET c1 = %s, c2 = %s, c3 = %s, c4 = %s, c5 = %s WHERE id = %s", [*cells, row]
            )
    with pytest.raises(WrongRows):
        fieldproc.look(5, ROWS, 1, rig, fieldveil)


def test_value_in_clear_is_noticed(rig: Rig, fieldveil: Live) -> None:
    fieldproc.as_written(20, ROWS, rig, fieldveil)
    with rig.direct(fieldveil.database) as straight:
        straight.execute("UPDATE fieldproc_20 SET c20 = %s WHERE id = 3", [fieldproc.cell(3, 20, 0)])
        with pytest.raises(NotSealed, match=r"c20: 1 of"):
            rig.assert_sealed("fieldproc_20", *fieldproc.sealed_columns(20))


def test_table_to_be_protected_is_in_clear_before(rig: Rig, fieldveil: Live) -> None:
    more = fieldproc.plaintext(1, rig, fieldveil)
    assert more["command"][1:3] == ["table", "seal"]
    with pytest.raises(NotSealed):
        rig.assert_sealed("fieldproc_1", "c1")


def test_no_program_has_the_password_among_its_arguments(rig: Rig, fieldveil: Live) -> None:
    """Everybody on the machine reads those."""
    for program in (
        ledger.dumping(rig, fieldveil, 1, "app"),
        ledger.restoring(rig, fieldveil, 1),
        ledger.restoring_straight(rig, fieldveil.database, 1),
        {"argv": (sealing := fieldproc.plaintext(1, rig, fieldveil))["command"], "env": sealing["env"]},
    ):
        assert shop.PASSWORD in program["env"].values()
        assert not any(
            word in argument for argument in program["argv"] for word in ("password", *shop.PASSWORD.split())
        )


@pytest.mark.parametrize("target", ["direct", "fieldveil"])
@pytest.mark.parametrize("table", sqlcredit.TABLES)
def test_look_up_by_card_number_goes_by_its_index(rig: Rig, target: str, table: str) -> None:
    sqlcredit.by_index(table, rig, rig.live[target])


def test_look_up_without_an_index_is_noticed(rig: Rig, fieldveil: Live) -> None:
    with rig.direct(fieldveil.database) as straight:
        straight.execute("ALTER INDEX card_encrypt_by_number RENAME TO another")
        try:
            with pytest.raises(sqlcredit.NotByIndex, match="fieldveil"):
                sqlcredit.by_index("card_encrypt", rig, fieldveil)
        finally:
            straight.execute("ALTER INDEX another RENAME TO card_encrypt_by_number")


def test_three_columns_of_cards_are_stored_sealed_and_come_back_as_they_were(rig: Rig, fieldveil: Live) -> None:
    select = "SELECT * FROM card_encrypt WHERE card_id = 7"
    with fieldveil.connect() as connection:
        assert connection.execute(select).fetchone() == sqlcredit.card(7)
    with rig.direct(fieldveil.database) as straight:
        stored = dict(zip(sqlcredit.COLUMNS, straight.execute(select).fetchone(), strict=True))
    sealed = {name for name, value in stored.items() if str(value).startswith("fv1.")}
    assert sealed == set(sqlcredit.FIELDS)


def test_inserted_card_that_is_wrong_is_noticed(rig: Rig, fieldveil: Live) -> None:
    sqlcredit.empty("card_encrypt_new", rig, fieldveil)
    cells = ", ".join(["%s"] * 13)
    with fieldveil.connect() as connection, connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO card_encrypt_new VALUES ({cells})", [sqlcredit.card(row) for row in (1, 2)])
        sqlcredit.stored("card_encrypt_new", 2, rig, fieldveil)
        cursor.execute("UPDATE card_encrypt_new SET security_code1 = 1 WHERE card_id = 2")
    with pytest.raises(WrongRows, match="card_encrypt_new through fieldveil"):
        sqlcredit.stored("card_encrypt_new", 2, rig, fieldveil)


class OnRig(Runner):
    """One scenario of a suite whose tables are there, through the filter alone."""

    def __init__(self, rig: Rig, suite: Suite, scenario: str, folder: Path, wrong: Callable[[Rig, Live], dict]) -> None:
        (chosen,) = [one for one in suite.scenarios(SCALE) if one.name == scenario]
        chosen = replace(chosen, targets=("fieldveil",), before=wrong, after=None)
        one = replace(
            suite, scenarios=lambda scale: [chosen], prepare=lambda rig, scale: None, beside=lambda summary: []
        )
        super().__init__([one], SCALE, 1, folder)
        self._given = rig

    def rig(self) -> nullcontext[Rig]:
        return nullcontext(self._given)

    def measurement(self) -> Measurement:
        return self.run().suites[0].scenarios[0].measurements[0]


def short_file(rig: Rig, live: Live) -> dict:
    path = rig.work.path / "short.copy"
    path.write_bytes(Path(fieldproc.empty(1, rig, live)["path"]).read_bytes().partition(b"\n")[2])
    return {"path": str(path)}


def sealed_row(rig: Rig, live: Live) -> dict:
    """One row that the command has nothing to do with."""
    more = fieldproc.plaintext(1, rig, live)
    change(live, "UPDATE fieldproc_1 SET c1 = 'sealed' WHERE id = 1")
    return more


def other_value(rig: Rig, live: Live) -> dict:
    more = fieldproc.as_written(1, ROWS, rig, live)
    change(live, f"UPDATE fieldproc_1 SET c1 = 'other' WHERE id = {ROWS}")
    return more


def other_card(rig: Rig, live: Live) -> dict:
    change(live, "UPDATE card_encrypt SET secure_string1 = 'other' WHERE card_id = 1")
    return {}


def change(live: Live, statement: str) -> None:
    with live.connect() as connection:
        assert connection.execute(statement).rowcount == 1


@pytest.mark.parametrize(
    ("suite", "scenario", "wrong"),
    [
        (fieldproc.SUITE, "load-1", short_file),
        (fieldproc.SUITE, "protect-1", sealed_row),
        (fieldproc.SUITE, "read-1", other_value),
        (fieldproc.SUITE, "update-1", other_value),
        (sqlcredit.SUITE, "read-encrypt", other_card),
        (sqlcredit.SUITE, "look-up-encrypt", other_card),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_script_notices_one_wrong_row(
    rig: Rig, tmp_path: Path, suite: Suite, scenario: str, wrong: Callable[[Rig, Live], dict]
) -> None:
    measurement = OnRig(rig, suite, scenario, tmp_path, wrong).measurement()
    assert (measurement.wrong_answers, measurement.errors) == (1, 0)
