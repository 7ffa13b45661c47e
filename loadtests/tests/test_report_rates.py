"""Latency at parts of the direct path's capacity, and what there is to plan, as the documents have them."""

from dataclasses import replace

import pytest

from loadtests import rates as named
from loadtests.report import capacity, document, planning, rates, suite_page
from loadtests.report.capacity import NOT_MEASURED, Part
from loadtests.results import Measurement, Results, ScenarioResult, SuiteResult, Table, Usage
from loadtests.summary import SuiteSummary
from loadtests.tests import sample

# Of each way: calls a second where it is asked as fast as it answers, p50 and the sidecar's CPU in µs.
WAYS = {"direct": (10_000, 100.0, None), "envoy-tcp": (7_000, 150.0, 40.0), "fieldveil": (5_000, 200.0, 60.0)}
OPERATIONS = ("point-read", "insert")
CORES = "The load generator runs on core 1, everything that it measures on core 0."


def measurement(target: str, number: int, rate: int) -> Measurement:
    able, p50, cpu = WAYS[target]
    done = min(rate, able)
    usage = {"client": Usage(done * 60e-6, 1, 1), "server": Usage(done * 45e-6, 1, 1)}
    if cpu:
        usage["proxy"] = Usage(done * cpu * 5 / 6 / 1e6, 1, 1)
        usage["opa"] = Usage(done * cpu / 6 / 1e6, 1, 1)
    latency = {"50": p50 + number, "90": 2 * p50, "99": 3 * p50}
    return Measurement(target, number, done, 1.0, latency, usage, done, 0, 0, calls=done)


def scenario(name: str, work: dict, rate: int) -> ScenarioResult:
    rounds = [measurement(target, number, rate) for number in (1, 2, 3) for target in WAYS]
    return ScenarioResult(name, "", "transaction", {**work, "clients": 8, "seconds": 1.0}, "prepared", "app", rounds)


def latency_suite() -> SuiteResult:
    found = [scenario(named.capacity_name(name), {"kind": "closed"}, 1_000_000) for name in OPERATIONS]
    for name in OPERATIONS:
        for share in named.SHARES:
            work = {"kind": "arrival", "rate": 100.0 * share}
            found.append(scenario(named.paced_name(name, share), work, 100 * share))
    return SuiteResult("latency", "", found, cores=CORES)


def session_suite() -> SuiteResult:
    rounds = [
        replace(measurement(target, number, 100), usage={"proxy": Usage(0.1, 1, 1), "server": Usage(0.5, 1, 1)})
        for number in (1, 2, 3)
        for target in ("fieldveil",)
    ]
    return SuiteResult("tls", "", [ScenarioResult("session", "", "session", {}, "prepared", "app", rounds)])


@pytest.fixture
def run() -> Results:
    found = sample.results()
    return replace(found, suites=[*found.suites, latency_suite(), session_suite()])


def rows(run: Results) -> dict[tuple[str, str], list[str]]:
    """Of point reads, by rate and way."""
    read, _ = rates.tables([run])
    assert read.title == rates.TITLES["latency", "point-read"]
    return {(row[0].text, row[1].text): [cell.text for cell in row[2:]] for row in read.rows}


def test_each_way_stands_beside_direct_at_each_rate(run: Results) -> None:
    found = rows(run)
    assert [*found] == [
        (f"{100 * share:,} ({share} %)", way)
        for share in named.SHARES
        for way in ("direct", "Envoy alone", "Fieldveil")
    ]
    assert found["3,000 (30 %)", "direct"] == ["3,000", "102", "200", "300", "-", "-"]
    assert found["3,000 (30 %)", "Envoy alone"] == ["3,000", "152", "300", "450", "50.0", "40.0"]
    assert found["3,000 (30 %)", "Fieldveil"] == ["3,000", "202", "400", "600", "100", "60.0"]


def test_rate_that_is_not_reached_has_no_latency_and_is_said_in_words(run: Results) -> None:
    found = rows(run)
    assert found["6,000 (60 %)", "Fieldveil"] == [f"{rates.NOT_REACHED}: 5,000", "-", "-", "-", "-", "60.0"]
    assert found["6,000 (60 %)", "Envoy alone"][0] == "6,000"
    assert found["8,000 (80 %)", "Envoy alone"][0] == f"{rates.NOT_REACHED}: 7,000"
    note = next(rates.tables([run])).note
    assert "direct 10,000, Envoy alone 7,000, Fieldveil 5,000" in note
    assert "the load generator took 60 % of a core, the server 45 %" in note
    assert "Envoy alone can't keep up with 80 % of that limit" in note
    assert "Fieldveil can't keep up with 60 % and 80 % of that limit" in note
    assert "Direct can't" not in note


def test_dropped_calls_are_not_reached(run: Results) -> None:
    def late(one: Measurement) -> Measurement:
        return replace(one, dropped=7) if one.target == "fieldveil" else one

    suite = latency_suite()
    scenarios = [
        replace(one, measurements=[late(each) for each in one.measurements])
        if one.name.endswith("-10-percent")
        else one
        for one in suite.scenarios
    ]
    found = rows(replace(run, suites=[replace(suite, scenarios=scenarios)]))
    assert found["1,000 (10 %)", "Fieldveil"][:2] == [f"{rates.NOT_REACHED}: 1,000", "-"]
    assert found["1,000 (10 %)", "direct"][:2] == ["1,000", "102"]


def test_page_of_the_suite_hides_no_rate_that_was_not_reached_and_says_how_cores_were_divided(run: Results) -> None:
    text = "\n".join(suite_page.lines(run, latency_suite()))
    assert CORES in text
    (line,) = [line for line in text.splitlines() if line.startswith("| point-read-60-percent")]
    assert rates.NOT_REACHED in line
    (line,) = [line for line in text.splitlines() if line.startswith("| point-read-30-percent")]
    assert rates.NOT_REACHED not in line


