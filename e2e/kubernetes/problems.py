"""What is wrong with pods, told as a person would want it."""

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from kubernetes.kubectl import CommandFailed, program

if TYPE_CHECKING:
    from kubernetes.namespace import Namespace

# A container that waits for such a reason will not come up by waiting.
HOPELESS = ("ErrImageNeverPull", "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "CreateContainerError")
# It may be late for a moment: what a container mounts or reads can be made after it.
PATIENCE = 3
LOG_LINES = 30
# Envoy begins with lists of all its extensions.
MAX_LINE = 400


class Hopeless(Exception):
    """Waiting would not help."""


def is_ready(pod: dict) -> bool:
    conditions = pod["status"].get("conditions", [])
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


def statuses(pod: dict) -> list[dict]:
    """Of all containers, the sidecars first."""
    status = pod["status"]
    return [*status.get("initContainerStatuses", []), *status.get("containerStatuses", [])]


def raise_for_hopeless(pods: list[dict]) -> None:
    for pod in pods:
        for status in statuses(pod):
            reason = status.get("state", {}).get("waiting", {}).get("reason", "")
            gave_up = reason == "CrashLoopBackOff" and status["restartCount"] >= PATIENCE
            if reason in HOPELESS or gave_up:
                raise Hopeless(f"pod {pod['metadata']['name']}, container {status['name']}: {reason}")


def report(namespace: "Namespace", selector: str = "") -> str:
    select = [f"--selector={selector}"] if selector else []
    parts = [_said(namespace, "get", "pods", "--output=wide", *select)]
    events = ("get", "events", "--sort-by=.lastTimestamp", "--output=custom-columns=O:.involvedObject.name,M:.message")
    parts.append(_tail(_said(namespace, *events)))
    try:
        pods = namespace.get("pods", *select)["items"]
    except CommandFailed as error:
        return "\n".join([*parts, str(error)])
    for pod in pods:
        if not is_ready(pod):
            parts += _of_pod(namespace, pod)
    return "\n".join(parts)


def warning(namespace: "Namespace") -> str:
    """What is wrong with nodes, and the newest warning in the namespace, in a line; empty if there is neither."""
    newest = _said(namespace, *_WARNINGS).rpartition("\n")[2]
    return "; ".join(filter(None, [*_of_nodes(namespace), shortened(" ".join(newest.split()))]))


def _of_nodes(namespace: "Namespace") -> list[str]:
    """One that is short of disk is ready, and takes no pod; the pod's event leaves out why."""
    try:
        nodes = namespace.cluster.get("nodes")["items"]
    except CommandFailed:
        return []
    return [
        f"{node['metadata']['name']} says {condition['type']} {condition['status']}"
        for node in nodes
        for condition in node["status"]["conditions"]
        if condition["status"] != ("True" if condition["type"] == "Ready" else "False")
    ]


def of_cluster(before: list[Path | str]) -> str:
    """All pods and the newest warnings, by a kubectl that takes words before it."""
    kubectl = [*before, program("kubectl")]
    lines = []
    for words in (("get", "pods", "--all-namespaces", "--no-headers"), (*_WARNINGS, "--all-namespaces")):
        done = subprocess.run([*kubectl, "--request-timeout=20s", *words], capture_output=True, text=True, check=False)
        lines += [shortened(line) for line in (done.stdout + done.stderr).splitlines()[-LOG_LINES:]]
    return "\n".join(lines)


def shortened(line: str) -> str:
    """A message's cause stands at its end, behind paths that are long."""
    return line if len(line) <= MAX_LINE else f"{line[:150]} … {line[-250:]}"


_WARNINGS = (
    "get", "events", "--field-selector=type=Warning", "--sort-by=.metadata.creationTimestamp", "--no-headers",
    "--output=custom-columns=O:.involvedObject.name,M:.message",
)  # fmt: skip


def _of_pod(namespace: "Namespace", pod: dict) -> list[str]:
    name = pod["metadata"]["name"]
    lines = []
    for status in statuses(pod):
        lines.append(f"-- {name}, {status['name']}: {status.get('state')}, restarts {status['restartCount']}")
        if not status.get("ready"):
            lines.append(_said(namespace, "logs", name, f"--container={status['name']}", f"--tail={LOG_LINES}"))
            if status["restartCount"]:
                previous = ("logs", name, f"--container={status['name']}", "--previous", f"--tail={LOG_LINES}")
                lines.append(_said(namespace, *previous))
    return lines


def _said(namespace: "Namespace", *words: str) -> str:
    try:
        text = namespace.kubectl(*words, seconds=20)
    except CommandFailed as error:
        text = str(error)
    return "\n".join(map(shortened, text.splitlines()))


def _tail(text: str) -> str:
    return "\n".join(text.splitlines()[-LOG_LINES:])
