"""Rendering the charts with Helm. Each values file in `charts/testdata/values` is rendered by both charts."""

import json
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import yaml

from dev.layout import CHARTS, HELM
from harness.parts import overlaid

CHART = CHARTS / "fieldveil"
LIBRARY = CHART / "charts" / "fieldveil-sidecar"
# A chart of somebody's own, whose Deployment has the library's templates in it.
OWN = CHARTS / "testdata" / "own-deployment"
VALUES = CHARTS / "testdata" / "values"
GOLDEN = CHARTS / "testdata" / "golden"

NEWEST = "1.36"
OLDEST = "1.30"
PATCH = {NEWEST: "1.36.3", OLDEST: "1.30.14"}
# What a cluster of that release has besides what Helm takes for granted without one.
APIS = {
    NEWEST: ("admissionregistration.k8s.io/v1/MutatingAdmissionPolicy", "monitoring.coreos.com/v1"),
    OLDEST: (),
}

RELEASE = "shop"
NAMESPACE = "shop"

CASES = tuple(sorted(file.stem for file in VALUES.glob("*.yaml")))
# As the goldens are named.
RENDERINGS = tuple(f"{chart.name}/{case}" for chart in (CHART, OWN) for case in CASES)


class Refused(Exception):
    """Helm did not render; its words."""


def template(chart: Path, values: dict, *, kubernetes: str = NEWEST, helm: Path = HELM) -> str:
    """All manifests, in Helm's order."""
    command = [helm, "template", RELEASE, chart, "--namespace", NAMESPACE, "--kube-version", PATCH[kubernetes]]
    command += [word for api in APIS[kubernetes] for word in ("--api-versions", api)]
    done = subprocess.run(
        [*command, "--values", "-"], input=json.dumps(values), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise Refused(done.stderr)
    return done.stdout


def release_of(rendering: str) -> str:
    """The Kubernetes that a values file is for: what is for an old one says so in its name."""
    return OLDEST if rendering.endswith(OLDEST) else NEWEST


def values_of(rendering: str) -> dict:
    return yaml.safe_load((VALUES / f"{Path(rendering).name}.yaml").read_text())


def sidecar_of(rendering: str) -> dict:
    """All values of the sidecar, those that the file leaves out too."""
    return overlaid(yaml.safe_load((LIBRARY / "values.yaml").read_text()), values_of(rendering)["sidecar"])


@cache
def rendered(rendering: str, helm: Path = HELM) -> str:
    chart = next(chart for chart in (CHART, OWN) if chart.name == Path(rendering).parent.name)
    # Whole, so that nothing of the example's own values is left.
    values = values_of(rendering) if chart == CHART else {"fieldveil": sidecar_of(rendering)}
    return template(chart, values, kubernetes=release_of(rendering), helm=helm)


@cache
def manifests(rendering: str) -> tuple[dict, ...]:
    return tuple(documents(rendered(rendering)))


def documents(text: str) -> Iterator[dict]:
    return (document for document in yaml.load_all(text, yaml.CSafeLoader) if document)


def of_kind(found: tuple[dict, ...], kind: str) -> list[dict]:
    return [document for document in found if document["kind"] == kind]


def config_map(rendering: str, key: str) -> str:
    """The text that a ConfigMap has under a key."""
    return next(one["data"][key] for one in of_kind(manifests(rendering), "ConfigMap") if key in one.get("data", {}))
