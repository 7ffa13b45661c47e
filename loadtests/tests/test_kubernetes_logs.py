"""Logs of a TestRun that was made by hand, as results that the report takes."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from loadtests import results
from loadtests.kubernetes import logs
from loadtests.kubernetes.cluster import manifest
from loadtests.kubernetes.merge import UnmergeableResults
from loadtests.summary import SuiteSummary
from loadtests.tests.test_kubernetes_merge import meter, runner


def written(folder: Path, **changes: object) -> tuple[Path, list[Path], list[Path]]:
    work = {**json.loads(manifest("work")["data"]["work.json"]), **changes}
    texts = {
        "work.json": json.dumps(work),
        "1.log": json.dumps(asdict(runner([10.0] * 400))),
        "2.log": f"something\n{json.dumps(asdict(runner([30.0] * 600)))}\n",
        "meter.log": "".join(json.dumps(asdict(sample)) + "\n" for sample in meter((90, 0), (120, 3))),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    return folder / "work.json", [folder / "1.log", folder / "2.log"], [folder / "meter.log"]


def test_they_are_results_that_can_be_read_back_and_summed_up(tmp_path):
    logs.results(*written(tmp_path)).write(tmp_path / "results.json")
    found = results.read(tmp_path / "results.json")
    assert found.made.versions["k6 runners"] == "2 pods"
    assert found.made.noise == {"runners_together_percent": [100.0]}
    (summary,) = SuiteSummary(found.suites[0]).scenarios().values()
    assert summary.figure("operations_per_second", "fieldveil").median == pytest.approx(100)
    assert summary.figure("latency_us.50", "fieldveil").median == pytest.approx(30, rel=0.001)
    # A second of CPU in the ten of the window, for a thousand operations.
    assert summary.figure("cpu_us.proxy", "fieldveil").median == pytest.approx(1000)


def test_a_scenario_that_the_suite_does_not_have_is_refused(tmp_path):
    with pytest.raises(UnmergeableResults, match="no scenario other"):
        logs.results(*written(tmp_path, scenario="other"))
