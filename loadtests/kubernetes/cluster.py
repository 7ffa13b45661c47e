"""What is asked of a cluster, by kubectl: whichever it is set up for."""

import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import yaml

from loadtests.kubernetes.places import Container

MANIFESTS = Path(__file__).parent / "manifests"
POLL_SECONDS = 0.5


class ClusterFailed(Exception):
    """The cluster did not do what was asked; the text carries its own words."""


class Cluster:
    def __init__(self, namespace: str) -> None:
        self.namespace = namespace

    def apply(self, *objects: dict) -> None:
        """Strictly: a field that the API does not know is refused."""
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
        self._kubectl("apply", "--validate=strict", "-f", "-", given=text)

    def delete(self, *objects: dict) -> None:
        """And all that they own; returns when they are gone."""
        names = [f"{thing['kind']}/{thing['metadata']['name']}" for thing in objects]
        self._kubectl("delete", "--ignore-not-found", "--cascade=foreground", "--timeout=120s", *names)

    def get(self, kind: str, name: str) -> dict:
        return json.loads(self._kubectl("get", kind, name, "-o", "json"))

    def pods(self, selector: str, namespace: str = "") -> list[dict]:
        found = self._kubectl("get", "pods", "-l", selector, "-o", "json", namespace=namespace)
        return json.loads(found)["items"]

    def logs(self, pod: str) -> str:
        return self._kubectl("logs", pod)

    def container(self, container: Container) -> tuple[str, str]:
        """The node that it is on, and its id there."""
        where = f"{container.namespace}, {container.selector}, container {container.container}"
        running = [
            pod for pod in self.pods(container.selector, container.namespace) if pod["status"]["phase"] == "Running"
        ]
        if len(running) != 1:
            raise ClusterFailed(f"{where}: {len(running)} running pods have that label, give one that a single one has")
        (pod,) = running
        states = [*pod["status"].get("initContainerStatuses", []), *pod["status"]["containerStatuses"]]
        ids = [state["containerID"] for state in states if state["name"] == container.container]
        if not ids:
            names = ", ".join(state["name"] for state in states)
            raise ClusterFailed(f"{where}: pod {pod['metadata']['name']} has no such container, it has {names}")
        return pod["spec"]["nodeName"], ids[0].rpartition("/")[2]

    def nodes(self) -> str:
        """What each is, for the report."""
        found = json.loads(self._kubectl("get", "nodes", "-o", "json"))["items"]
        return "; ".join(f"node {node['metadata']['name']}: {_node(node['status'])}" for node in found)

    def wait(self, what: str, seconds: float, ready: Callable[[], bool]) -> None:
        until = time.monotonic() + seconds
        while not ready():
            if time.monotonic() > until:
                raise ClusterFailed(f"{what}: not within {seconds:.0f} s")
            time.sleep(POLL_SECONDS)

    def _kubectl(self, *words: str, given: str | None = None, namespace: str = "") -> str:
        command = ["kubectl", "--namespace", namespace or self.namespace, *words]
        try:
            done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
        except FileNotFoundError as error:
            raise ClusterFailed("kubectl is not in PATH: install it, and point KUBECONFIG at the cluster") from error
        if done.returncode:
            raise ClusterFailed(f"kubectl {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout


def _node(status: dict) -> str:
    info, capacity = status["nodeInfo"], status["capacity"]
    system = f"Linux {info['kernelVersion']}, {info['osImage']}, Kubernetes {info['kubeletVersion']}"
    return f"{capacity['cpu']} cores, {capacity['memory']} of memory, {system}"


def manifest(name: str) -> dict:
    """One of the manifests beside this file, as it stands there."""
    return yaml.safe_load((MANIFESTS / f"{name}.yaml").read_text())
