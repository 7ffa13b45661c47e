"""What a run must keep to: ratios, each with its reason, in `loadtests/thresholds.json`.

They fail a load test, not CI.
"""

from pathlib import Path

import msgspec

from loadtests.results import SuiteResult, ThresholdResult
from loadtests.summary import ScenarioSummary, SuiteSummary

FILE = Path(__file__).with_name("thresholds.json")


class Threshold(msgspec.Struct, forbid_unknown_fields=True):
    """`measure` of `target`, divided by that of `over` in the same round; the median over rounds."""

    suite: str
    scenario: str
    measure: str
    target: str
    over: str
    at_most: float
    reason: str


def read(path: Path = FILE) -> list[Threshold]:
    return msgspec.json.decode(path.read_bytes(), type=list[Threshold])


def judge(thresholds: list[Threshold], suites: list[SuiteResult]) -> list[ThresholdResult]:
    """Those of the suites that ran. One whose scenario or figure is missing there has failed."""
    ran = {suite.name: SuiteSummary(suite).scenarios() for suite in suites}
    return [_judge(threshold, ran[threshold.suite]) for threshold in thresholds if threshold.suite in ran]


def _judge(threshold: Threshold, scenarios: dict[str, ScenarioSummary]) -> ThresholdResult:
    scenario = scenarios.get(threshold.scenario)
    ratio = scenario and scenario.ratio(threshold.measure, threshold.target, threshold.over)
    measured = ratio.median if ratio else None
    return ThresholdResult(
        suite=threshold.suite,
        scenario=threshold.scenario,
        measure=f"{threshold.measure}: {threshold.target} / {threshold.over}",
        limit=threshold.at_most,
        measured=measured,
        passed=measured is not None and measured <= threshold.at_most,
        reason=threshold.reason,
    )
