"""Figures from rounds."""

import pytest

from loadtests.results import Measurement, ScenarioResult, Usage
from loadtests.summary import Figure, ScenarioSummary


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
