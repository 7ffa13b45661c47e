"""What is wrong with pods, told as a person would want it."""

from typing import TYPE_CHECKING

from kubernetes.kubectl import CommandFailed

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
    return "\n".join(line[:MAX_LINE] for line in text.splitlines())


def _tail(text: str) -> str:
    return "\n".join(text.splitlines()[-LOG_LINES:])
