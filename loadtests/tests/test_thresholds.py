"""Ratios that a run must keep to."""

import msgspec
import pytest

from loadtests import thresholds
from loadtests.results import Measurement, ScenarioResult, SuiteResult, Usage
from loadtests.suites import SUITES
from loadtests.summary import value


def measured(target: str, cpu: float, number: int) -> Measurement:
    usage = {"proxy": Usage(cpu * number, 2**20, 0)} if cpu else {}
    return Measurement(target, number, 1000, 2.0, {}, usage, 1000, 0, 0)


# Twice as slow in the second round: the ratios stay.
MEASURED = [
    measured(target, cpu, number)
    for number in (1, 2)
    for target, cpu in (("direct", 0), ("envoy-tcp", 0.25), ("fieldveil", 0.75))
]
SUITE = SuiteResult("oltp", "", [ScenarioResult("point-read", "", "transaction", {}, "prepared", "app", MEASURED)])


def limit(at_most: float, **changes: str) -> thresholds.Threshold:
    given = {"suite": "oltp", "scenario": "point-read", "measure": "cpu_us.proxy", "target": "fieldveil"}
    return thresholds.Threshold(**{**given, "over": "envoy-tcp", "at_most": at_most, "reason": "", **changes})


@pytest.mark.parametrize(("at_most", "passed"), [(3.0, True), (2.9, False)])
def test_median_ratio_is_held_to_the_limit(at_most: float, passed: bool) -> None:
    (judged,) = thresholds.judge([limit(at_most)], [SUITE])
    assert (judged.measured, judged.passed) == (pytest.approx(3.0), passed)


def test_missing_figure_fails() -> None:
    (judged,) = thresholds.judge([limit(9, over="direct")], [SUITE])
    assert (judged.measured, judged.passed) == (None, False)


def test_what_did_not_run_is_not_judged() -> None:
    assert thresholds.judge([limit(1, suite="rows"), limit(1, scenario="left-out")], [SUITE]) == []


def test_each_threshold_of_the_project_names_what_there_is_and_a_reason() -> None:
    for threshold in thresholds.read():
        scenarios = {scenario.name: scenario for scenario in SUITES[threshold.suite].scenarios(1)}
        scenario = scenarios[threshold.scenario]
        assert scenario.targets is None or {threshold.target, threshold.over} <= set(scenario.targets)
        assert threshold.reason
        value(MEASURED[0], threshold.measure)


def test_unknown_word_in_the_file_is_refused(tmp_path) -> None:
    file = tmp_path / "thresholds.json"
    file.write_text('[{"suite": "oltp", "atMost": 1}]')
    with pytest.raises(msgspec.ValidationError, match="atMost"):
        thresholds.read(file)
