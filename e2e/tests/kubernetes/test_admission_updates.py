"""What may be changed of a pod that runs, and who may look into it."""

import contextlib
import json
from collections.abc import Iterator

import pytest

from kubernetes import CommandFailed, Namespace
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


def test_the_labels_that_it_is_held_by_can_not_be_taken_from_a_pod_with_the_sidecar(released: Namespace) -> None:
    """It would be looked at no more when its images change or somebody debugs it."""
    said = refusal(lambda: released.kubectl("label", "pod", "with", *[f"{label}-" for label in SAYS_SO]))
    assert "can not be taken from a running pod" in said
    said = refusal(lambda: released.kubectl("label", "pod", "with", "--overwrite", "fieldveil.io/release=another"))
    assert "can not be taken from a running pod" in said


def test_labels_that_come_by_the_status_or_the_binding_of_a_pod_are_refused(released: Namespace) -> None:
    patch = json.dumps({"metadata": {"labels": SAYS_SO}})
    words = ("patch", "pod", "without", "--subresource=status", "--type=merge", f"--patch={patch}")
    assert "by its status or its binding" in refusal(lambda: released.kubectl(*words))
    said = refusal(lambda: _bind(released, "without", SAYS_SO))
    assert "by its status or its binding" in said


def test_the_status_of_any_pod_can_be_told_and_a_pod_be_bound(released: Namespace) -> None:
    said = json.dumps({"status": {"message": "seen"}, "metadata": {"labels": {"example.com/any": "status"}}})
    for name in ("with", "without"):
        released.kubectl("patch", "pod", name, "--subresource=status", "--type=merge", f"--patch={said}")
        assert released.get("pod", name)["status"]["message"] == "seen"
        _bind(released, name, {})


def _bind(namespace: Namespace, name: str, labels: dict) -> None:
    """As a scheduler does, by a dry run."""
    target = {"apiVersion": "v1", "kind": "Node", "name": "node"}
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name, "labels": labels}, "target": target}
    path = f"/api/v1/namespaces/{namespace.name}/pods/{name}/binding?dryRun=All"
    namespace.kubectl("create", f"--raw={path}", "--filename=-", stdin=json.dumps(binding))


@pytest.mark.parametrize("name", ["agent", "opa", "envoy"])
def test_a_program_can_not_be_started_in_a_sidecar(released: Namespace, name: str) -> None:
    said = refusal(lambda: released.kubectl("exec", "with", f"--container=fieldveil-{name}", "--", "/envoy"))
    assert f"a program in container fieldveil-{name} would be the sidecar" in said


def test_a_program_can_be_started_in_a_container_of_the_application(released: Namespace) -> None:
    """None runs here; the API server says so once nothing else forbids it."""
    with pytest.raises(CommandFailed, match="does not have a host assigned"):
        released.kubectl("exec", "with", "--container=main", "--", "true")


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
