"""Pods as the API server makes them of what is asked for: by dry runs, which pass every admission and leave nothing."""

import contextlib
import copy
import json
from collections.abc import Callable, Iterator

import pytest
import yaml

from kubernetes import CommandFailed, Namespace, kubectl, pods
from kubernetes.release import CHART

ASKS = {"fieldveil.io/inject": "enabled"}
OPTS_OUT = {"fieldveil.io/inject": "disabled"}
SAYS_SO = {"fieldveil.io/sidecar": "true", "fieldveil.io/release": "fieldveil"}
# No node takes it: a pod that is there and never starts.
NO_SCHEDULER = "fieldveil.io/none"
IN_FORCE_SECONDS = 30
FIRST_MINOR_WITH_INJECTION = 36

# All that brings a volume of its own, or a variable.
VALUES = {
    "images": {"fieldveil": {"repository": "cluster.test/fieldveil", "tag": "test"}},
    "upstreams": [
        {
            "name": "orders-db",
            "protocol": "postgres",
            "host": "orders-db.data.svc.cluster.local",
            "port": 5432,
            "tls": {"serverName": "orders-db", "ca": {"configMap": "ca"}, "clientCertificate": {"secret": "client"}},
            "listener": {"address": "127.0.0.1", "port": 15432, "socket": True},
        }
    ],
    "policies": {"configMap": "policies", "verification": {"configMap": "policy-key"}},
    "keys": {
        "keysets": {"secret": "keysets"},
        "kekUri": "hcvault://vault:8200/transit/keys/fieldveil",
        "vault": {"address": "https://vault:8200", "role": "orders"},
        # What CEL, JSON and YAML each read as something else.
        "environment": {"ODD": 'it\'s "odd" \\n $(HOME) $$ {{ x }} <&> é😀\n\tsecond line: #1'},
    },
    "identity": {"podLabels": ["team", "example.com/tier"]},
}


def skip_without_injection(namespace: Namespace) -> None:
    if namespace.cluster.minor < FIRST_MINOR_WITH_INJECTION:
        pytest.skip("the cluster has no MutatingAdmissionPolicy")


def helm(namespace: Namespace, verb: str, name: str = "fieldveil", values: dict | None = None) -> str:
    given = [CHART, "--values=-"] if values is not None else []
    return kubectl.run("helm", f"--namespace={namespace.name}", verb, name, *given, stdin=yaml.safe_dump(values))


@contextlib.contextmanager
def released(namespace: Namespace, sidecar: dict | None = None, **values: object) -> Iterator[Namespace]:
    """A release, whose policies are in force within. They belong to no namespace: they would outlive it."""
    helm(namespace, "install", values={"sidecar": sidecar or VALUES, **values})
    try:
        wait_in_force(namespace)
        yield namespace
    finally:
        helm(namespace, "uninstall")


def wait_in_force(namespace: Namespace, label: str = "enabled", release: str = "fieldveil") -> None:
    """Policies take a second or two."""
    claiming = pod("in-force", labels={**SAYS_SO, "fieldveil.io/release": release, **OPTS_OUT})
    namespace.wait_until(lambda: is_refused(namespace, claiming), "the validating policy", IN_FORCE_SECONDS)
    asking = pod("in-force", labels={"fieldveil.io/inject": label})
    namespace.wait_until(lambda: not is_refused(namespace, asking), "the mutating policy", IN_FORCE_SECONDS)


def pod(name: str = "app", *, labels: dict | None = None, **spec: object) -> dict:
    """With one container and what `spec` says; labels and annotations are absent unless given."""
    metadata: dict = {"name": name}
    if labels is not None:
        metadata["labels"] = labels
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"schedulerName": NO_SCHEDULER, "containers": [container("main")], **spec},
    }


def container(name: str, **more: object) -> dict:
    return pods.container(name, "cluster.test/busybox:1", 1000, **{"command": ["sleep", "1000"], **more})


def made(namespace: Namespace, described: dict) -> dict:
    """The pod that the API server would make."""
    words = ("create", "--dry-run=server", "--output=json", "--filename=-")
    return json.loads(namespace.kubectl(*words, stdin=json.dumps(described)))


def is_refused(namespace: Namespace, described: dict) -> bool:
    try:
        made(namespace, described)
    except CommandFailed as error:
        if "ValidatingAdmissionPolicy" not in str(error):
            raise
        return True
    return False


def refusal(act: Callable[[], object]) -> str:
    """What the validating policy says of it."""
    with pytest.raises(CommandFailed) as caught:
        act()
    said = str(caught.value)
    assert "ValidatingAdmissionPolicy" in said, said
    return said.partition("denied request: ")[2]


def genuine(namespace: Namespace, name: str = "app", **more: object) -> dict:
    """A pod that includes the sidecar itself, as the chart renders it."""
    injected = made(namespace, pod(name, labels={**ASKS, "team": "billing"}, **more))
    described = copy.deepcopy(injected)
    described.pop("status")
    kept = {"name": name, "labels": {**injected["metadata"]["labels"], **OPTS_OUT}}
    described["metadata"] = {**kept, "annotations": injected["metadata"]["annotations"]}
    return described


def named(items: list[dict], name: str) -> dict:
    return next(item for item in items if item["name"] == name)


def sidecar(described: dict, name: str) -> dict:
    return named(described["spec"]["initContainers"], f"fieldveil-{name}")


def names(items: list[dict] | None) -> list[str]:
    return [item["name"] for item in items or []]
