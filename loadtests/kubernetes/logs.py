"""A measurement that was made by hand: of its pods' logs, the same results as of a run."""

import datetime
import json
from pathlib import Path

from loadtests import environment
from loadtests.kubernetes import merge
from loadtests.kubernetes.made import made
from loadtests.kubernetes.merge import UnmergeableResults
from loadtests.results import Results, ScenarioResult, SuiteResult, TargetInfo
from loadtests.rig import TARGETS
from loadtests.suites import SUITES


def results(work: Path, runners: list[Path], meters: list[Path]) -> Results:
    """Of one target and one round; `work` is the document that the runners were given."""
    document = json.loads(work.read_text())
    target, workload = TARGETS[document["target"]], document["workload"]
    suite = SUITES[document["suite"]]
    known = [scenario for scenario in suite.scenarios(1.0) if scenario.name == document["scenario"]]
    if not known:
        raise UnmergeableResults(f"{work}: suite {suite.name} has no scenario {document['scenario']}")
    found = [merge.runner_result(path.read_text(), str(path)) for path in runners]
    read = [merge.samples(path.read_text()) for path in meters]
    measurement = merge.measurement(target.name, 1, workload["kind"], found, read)
    scenario = ScenarioResult(
        known[0].name, known[0].what, known[0].unit, workload, document["mode"], document["user"], [measurement]
    )
    began = datetime.datetime.fromtimestamp(min(runner.began for runner in found), datetime.UTC)
    together = {"runners_together_percent": [round(100 * merge.common_share(found), 1)]}
    return Results(
        made(environment.source(), began, measurement.seconds, len(runners), "", {}, together),
        [TargetInfo(target.name, target.what)],
        [SuiteResult(suite.name, suite.what, [scenario])],
    )
