"""Figures from rounds."""

from dataclasses import replace

import pytest

from loadtests.results import Measurement, ScenarioResult, Usage
from loadtests.summary import Figure, ScenarioSummary, value


def measured(
    target: str, number: int, *, operations: int = 100, seconds: float = 1.0, cpu: float = 0.01
) -> Measurement:
    usage = {} if target == "direct" else {"proxy": Usage(cpu, 1 << 20, 10), "opa": Usage(cpu / 10, 1 << 20, 1)}
    usage["server"] = Usage(0.02, 1 << 25, 5)
    return Measurement(target, number, operations, seconds, {"50": 10.0 * number}, usage, operations, 0, 0)


def summary(*measurements: Measurement) -> ScenarioSummary:
    return ScenarioSummary(ScenarioResult("one", "", "row", {}, "prepared", "app", list(measurements)))


def test_figure_is_the_median_with_the_least_and_the_most() -> None:
    rounds = summary(*(measured("direct", number) for number in (3, 1, 2)))
    assert rounds.figure("latency_us.50", "direct") == Figure(20.0, 10.0, 30.0)
    assert rounds.figure("latency_us.99", "direct") is None


def test_ratio_is_of_the_same_round() -> None:
    rounds = summary(
        *(measured("direct", number, operations=100 * number) for number in (1, 2, 3)),
        *(measured("fieldveil", number, operations=50 * number) for number in (1, 2)),
    )
    assert rounds.ratio("operations_per_second", "fieldveil", "direct") == Figure(0.5, 0.5, 0.5)
    assert rounds.ratio("cpu_us.proxy", "fieldveil", "direct") is None


def test_target_without_a_proxy_adds_all_that_the_other_uses() -> None:
    rounds = summary(measured("direct", 1), measured("fieldveil", 1))
    assert rounds.added("cpu_us.sidecar", "fieldveil", "direct").median == pytest.approx(110.0)


def test_nothing_done_is_no_figure() -> None:
    rounds = summary(measured("fieldveil", 1, operations=0, seconds=0.0))
    for measure in ("operations_per_second", "cpu_us.proxy", "switches.proxy"):
        assert rounds.figure(measure, "fieldveil") is None


def test_total_is_the_server_and_all_that_stands_before_it() -> None:
    rounds = summary(measured("direct", 1), measured("fieldveil", 1))
    assert rounds.figure("cpu_us.total", "direct").median == pytest.approx(200.0)
    assert rounds.added("cpu_us.total", "fieldveil", "direct").median == pytest.approx(110.0)


def test_percentile_needs_a_call_beyond_it() -> None:
    one = replace(measured("direct", 1), latency_us={"50": 1.0, "99": 2.0, "99.9": 3.0, "max": 3.0})
    known = {
        calls: [name for name in one.latency_us if value(replace(one, calls=calls), f"latency_us.{name}") is not None]
        for calls in (1, 99, 100, 999, 1000, 0)
    }
    every = ["50", "99", "99.9", "max"]
    few, some = ["50", "max"], ["50", "99", "max"]
    # Of a run that did not count them nothing is known against it.
    assert known == {1: few, 99: few, 100: some, 999: some, 1000: every, 0: every}


def test_only_an_arrival_rate_drops() -> None:
    rounds = [replace(measured("direct", number), dropped=number) for number in (1, 2, 3)]
    for kind, found in (("arrival", Figure(2.0, 1.0, 3.0)), ("closed", None)):
        scenario = ScenarioResult("one", "", "row", {"kind": kind}, "prepared", "app", rounds)
        assert ScenarioSummary(scenario).figure("dropped", "direct") == found


def test_statements_have_latencies_of_their_own() -> None:
    rounds = summary(replace(measured("direct", 1), sql_us={"50": 7.0}), measured("fieldveil", 1))
    assert rounds.figure("sql_us.50", "direct") == Figure(7.0, 7.0, 7.0)
    assert rounds.figure("sql_us.50", "fieldveil") is None


@pytest.mark.parametrize(
    ("operations", "dropped", "keeps_up"),
    [
        ([200, 200, 200], [0, 0, 0], True),
        ([197, 197, 197], [0, 0, 0], True),
        ([195, 195, 195], [0, 0, 0], False),
        ([200, 200, 200], [1, 1, 0], False),
        # One bad round of three says more of the machine.
        ([200, 120, 200], [0, 9, 0], True),
    ],
)
def test_arrival_rate_is_kept_up_with_where_most_rounds_answer_it(
    operations: list[int], dropped: list[int], keeps_up: bool
) -> None:
    rounds = [
        replace(measured("direct", number, operations=count, seconds=2.0), dropped=lost)
        for number, (count, lost) in enumerate(zip(operations, dropped, strict=True))
    ]
    work = {"kind": "arrival", "rate": 100.0}
    arriving = ScenarioSummary(ScenarioResult("one", "", "row", work, "prepared", "app", rounds))
    assert arriving.keeps_up("direct") is keeps_up
    assert summary(*rounds).keeps_up("direct")