def test_example_is_worked_out_from_the_run(run: Results) -> None:
    parts = capacity.load([run])
    assert parts == [
        Part(capacity.STATEMENTS[0][0], 2_000, pytest.approx(60.0), pytest.approx(50.0)),
        Part(capacity.STATEMENTS[1][0], 300, pytest.approx(60.0), pytest.approx(50.0)),
        Part(capacity.SESSION, 5, pytest.approx(1000.0), pytest.approx(1000.0)),
    ]
    # 120 + 18 + 5 thousandths of a core, and 143 ÷ 0.7 = 204.3.
    assert [part.millicores for part in parts] == pytest.approx([120.0, 18.0, 5.0])
    text = document.pages([run])[document.CAPACITY]
    assert f"| {capacity.SESSION} | 5 | 1,000 | 5.00 |" in text
    assert "| all |  |  | 143 |" in text
    assert "uses 143 thousandths of a core, 120 of them in Envoy" in text
    assert "**`cpu: 250m`**" in text


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ([0.0, 4.0, 12.0], "other programs took 4 % of the cores (0 to 12).\n"),
        ([8.0, 40.0, 61.0], "took 40 % of the cores (8 to 61): so every way could do less, and p90 and p99 also hold"),
        ([None, None, None], "What other programs took of the cores is not known."),
    ],
)
def test_page_says_how_cores_were_divided_and_what_others_took_of_them(
    run: Results, others: list[float | None], said: str
) -> None:
    suite = latency_suite()
    shares = dict(enumerate(others, 1))
    scenarios = [
        replace(one, measurements=[replace(each, others_percent=shares[each.round]) for each in one.measurements])
        for one in suite.scenarios
    ]
    text = document.pages([replace(run, suites=[replace(suite, scenarios=scenarios)])])[document.CAPACITY]
    assert f"- `latency`: {CORES} " in text
    assert said in text


@pytest.mark.parametrize(("millicores", "asked"), [(1, 50), (35, 50), (36, 100), (143, 250), (700, 1000)])
def test_request_leaves_room_and_is_rounded_up(millicores: float, asked: int) -> None:
    assert capacity.request(millicores) == asked


@pytest.mark.parametrize("missing", ["latency", "tls"])
def test_example_is_not_made_up_where_a_part_of_it_is_not_measured(run: Results, missing: str) -> None:
    others = replace(run, suites=[suite for suite in run.suites if suite.name != missing])
    assert capacity.load([others]) is None
    text = document.pages([others])[document.CAPACITY]
    assert NOT_MEASURED in text
    assert "cpu: " not in text


def test_example_takes_the_dearest_of_the_rates() -> None:
    """At the lowest rate each call wakes the sidecar alone."""
    suite = latency_suite()

    def dearer(one: ScenarioResult) -> ScenarioResult:
        usage = {"proxy": Usage(0.2, 1, 1)}
        return replace(one, measurements=[replace(each, operations=1000, usage=usage) for each in one.measurements])

    scenarios = [dearer(one) if one.name.endswith("-10-percent") else one for one in suite.scenarios]
    found = replace(sample.results(), suites=[replace(suite, scenarios=scenarios), session_suite()])
    parts = capacity.load([found])
    assert parts
    assert [part.cpu for part in parts[:2]] == pytest.approx([200.0, 200.0])


def test_planner_has_a_statement_a_value_a_session_and_a_body(run: Results) -> None:
    costs = {"randomized": {"64": 0.8, "1024": 5.3}, "format_preserving": {"64": 30.5}}
    extra = [Table(title, [], [], "", costs, "µs a call") for title in planning.CIPHERS.values()]
    with_values = replace(
        sample.with_bodies(run),
        suites=[*sample.with_bodies(run).suites, SuiteResult("ztpf-crypto", "", [], extra=extra)],
    )
    grids = {grid.title: grid for grid in planning.tables([with_values])}
    assert [*grids] == ["A statement", "A value by itself", "A session", "A body over HTTP"]
    values = {row[0].text: [cell.text for cell in row[1:]] for row in grids["A value by itself"].rows}
    assert values["randomized"] == ["0.80", "5.30", "0.80", "5.30"]
    # Too long a value for it.
    assert values["format_preserving"] == ["30.5", "-", "30.5", "-"]
    assert [cell.text for cell in grids["A session"].rows[0][1:]] == ["1,000", "-", "-", "5,000"]
    summary = next(suite for suite in run.suites if suite.name == "oltp")
    cpu = SuiteSummary(summary).scenarios()["insert-prepared-8"].figure("cpu_us.sidecar", "fieldveil")
    (insert,) = [row for row in grids["A statement"].rows if "insert a row" in row[0].text]
    assert float(insert[1].text) == pytest.approx(cpu.median, rel=0.01)
    assert float(insert[2].text.replace(",", "")) == pytest.approx(1e6 / cpu.median, rel=0.001)


def test_queue_of_many_clients_is_not_where_it_costs_most(run: Results) -> None:
    text = document.pages([sample.results()])[document.ANSWER]
    lines = [line for line in text.split("## Where it costs most")[1].splitlines() if line.startswith("| p50")]
    assert lines
    # Of the sample's scenarios with eight clients only those that update have an arrival rate.
    assert not [line for line in lines if "-8 |" in line and "| update" not in line]
    # Neither is what waits in line at a rate that is too high.
    over = replace(run, suites=[latency_suite()])
    shown = document.pages([over])[document.ANSWER].split("## Where it costs most")[1].split("\n## ")[0]
    assert "point-read-30-percent" in shown
    assert "-60-percent" not in shown.split("operations a second")[0].split("p50")[1]
