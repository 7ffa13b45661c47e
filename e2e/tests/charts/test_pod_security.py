"""The Pod Security Standard `restricted`, by Kubernetes' own checks, for every pod that the charts make."""

import copy
import json
import subprocess

import pytest

from dev.layout import POD_SECURITY
from tests.charts.pods import pods
from tests.charts.rendering import RENDERINGS, sidecar_of

REDIRECT = "fieldveil-redirect"


def refusals(found: list[dict], level: str = "restricted") -> list[list[str]]:
    """For each pod why it is refused."""
    done = subprocess.run([POD_SECURITY, level], input=json.dumps(found), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def without(pod: dict, container: str) -> dict:
    other = copy.deepcopy(pod)
    there = pod["spec"].get("initContainers", [])
    other["spec"]["initContainers"] = [one for one in there if one["name"] != container]
    return other


@pytest.mark.parametrize("rendering", [name for name in RENDERINGS if not sidecar_of(name)["redirect"]["enabled"]])
def test_every_pod_satisfies_the_restricted_standard(rendering: str) -> None:
    found = pods(rendering)
    if rendering.startswith("own-deployment/"):
        assert found
    assert dict(zip(found, refusals(list(found.values())), strict=True)) == {name: [] for name in found}


@pytest.mark.parametrize("rendering", [name for name in RENDERINGS if sidecar_of(name)["redirect"]["enabled"]])
def test_the_redirection_is_all_that_the_restricted_standard_refuses(rendering: str) -> None:
    for pod in pods(rendering).values():
        names = {one["name"] for one in pod["spec"].get("initContainers", [])}
        # NET_ADMIN and root, of this container alone.
        reasons = [reason for reason in refusals([pod])[0] if f'"{REDIRECT}"' in reason]
        assert bool(reasons) == (REDIRECT in names)
        assert refusals([without(pod, REDIRECT)]) == [[]]


def test_a_pod_that_is_not_restricted_would_be_found() -> None:
    (pod,) = pods("own-deployment/postgres").values()
    for field in ("capabilities", "seccompProfile", "allowPrivilegeEscalation"):
        loose = copy.deepcopy(pod)
        del loose["spec"]["securityContext"]["seccompProfile"]
        del loose["spec"]["initContainers"][-1]["securityContext"][field]
        assert refusals([loose]) != [[]]
