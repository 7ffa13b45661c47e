"""OPA takes the configuration and the mask that the chart gives it, with the arguments of its container."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dev.layout import OPA, POLICIES
from harness import unixhttp
from harness.process import Process
from harness.workdir import WorkDir
from tests.charts.pods import container
from tests.charts.rendering import CASES, LIBRARY, config_map


@pytest.fixture
def process(work: WorkDir) -> Iterator[Process]:
    started = Process("opa", work.log("opa"))
    yield started
    started.stop()


# A ConfigMap, and a server with all that there is to say of it.
@pytest.mark.parametrize("case", ["postgres-tls", "bundle-server"])
def test_opa_takes_its_configuration(case: str, process: Process, work: WorkDir) -> None:
    socket = work.socket("opa.sock")
    rendering = f"own-deployment/{case}"
    (work.path / "token").write_text("token")
    (work.path / "policy.pub.pem").write_text(config_map("fieldveil/bundle-server", "policy.pub.pem"))
    # Of an authority it reads the file when it first asks.
    (work.path / "ca.crt").write_text("")
    for file in ("opa.yaml", "log.rego"):
        (work.path / file).write_text(in_place(config_map(rendering, file), work.path))
    arguments = container(rendering, "fieldveil-opa")["args"]
    process.start([OPA, *(in_place(word, work.path) for word in arguments)])
    process.wait_until(lambda: unixhttp.is_ok(socket, "/health"))
    answer = unixhttp.request(socket, "POST", "/v1/data/system/log/mask", b'{"input": {}}')
    assert answer[0] == 200
    assert b'"result"' in answer[2]


def in_place(text: str, folder: Path) -> str:
    """With the pod's files in one folder, and a port of the system's choice."""
    for mounted in ("config", "policy-key", "policy-token", "policy-server"):
        text = text.replace(f"/etc/fieldveil/{mounted}/", f"{folder}/")
    for mounted in ("/run/fieldveil/opa", "/var/lib/fieldveil/opa"):
        text = text.replace(mounted, str(folder))
    return text.replace("0.0.0.0:15022", "127.0.0.1:0")


def test_the_mask_of_the_chart_is_that_of_the_policies() -> None:
    """A chart can't read what is outside of it, so that it has a copy."""
    original = (POLICIES / "system" / "log" / "log.rego").read_text()
    assert original.strip() in (LIBRARY / "templates" / "_log_mask.tpl").read_text()


@pytest.mark.parametrize("case", CASES)
def test_the_mask_is_rendered_as_it_is(case: str) -> None:
    original = (POLICIES / "system" / "log" / "log.rego").read_text()
    assert config_map(f"fieldveil/{case}", "log.rego").strip() == original.strip()
