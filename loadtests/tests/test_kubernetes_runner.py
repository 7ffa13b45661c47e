"""A measurement in a cluster, step by step: with a kubectl that keeps what it is given and answers from files."""

import json
import os
from dataclasses import asdict
from pathlib import Path

import pytest

from loadtests.environment import Noise
from loadtests.kubernetes import cluster as cluster_module
from loadtests.kubernetes import places
from loadtests.kubernetes.cluster import Cluster, ClusterFailed
from loadtests.kubernetes.remote import NotReady
from loadtests.kubernetes.runner import ClusterRunner
from loadtests.report import facts
from loadtests.results import Results
from loadtests.runner import RunFailed
from loadtests.tests.test_kubernetes_merge import runner as runner_result
from loadtests.tests.test_kubernetes_places import EXAMPLE

# Answers with the file that is called as its words are, and keeps each call with what it is given.
KUBECTL = """\
#!/bin/sh
shift 2
case "$*" in *"-f -") given=$(cat);; *) given=;; esac
printf '%s\\n%s\\n' "$*" "$given" >> "$ANSWERS/calls"
answer="$ANSWERS/$(printf %s "$*" | tr -c 'a-zA-Z0-9=\\n' _)"
case $1 in apply|delete) exit 0;; esac
if [ -f "$answer" ]; then cat "$answer"; else echo "no answer to $*" >&2; exit 1; fi
"""

WORK = {
    "target": "fieldveil",
    "folder": "/shared",
    "data": {},
    "workload": {"kind": "closed", "clients": 8, "seconds": 1.0, "rate": 0, "operations": 0},
}


