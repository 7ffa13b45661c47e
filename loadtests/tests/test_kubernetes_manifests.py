"""The manifests for a cluster: they fit the operator's schema, and what they name is there."""

import copy
import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from dev.layout import ROOT
from loadtests.kubernetes.cluster import MANIFESTS, manifest
from loadtests.results import PROCESSES
from loadtests.suites import SUITES
from loadtests.tests.structural import problems

SCHEMA = json.loads((Path(__file__).parent / "schemas" / "testrun.json").read_text())
IMAGE = ROOT / "loadtests" / "kubernetes" / "image"
DOCKERFILE = (IMAGE / "Dockerfile").read_text()


def refused(run: dict) -> list[str]:
    return list(problems(run, SCHEMA["TestRun"], SCHEMA))


def test_the_test_run_fits_the_operators_schema():
    run = manifest("testrun")
    assert (run["apiVersion"], run["kind"]) == ("k6.io/v1alpha1", "TestRun")
    assert refused(run) == []
    assert run["spec"]["parallelism"] > 1


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("spec", "paralelism"), 2),
        (("spec", "parallelism"), "2"),
        (("spec", "runner", "automountServiceAccountToken"), False),
        (("spec", "runner", "volumes"), [{"configMap": {}}]),
    ],
)
def test_what_the_operator_does_not_know_is_refused(path, value):
    run = copy.deepcopy(manifest("testrun"))
    place = run
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    assert len(refused(run)) == 1


def test_every_resource_of_the_kustomization_is_there():
    resources = manifest("kustomization")["resources"]
    assert all(isinstance(manifest(Path(name).stem), dict) for name in resources)
    on_disk = {path.name for path in MANIFESTS.iterdir()} - {"kustomization.yaml", "meter.yaml"}
    assert on_disk == set(resources)


def test_runners_read_the_work_document_that_is_mounted():
    spec = manifest("testrun")["spec"]["runner"]
    work = manifest("work")
    (volume,) = [volume for volume in spec["volumes"] if volume.get("configMap") == {"name": work["metadata"]["name"]}]
    (mount,) = [mount for mount in spec["volumeMounts"] if mount["name"] == volume["name"]]
    (told,) = [variable["value"] for variable in spec["env"] if variable["name"] == "WORK"]
    (document,) = work["data"]
    assert told == f"{mount['mountPath']}/{document}"


def test_the_work_document_that_is_shown_is_one_of_a_suites():
    work = json.loads(manifest("work")["data"]["work.json"])
    (scenario,) = [known for known in SUITES[work["suite"]].scenarios(1.0) if known.name == work["scenario"]]
    assert (work["script"], work["mode"], work["user"]) == (scenario.script, scenario.mode, scenario.user)
    assert work["workload"]["clients"] == scenario.workload.clients
    assert (ROOT / "loadtests" / "k6" / "scenarios" / f"{work['script']}.js").exists()
    assert work["result"] == "stdout"


def test_no_password_stands_in_a_manifest():
    for path in MANIFESTS.iterdir():
        assert not re.search(r"password\s*[=:]", path.read_text(), re.IGNORECASE), path
    spec = manifest("testrun")["spec"]["runner"]
    # The operator writes what is under env on the initializer's command line.
    assert not [variable for variable in spec["env"] if "PASSWORD" in variable["name"] or "valueFrom" in variable]
    assert [source["secretRef"] for source in spec["envFrom"]]


def test_every_file_that_the_manifests_and_the_image_name_exists():
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    assert copied
    for name in " ".join(copied).split():
        assert (ROOT / name).exists(), name
    inside = {manifest("testrun")["spec"]["script"]["localFile"], *re.findall(r"/loadtests/k6/\S+\.js", _meter())}
    assert len(inside) == 2
    assert all((ROOT / name.lstrip("/")).is_file() for name in inside)
    (command,) = [container["command"] for container in manifest("meter")["spec"]["containers"]]
    assert command == ["/loadtests/meter"]
    assert "loadtests/kubernetes/image/meter /loadtests/meter" in DOCKERFILE


def test_only_the_meter_sees_the_node_and_it_writes_nothing_there():
    assert "hostPath" not in (MANIFESTS / "testrun.yaml").read_text()
    meter = manifest("meter")["spec"]
    (volume,) = [volume for volume in meter["volumes"] if "hostPath" in volume]
    (container,) = meter["containers"]
    (mount,) = [mount for mount in container["volumeMounts"] if mount["name"] == volume["name"]]
    assert volume["hostPath"]["path"] == "/sys/fs/cgroup"
    assert mount["readOnly"]
    assert f"root={mount['mountPath']}\n" in _meter()


@pytest.mark.parametrize("version", [1, 2])
def test_the_meter_finds_a_containers_own_cgroup(tmp_path, version):
    """The shell script, with a k6 that says what it was told."""
    tree = tmp_path / "cgroup" if version == 2 else tmp_path / "cgroup" / "cpuacct"
    ours = tree / "kubepods.slice" / "pod1" / "cri-containerd-aaa.scope"
    (ours / "inner-aaa").mkdir(parents=True)
    (tree / "kubepods.slice" / "pod2" / "bbb").mkdir(parents=True)
    if version == 2:
        (tree / "cgroup.controllers").touch()
    done = _run_meter(tmp_path, "proxy=aaa server=bbb")
    assert json.loads(done.stdout) == {
        "proxy": [f"cgroup:{ours}"],
        "server": [f"cgroup:{tree / 'kubepods.slice' / 'pod2' / 'bbb'}"],
    }
    assert "proxy" in PROCESSES


def test_a_meter_on_another_node_says_so(tmp_path):
    (tmp_path / "cgroup" / "cpuacct").mkdir(parents=True)
    done = _run_meter(tmp_path, "proxy=aaa")
    assert done.returncode == 1
    assert "no cgroup of container aaa (proxy)" in done.stderr


def _meter() -> str:
    return (IMAGE / "meter").read_text()


def _run_meter(folder: Path, containers: str) -> subprocess.CompletedProcess:
    script = folder / "meter"
    script.write_text(_meter().replace("root=/host/cgroup", f"root={folder / 'cgroup'}"))
    k6 = folder / "bin" / "k6"
    k6.parent.mkdir()
    k6.write_text('#!/bin/sh\nprintf %s "$PROCESSES"\n')
    k6.chmod(0o755)
    environment = {"PATH": f"{k6.parent}:/usr/bin:/bin", "CONTAINERS": containers}
    return subprocess.run(["sh", script], env=environment, capture_output=True, text=True, check=False)


def test_manifests_are_read_as_yaml_whole():
    for path in MANIFESTS.iterdir():
        assert len(list(yaml.safe_load_all(path.read_text()))) == 1, path
