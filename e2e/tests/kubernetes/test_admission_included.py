"""A chart of one's own that includes the sidecar, and the policy that refuses its imitations."""

import json
from collections.abc import Iterator

import pytest
import yaml

from dev.layout import CHARTS
from kubernetes import Namespace, kubectl
from tests.kubernetes import admission
from tests.kubernetes.admission import container, made, names, pod, refusal

CHART = CHARTS / "testdata" / "own-deployment"
VALUES = {"fieldveil": admission.VALUES, "replicas": 0}


@pytest.fixture(scope="module")
def template(namespace: Namespace) -> Iterator[dict]:
    """The pods' template of the Deployment, in a namespace where the release's policy is in force."""
    helm = ("helm", f"--namespace={namespace.name}")
    given = yaml.safe_dump(VALUES)
    rendered = kubectl.run(*helm, "template", "orders", CHART, "--values=-", stdin=given)
    deployment = next(item for item in yaml.safe_load_all(rendered) if item and item["kind"] == "Deployment")
    found = deployment["spec"]["template"]
    kubectl.run(*helm, "install", "orders", CHART, "--values=-", stdin=given)
    try:
        says_so = pod(labels=found["metadata"]["labels"])
        namespace.wait_until(lambda: admission.is_refused(namespace, says_so), "the policy", admission.IN_FORCE_SECONDS)
        yield found
    finally:
        kubectl.run(*helm, "uninstall", "orders")


def _pod(template: dict) -> dict:
    described = json.loads(json.dumps(template))
    described["metadata"]["name"] = "app"
    return {"apiVersion": "v1", "kind": "Pod", **described}


def test_the_charts_own_pods_are_let_in(namespace: Namespace, template: dict) -> None:
    described = _pod(template)
    assert names(made(namespace, described)["spec"]["initContainers"]) == names(described["spec"]["initContainers"])


def test_pods_that_imitate_them_are_refused(namespace: Namespace, template: dict) -> None:
    described = _pod(template)
    described["spec"]["initContainers"] = [container(name) for name in names(described["spec"]["initContainers"])]
    said = refusal(lambda: made(namespace, described))
    assert "init container fieldveil-agent differs in image" in said


def test_nothing_asks_for_injection_there(namespace: Namespace, template: dict) -> None:
    assert "initContainers" not in made(namespace, pod(labels=admission.ASKS))["spec"]
    assert template["metadata"]["labels"]["fieldveil.io/release"] == "orders-fieldveil"