@pytest.fixture
def answers(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "answers"
    folder.mkdir()
    program = tmp_path / "bin" / "kubectl"
    program.parent.mkdir()
    program.write_text(KUBECTL)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("ANSWERS", str(folder))
    monkeypatch.setattr(cluster_module, "POLL_SECONDS", 0.01)
    return folder


def answer(folder: Path, words: str, said: object) -> None:
    name = "".join(c if c.isascii() and (c.isalnum() or c == "=") else "_" for c in words)
    (folder / name).write_text(said if isinstance(said, str) else json.dumps(said))


def a_cluster(folder: Path, *, stage: str = "finished", wrong: int = 0) -> None:
    """With the example's containers on one node, and a TestRun that ends in a stage."""
    for app, containers in (("postgres", ["postgres"]), ("fieldveil", ["envoy", "opa", "agent"])):
        pod = a_pod(app, *containers)
        answer(folder, f"get pods -l app={app} -o json", {"items": [pod]})
    answer(folder, "get pod loadtest-meter-0 -o json", {"status": {"phase": "Running"}})
    usage = {"proxy": {"cpu_seconds": 1.0, "resident_bytes": 5, "context_switches": 7}}
    lines = [json.dumps({"at": at, "usage": usage}) for at in (90, 120)]
    answer(folder, "logs loadtest-meter-0", "\n".join(lines) + "\n")
    answer(folder, "get testrun loadtest -o json", {"status": {"stage": stage}})
    pods = [{"metadata": {"name": f"loadtest-{number}"}} for number in (1, 2)]
    answer(folder, "get pods -l k6_cr=loadtest,runner=true -o json", {"items": pods})
    others = [{"metadata": {"name": "loadtest-initializer"}}]
    answer(folder, "get pods -l k6_cr=loadtest,runner!=true -o json", {"items": others})
    answer(folder, "logs loadtest-initializer", "what is wrong with the script\n")
    for number in (1, 2):
        result = asdict(runner_result([10.0] * 4, wrong_answers=wrong, failures=["wrong answer: a row"]))
        answer(folder, f"logs loadtest-{number}", json.dumps(result) + "\n")


def a_pod(app: str, *containers: str, phase: str = "Running") -> dict:
    states = [{"name": name, "containerID": f"containerd://id-of-{name}"} for name in containers]
    return {
        "metadata": {"name": f"{app}-0"},
        "spec": {"nodeName": "node-7"},
        "status": {"phase": phase, "containerStatuses": states},
    }


def a_runner(folder: Path, parallelism: int = 2) -> ClusterRunner:
    (folder / "k6").mkdir()
    return ClusterRunner(
        [], 1.0, 1, folder / "k6", places=places.read(EXAMPLE), cluster=Cluster("here"), parallelism=parallelism,
        image="registry/image:2", drop=False,
    )  # fmt: skip


def applied(folder: Path) -> dict[str, dict]:
    """By kind, what kubectl was given."""
    lists = [json.loads(line) for line in (folder / "calls").read_text().splitlines() if line.startswith("{")]
    return {thing["kind"]: thing for given in lists for thing in given["items"]}


def measured(runner: ClusterRunner, **changes: object) -> dict:
    runner._together = []
    return runner.k6("a.measurement", {**WORK, **changes})


def test_the_runners_results_are_one(answers, tmp_path):
    a_cluster(answers)
    found = measured(a_runner(tmp_path))
    assert (found["operations"], found["answers"], found["wrong_answers"]) == (8, 8, 0)
    assert found["usage"]["proxy"]["cpu_seconds"] == 0
    assert (tmp_path / "k6" / "a.measurement.loadtest-2.log").exists()


def test_a_wrong_answer_of_any_runner_is_one_of_the_measurement(answers, tmp_path, capsys):
    a_cluster(answers, wrong=1)
    assert measured(a_runner(tmp_path))["wrong_answers"] == 2
    assert "wrong answer: a row" in capsys.readouterr().err


def test_what_is_made_is_as_the_measurement_needs_it(answers, tmp_path):
    a_cluster(answers)
    measured(a_runner(tmp_path))
    made = applied(answers)
    assert json.loads(made["ConfigMap"]["data"]["work.json"])["result"] == "stdout"
    assert made["TestRun"]["spec"]["parallelism"] == 2
    assert {made["TestRun"]["spec"][part]["image"] for part in ("runner", "starter")} == {"registry/image:2"}
    assert made["Pod"]["spec"]["nodeName"] == "node-7"
    (meter,) = made["Pod"]["spec"]["containers"]
    told = {variable["name"]: variable["value"] for variable in meter["env"]}
    names = {"server": "postgres", "proxy": "envoy", "opa": "opa", "agent": "agent"}
    assert set(told["CONTAINERS"].split()) == {f"{process}=id-of-{name}" for process, name in names.items()}
    assert told["K6_NO_USAGE_REPORT"] == "true"


def test_no_more_runners_than_clients(answers, tmp_path):
    a_cluster(answers)
    measured(a_runner(tmp_path, parallelism=9), workload={**WORK["workload"], "clients": 2})
    assert applied(answers)["TestRun"]["spec"]["parallelism"] == 2


def test_a_run_that_ends_in_error_fails_with_its_logs_kept_and_nothing_left(answers, tmp_path):
    a_cluster(answers, stage="error")
    with pytest.raises(RunFailed, match="stage is error"):
        measured(a_runner(tmp_path))
    log = tmp_path / "k6" / "a.measurement.loadtest-initializer.log"
    assert log.read_text() == "what is wrong with the script\n"
    last = (answers / "calls").read_text().split("\n\n")[-2].splitlines()[-1]
    assert last.startswith("delete ")
    assert all(name in last for name in ("TestRun/loadtest", "Pod/loadtest-meter-0", "ConfigMap/loadtest-work"))


def test_a_runner_that_is_missing_fails_the_measurement(answers, tmp_path):
    a_cluster(answers)
    with pytest.raises(RunFailed, match="2 of 3 runners"):
        measured(a_runner(tmp_path, parallelism=3))


def test_a_script_that_shares_files_is_not_sent_away(answers, tmp_path):
    with pytest.raises(NotReady, match="make loadtest"):
        measured(a_runner(tmp_path), data={"path": "/shared/table.copy"})
    assert not (answers / "calls").exists()


@pytest.mark.parametrize(
    ("pods", "says"),
    [
        ([], "0 running pods"),
        ([a_pod("fieldveil", "envoy"), a_pod("fieldveil", "envoy")], "2 running pods"),
        ([a_pod("fieldveil", "envoy", phase="Pending")], "0 running pods"),
        ([a_pod("fieldveil", "application")], "no such container, it has application"),
    ],
)
def test_a_container_that_is_not_one_is_refused(answers, pods, says):
    answer(answers, "get pods -l app=fieldveil -o json", {"items": pods})
    with pytest.raises(ClusterFailed, match=says):
        Cluster("here").container(places.read(EXAMPLE).targets["fieldveil"].containers["proxy"])


def test_what_kubectl_says_is_in_the_error(answers):
    with pytest.raises(ClusterFailed, match="no answer to get testrun other"):
        Cluster("here").get("testrun", "other")


def test_the_report_knows_the_nodes(answers, tmp_path):
    info = {"kernelVersion": "6.1", "osImage": "Debian 12", "kubeletVersion": "v1.36.3"}
    status = {"capacity": {"cpu": "2", "memory": "24Gi"}, "nodeInfo": info}
    answer(answers, "get nodes -o json", {"items": [{"metadata": {"name": "node-7"}, "status": status}]})
    runner = a_runner(tmp_path)
    runner._together = [99.0]
    results = Results(runner.made(1.0, Noise(), {"postgresql": "18.4"}), [], [])
    assert facts.machine(results) == "node node-7: 2 cores, 24Gi of memory, Linux 6.1, Debian 12, Kubernetes v1.36.3"
    assert results.made.noise == {"runners_together_percent": [99.0]}
    # Not those of this machine.
    assert results.made.versions.keys() == {"k6 runners", "percentiles", "postgresql", "k6 image", "envoy", "opa"}


def test_programs_of_this_machine_are_not_beside_what_the_cluster_measures(answers, tmp_path):
    assert a_runner(tmp_path).others() is None
