"""What may be changed of a pod that runs, and who may look into it."""

import contextlib
import json
from collections.abc import Iterator

import pytest

from kubernetes import Namespace
from tests.kubernetes import admission
from tests.kubernetes.admission import ASKS, OPTS_OUT, SAYS_SO, container, pod, refusal

NEW_TAG = {"images": {"fieldveil": {"repository": "cluster.test/fieldveil", "tag": "newer"}}}


@pytest.fixture(scope="module")
def released(namespace: Namespace) -> Iterator[Namespace]:
    """With a pod of each kind that nothing starts: `with` the sidecar, `without` it."""
    admission.skip_without_injection(namespace)
    with admission.released(namespace):
        namespace.apply(pod("with", labels=ASKS), pod("without", labels=OPTS_OUT))
        yield namespace


@pytest.mark.parametrize("label", [*SAYS_SO, "fieldveil.io/inject"])
def test_a_label_that_a_running_pod_gets_without_the_sidecar_is_refused(released: Namespace, label: str) -> None:
    value = {**SAYS_SO, **ASKS}[label]
    said = refusal(lambda: released.kubectl("label", "pod", "without", "--overwrite", f"{label}={value}"))
    assert "pod without: " in said
    assert ("label its template" if label.endswith("inject") else "no init container fieldveil-agent") in said


def test_other_labels_of_any_pod_can_be_changed(released: Namespace) -> None:
    for name in ("with", "without"):
        released.kubectl("label", "pod", name, "--overwrite", "example.com/any=thing")


@pytest.mark.parametrize("name", ["agent", "opa", "envoy"])
def test_the_image_of_a_sidecar_can_not_be_changed_in_a_running_pod(released: Namespace, name: str) -> None:
    image = f"fieldveil-{name}=fieldveil.io/other:1"
    said = refusal(lambda: released.kubectl("set", "image", "pod/with", image))
    assert "pod with: the image of a sidecar" in said


def test_the_image_of_the_application_can_be_changed(released: Namespace) -> None:
    released.kubectl("set", "image", "pod/with", "main=fieldveil.io/other:1")


def test_a_pod_of_an_earlier_version_stays_as_it_is_and_can_be_changed_and_removed(released: Namespace) -> None:
    """After an upgrade its sidecars are no longer the release's; its labels and finalizers go on being its owner's."""
    described = pod("early", labels=ASKS)
    described["metadata"]["finalizers"] = ["example.com/held"]
    released.apply(described)
    with _upgraded(released):
        image = admission.sidecar(admission.made(released, pod(labels=ASKS)), "agent")["image"]
        assert image.endswith(":newer")
        released.kubectl("label", "pod", "early", "example.com/any=thing")
        released.kubectl("annotate", "pod", "early", "example.com/any=thing")
        said = refusal(lambda: released.kubectl("set", "image", "pod/early", f"fieldveil-agent={image}"))
        assert "the image of a sidecar" in said
        released.kubectl("delete", "pod", "early", "--wait=false")
        released.kubectl("patch", "pod", "early", "--type=merge", '--patch={"metadata":{"finalizers":null}}')
        released.wait_until(lambda: not released.exists("pod", "early"), "the pod to go", 30)


MOUNT = {"name": "fieldveil-agent", "mountPath": "/mine"}
CLIENT_KEY = {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "client", "key": "tls.key"}}}
DEBUGGERS = {
    "mounts": ({"volumeMounts": [MOUNT]}, "container look mounts a volume that is private"),
    "reads": ({"env": [CLIENT_KEY]}, "container look reads a Secret of the sidecar"),
    "shares-processes": ({"targetContainerName": "fieldveil-agent"}, "would share the processes of the sidecar"),
}


@pytest.mark.parametrize("of", DEBUGGERS)
def test_an_ephemeral_container_that_reaches_for_the_sidecar_is_refused(released: Namespace, of: str) -> None:
    more, expected = DEBUGGERS[of]
    said = refusal(lambda: _debug(released, "with", container("look", **more)))
    assert "pod with: " in said
    assert expected in said


def test_an_ephemeral_container_beside_the_application_is_let_in(released: Namespace) -> None:
    _debug(released, "with", container("look", targetContainerName="main"))
    _debug(released, "without", container("look"))


def _debug(namespace: Namespace, name: str, ephemeral: dict) -> None:
    """As `kubectl debug` does, by a dry run."""
    described = namespace.get("pod", name)
    described["spec"]["ephemeralContainers"] = [ephemeral]
    path = f"/api/v1/namespaces/{namespace.name}/pods/{name}/ephemeralcontainers?dryRun=All"
    namespace.kubectl("replace", f"--raw={path}", "--filename=-", stdin=json.dumps(described))


@contextlib.contextmanager
def _upgraded(namespace: Namespace) -> Iterator[None]:
    admission.helm(namespace, "upgrade", values={"sidecar": {**admission.VALUES, **NEW_TAG}})
    newer = NEW_TAG["images"]["fieldveil"]["tag"]

    def in_force() -> bool:
        try:
            made = admission.made(namespace, pod(labels=ASKS))
        except admission.CommandFailed:
            return False
        return admission.sidecar(made, "agent")["image"].endswith(newer)

    namespace.wait_until(in_force, "the upgraded policies", admission.IN_FORCE_SECONDS)
    try:
        yield
    finally:
        admission.helm(namespace, "upgrade", values={"sidecar": admission.VALUES})
