"""What the report says of calls, statements and what was dropped, and which scenarios it leads with."""

from dataclasses import replace

import pytest

from loadtests import report
from loadtests.report import charts, grids, html, markdown, words
from loadtests.report.grids import Grid
from loadtests.results import Results, ScenarioResult, SuiteResult
from loadtests.summary import ScenarioSummary
from loadtests.tests import sample


@pytest.fixture(scope="module")
def run() -> Results:
    return sample.results()


def scenario_of(found: Results, suite: str, name: str) -> ScenarioResult:
    scenarios = next(one.scenarios for one in found.suites if one.name == suite)
    return next(one for one in scenarios if one.name == name)


def measured(scenario: ScenarioResult, **more: object) -> ScenarioResult:
    return replace(scenario, measurements=[replace(one, **more) for one in scenario.measurements])


def alone(found: Results, scenario: ScenarioResult) -> Results:
    return replace(found, suites=[SuiteResult("one", "", [scenario])])


def column(grid: Grid, title: str) -> list[str]:
    at = grid.columns.index(title)
    return [row[at].text for row in grid.rows]


def test_fixed_work_is_said_in_calls_and_operations(run: Results) -> None:
    once = replace(
        measured(scenario_of(run, "fieldproc", "protect-1"), operations=20_000),
        workload={"kind": "fixed", "clients": 1, "operations": 1},
    )
    assert grids.workload(ScenarioSummary(once)).startswith("20,000 rows in 1 call over 1 client;")
    many = grids.workload(ScenarioSummary(scenario_of(run, "fieldproc", "protect-1")))
    assert many.startswith("50,000 rows in 500 calls over 1 client;")


def test_percentiles_stand_for_calls_and_only_where_there_are_enough(run: Results) -> None:
    few = measured(scenario_of(run, "fieldproc", "protect-1"), calls=16)
    grid = grids.absolutes(ScenarioSummary(few))
    assert set(column(grid, "n: calls timed a round")) == {"16"}
    assert "-" not in column(grid, "p50 of a call, µs")
    assert not [title for title in grid.columns if title.startswith("p99")]
    shown = sample.documents(alone(run, few))
    assert "p50 of a call" in shown
    assert "p99 of a call" not in shown
    curve = charts.data(alone(run, few))["suites"]["one"]["scenarios"]["protect-1"]["latency"]["direct"]
    assert [percentile for percentile, *_ in curve] == [0.0, 10.0, 25.0, 50.0, 75.0, 90.0]


def test_what_an_arrival_rate_dropped_has_a_column_and_nothing_else_has_one(run: Results) -> None:
    name = words.DROPPED.title
    late = measured(scenario_of(run, "ztpf-crypto", "message-100"), dropped=485)
    assert set(column(grids.absolutes(ScenarioSummary(late)), name)) == {"485"}
    none = grids.absolutes(ScenarioSummary(scenario_of(run, "ztpf-crypto", "message-100")))
    assert set(column(none, name)) == {"0"}
    assert name not in grids.absolutes(ScenarioSummary(scenario_of(run, "oltp", "insert-prepared-1"))).columns
    assert name in sample.documents(alone(run, late))
    assert not [title for title in grids.ratios(ScenarioSummary(late)).columns if "dropped" in title]


def test_more_that_was_dropped_is_worse(run: Results) -> None:
    before = scenario_of(run, "ztpf-crypto", "message-100")
    text = report.compare(alone(run, before), alone(run, measured(before, dropped=485)))
    assert "calls dropped a round: 0 -> 485, from nothing" in text.split("Worse:")[1].split("Better:")[0]
    text = report.compare(alone(run, measured(before, dropped=485)), alone(run, before))
    assert "calls dropped a round: 485 -> 0, -100 %" in text.split("Better:")[1]


def test_latency_of_statements_stands_where_it_is_known(run: Results) -> None:
    known, unknown = scenario_of(run, "oltp", "insert-prepared-1"), scenario_of(run, "fieldproc", "read-1")
    for title in (words.SQL50.title, words.SQL99.title):
        assert "-" not in column(grids.absolutes(ScenarioSummary(known)), title)
        assert title in sample.documents(alone(run, known))
        assert title not in grids.absolutes(ScenarioSummary(unknown)).columns
        assert title not in sample.documents(alone(run, unknown))


def test_summary_leads_with_several_clients(run: Results) -> None:
    one, several = (scenario_of(run, "oltp", f"insert-prepared-{clients}") for clients in (1, 8))
    found = replace(run, suites=[SuiteResult("one", "", [one, several])])
    assert column(grids.summary(found), "scenario") == ["insert-prepared-8", "insert-prepared-1"]
    assert column(grids.summary(found), "clients") == ["8", "1"]


def test_what_figures_mean_is_said_everywhere(run: Results) -> None:
    page = html.render(run).replace("&#39;", "'")
    for text in (markdown.render(run), sample.documents(run), page):
        for said in words.READING:
            assert said in text


def test_suite_that_ended_early_is_not_right(run: Results) -> None:
    right = alone(run, scenario_of(run, "oltp", "insert-prepared-1"))
    ended = replace(right, failures=["one: row 7 is not what was written"])
    for render in (markdown.render, sample.documents, html.render):
        assert "Right: " in render(right)
        assert "Right: " not in render(ended)
        assert "NOT RIGHT: 1 suite ended early" in render(ended)
        assert "Ended early: one: row 7 is not what was written" in render(ended)
