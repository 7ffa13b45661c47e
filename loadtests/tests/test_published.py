"""Published experiments that are re-run: their figures beside ours."""

from dataclasses import asdict

import pytest

from loadtests.results import Measurement, ScenarioResult, SuiteResult, Usage
from loadtests.scenario import Suite
from loadtests.suites import fieldproc, sqlcredit
from loadtests.summary import SuiteSummary

ROUNDS = (1, 2)
TARGETS = ("direct", "envoy-tcp", "fieldveil", "fieldveil-native")


def summary(suite: Suite, scale: float, rates: dict[str, float]) -> SuiteSummary:
    """As if every scenario had done its work at these rates: by target, or by target and scenario."""
    scenarios = []
    for scenario in suite.scenarios(scale):
        operations = scenario.data["rows"]
        measurements = []
        for target in scenario.targets or [one for one in TARGETS if one in rates]:
            rate = rates.get(f"{target} {scenario.name}", rates[target])
            usage = {"client": Usage(operations * 2e-6, 0, 0), "server": Usage(operations * 3e-6, 0, 0)}
            if target != "direct":
                usage["proxy"] = Usage(operations * 5e-6, 0, 0)
            measurements += [
                Measurement(target, number, operations, operations / rate / number, {"50": 1e6 / rate}, usage, 1, 0, 0)
                for number in ROUNDS
            ]
        scenarios.append(
            ScenarioResult(
                scenario.name, scenario.what, scenario.unit, asdict(scenario.workload), "prepared", "app", measurements
            )
        )
    return SuiteSummary(SuiteResult(suite.name, suite.what, scenarios, suite.published))


def fieldproc_tables(scale: float = 1) -> list:
    return fieldproc.SUITE.beside(
        summary(
            fieldproc.SUITE,
            scale,
            {"direct": 40_000, "envoy-tcp": 20_000, "fieldveil": 10_000, "fieldveil-native": 16_000},
        )
    )


def row(table, *begin: str) -> dict[str, str]:
    (found,) = [cells for cells in table.rows if tuple(cells[: len(begin)]) == begin]
    return dict(zip(table.columns, found, strict=True))


def test_fieldproc_sets_theirs_beside_the_steps_with_one_protected_field_alone() -> None:
    rates, _ = fieldproc_tables()
    one = row(rates, "read", "1")
    assert one["FIELDPROC, 1 of 5 fields"] == "16,129"
    assert one["fieldveil / envoy-tcp"] == "0.50 (0.50 to 0.50)"
    assert one["fieldveil-native / envoy-tcp"] == "0.80 (0.80 to 0.80)"
    assert row(rates, "read", "20")["FIELDPROC, 1 of 5 fields"] == "-"
    assert row(rates, "protect", "5")["direct"] == "-"
    assert rates.values["FIELDPROC, 1 protected"] == {"protect": 14705, "read": 16129, "update": 11363}
    assert rates.values["fieldveil, 20 protected"]["update"] == 15_000


def test_fieldproc_cpu_is_of_all_on_the_way() -> None:
    _, cpu = fieldproc_tables()
    assert row(cpu, "update", "1", "81.26", "fieldveil")["together"] == "10.0 (10.0 to 10.0)"
    assert row(cpu, "update", "1", "81.26", "direct")["together"] == "5.00 (5.00 to 5.00)"


@pytest.mark.parametrize(("scale", "said"), [(1, "SCALE=100"), (100, "1,000,000 records too")])
def test_fieldproc_says_how_many_records_it_took(scale: float, said: str) -> None:
    assert said in fieldproc_tables(scale)[0].note


def test_fieldproc_reaches_their_million() -> None:
    assert fieldproc.row_count(fieldproc.THEIR_ROWS / fieldproc.ROWS) == 1_000_000


def test_fieldproc_update_writes_another_value_into_protected_fields_alone() -> None:
    (before,), (after,) = (list(fieldproc.rows_of(1, range(7, 8), generation)) for generation in (0, 1))
    assert [old != new for old, new in zip(before, after, strict=True)] == [False, True, False, False, False, False]


def test_sqlcredit_ratio_is_of_the_two_tables_through_the_same_target() -> None:
    rates = {"direct": 1000, "envoy-tcp": 1000, "fieldveil": 900, "fieldveil insert-encrypt": 300}
    (table,) = sqlcredit.SUITE.beside(summary(sqlcredit.SUITE, 1, rates))
    assert row(table, "insert", "1.28:1 and 3.5:1", "fieldveil")["time"] == "3.00 (3.00 to 3.00)"
    assert row(table, "insert", "1.28:1 and 3.5:1", "fieldveil")["median latency"] == "3.00 (3.00 to 3.00)"
    assert row(table, "read", "833:1 to 843:1", "fieldveil")["time"] == "1.00 (1.00 to 1.00)"
    assert table.values["fieldveil"]["insert"] == pytest.approx(3)
    assert "direct" not in table.values
    assert row(table, "insert", "1.28:1 and 3.5:1", "fieldveil to direct")["time"] == "3.33 (3.33 to 3.33)"


def test_sqlcredit_cards_have_13_columns_that_no_other_card_shares() -> None:
    cards = [sqlcredit.card(number) for number in range(1, 1001)]
    assert {len(card) for card in cards} == {len(sqlcredit.COLUMNS)} == {13}
    assert len({card[1] for card in cards}) == 1000
    assert all(2**15 > code >= 0 for card in cards for code in card[5:9])
