"""What holds for every container that the charts make, whatever the values."""

from collections.abc import Iterator

import pytest

from harness.parts import overlaid
from tests.charts.expected import is_bridged
from tests.charts.pods import pods
from tests.charts.rendering import OWN, RENDERINGS, documents, of_kind, sidecar_of, template

SIDECAR = ("fieldveil-agent", "fieldveil-opa", "fieldveil-bridge-", "fieldveil-envoy")
# Of an application that is not ours.
APPLICATION = "orders"


def containers(rendering: str) -> Iterator[dict]:
    for pod in pods(rendering).values():
        every = [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]
        yield from (one for one in every if one["name"] != APPLICATION)


def sidecar_parts(rendering: str) -> list[str]:
    """In the order of their start: what Envoy needs is before it."""
    bridged = [upstream["name"] for upstream in sidecar_of(rendering)["upstreams"] if is_bridged(upstream)]
    bridges = [f"fieldveil-bridge-{name}" for name in bridged]
    return ["fieldveil-agent", "fieldveil-opa", *bridges, "fieldveil-envoy"]


@pytest.mark.parametrize("rendering", RENDERINGS)
def test_no_root_file_system_is_written(rendering: str) -> None:
    assert [one["name"] for one in containers(rendering) if not one["securityContext"]["readOnlyRootFilesystem"]] == []


@pytest.mark.parametrize("rendering", RENDERINGS)
def test_memory_is_bounded_and_asked_for(rendering: str) -> None:
    for one in containers(rendering):
        assert one["resources"]["limits"]["memory"], one["name"]
        assert {"cpu", "memory"} <= set(one["resources"]["requests"]), one["name"]


@pytest.mark.parametrize("rendering", RENDERINGS)
def test_no_secret_is_a_variable_of_the_sidecar(rendering: str) -> None:
    parts = [one for one in containers(rendering) if one["name"].startswith(SIDECAR)]
    variables = [told for one in parts for told in one.get("env", [])]
    assert [told["name"] for told in variables if "secretKeyRef" in told.get("valueFrom", {})] == []


@pytest.mark.parametrize("rendering", RENDERINGS)
def test_each_part_is_ready_before_the_next_begins(rendering: str) -> None:
    for pod in pods(rendering).values():
        parts = [one for one in pod["spec"].get("initContainers", []) if one["name"].startswith(SIDECAR)]
        assert [one["name"] for one in parts] in ([], sidecar_parts(rendering))
        assert all(one["restartPolicy"] == "Always" and "startupProbe" in one for one in parts)


@pytest.mark.parametrize("rendering", RENDERINGS)
def test_every_mount_is_of_a_volume_of_the_pod(rendering: str) -> None:
    for name, pod in pods(rendering).items():
        volumes = {volume["name"] for volume in pod["spec"].get("volumes", [])}
        every = [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]
        mounts = {mount["name"] for one in every for mount in one.get("volumeMounts") or []}
        # What injection adds, it brings its volumes for.
        assert mounts <= volumes, name
        assert {volume for volume in volumes if volume.startswith("fieldveil-")} <= mounts, f"{name} uses not all"


def test_a_pod_is_made_anew_for_what_is_read_at_its_start_alone() -> None:
    values = sidecar_of("own-deployment/postgres")
    (upstream,) = values["upstreams"]
    other = {"upstreams": [{**upstream, "port": 5433}]}
    polling = {"policies": {"polling": {"maxSeconds": 40}}}
    sums = [checksum(overlaid(values, change)) for change in ({}, other, polling)]
    assert len(set(sums)) == 3
    assert checksum(values) == sums[0]


def checksum(values: dict) -> str:
    (deployment,) = of_kind(tuple(documents(template(OWN, {"fieldveil": values}))), "Deployment")
    return deployment["spec"]["template"]["metadata"]["annotations"]["fieldveil.io/config-checksum"]
