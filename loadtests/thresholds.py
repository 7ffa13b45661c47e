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
    """Those of the scenarios that ran; a small scale leaves some out. One whose figure is missing there has failed."""
    ran = {(suite.name, name): found for suite in suites for name, found in SuiteSummary(suite).scenarios().items()}
    given = ((threshold, ran.get((threshold.suite, threshold.scenario))) for threshold in thresholds)
    return [_judge(threshold, scenario) for threshold, scenario in given if scenario]


def _judge(threshold: Threshold, scenario: ScenarioSummary) -> ThresholdResult:
    ratio = scenario.ratio(threshold.measure, threshold.target, threshold.over)
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
