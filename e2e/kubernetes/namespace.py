"""A namespace of one test module: made with a random name, removed with all that is in it."""

import contextlib
import secrets
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from harness.waiting import patience
from kubernetes import kubectl, problems
from kubernetes.cluster import Cluster
from kubernetes.forward import forwarded
from kubernetes.kubectl import CommandFailed

# Images are there; what takes longest is compiling the filters.
READY_SECONDS = 180.0
POLL_SECONDS = 0.25
TOUCH_SECONDS = 2.0

Result = TypeVar("Result")


class Namespace:
    """As a context manager, it is there within and goes after."""

    def __init__(self, cluster: Cluster, prefix: str, labels: dict[str, str] | None = None) -> None:
        self.cluster = cluster
        self.name = f"{prefix}-{secrets.token_hex(3)}"
        self._labels = {"fieldveil.io/test": "true", **(labels or {})}
        self._at_end: list[Callable[[], object]] = []

    def __enter__(self) -> "Namespace":
        metadata = {"name": self.name, "labels": self._labels}
        described = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
        self.cluster.kubectl("create", "--filename=-", stdin=kubectl.manifest(described))
        # Pods that come before it are refused.
        self.wait_until(lambda: self.exists("serviceaccount", "default"), "the default service account", 30)
        return self

    def __exit__(self, *_: object) -> None:
        for step in reversed(self._at_end):
            # What fails here hides no failure of a test, and keeps nothing else from being removed.
            with contextlib.suppress(CommandFailed):
                step()
        self.cluster.remove_namespace(self.name)

    def at_end(self, step: Callable[[], object]) -> None:
        """To be done before it goes: what it has put into the cluster outside of itself."""
        self._at_end.append(step)

    def kubectl(self, *words: str | Path, stdin: str | bytes | None = None, seconds: float = 60.0) -> str:
        return self.cluster.kubectl(f"--namespace={self.name}", *words, stdin=stdin, seconds=seconds)

    def apply(self, *objects: dict | str) -> None:
        """Objects, or texts of YAML; nothing has to be as it should when this returns."""
        self.kubectl("apply", "--filename=-", stdin=kubectl.manifest(*objects))

    def get(self, *words: str) -> dict:
        """One object, or a list under `items`."""
        return kubectl.parsed(self.kubectl("get", *words, "--output=json"))

    def exists(self, kind: str, name: str) -> bool:
        return bool(self.kubectl("get", kind, name, "--ignore-not-found", "--output=name").strip())

    def pods(self, selector: str) -> list[dict]:
        """Those that aren't on their way out, the oldest first."""
        found = self.get("pods", f"--selector={selector}", "--sort-by=.metadata.creationTimestamp")["items"]
        return [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]

    def exec(
        self, pod: str, *command: str, container: str | None = None, stdin: str | None = None, seconds: float = 60.0
    ) -> str:
        """What the command wrote to its standard output, within a pod (or `deployment/NAME`)."""
        options = [f"--container={container}"] if container else []
        options += ["--stdin"] if stdin is not None else []
        return self.kubectl("exec", *options, pod, "--", *command, stdin=stdin, seconds=seconds)

    def logs(self, pod: str, container: str, *options: str) -> str:
        return self.kubectl("logs", pod, f"--container={container}", *options)

    def wait_ready(self, selector: str, *, count: int | None = None, seconds: float = READY_SECONDS) -> list[str]:
        """Until all pods of the selector, `count` of them if that is said, are ready: their names."""

        def ready() -> list[str] | None:
            pods = self.pods(selector)
            problems.raise_for_hopeless(pods)
            all_there = bool(pods) if count is None else len(pods) == count
            return (
                [pod["metadata"]["name"] for pod in pods] if all_there and all(map(problems.is_ready, pods)) else None
            )

        return self.wait_until(ready, f"pods {selector} to be ready", seconds, selector=selector)

    def wait_until(
        self,
        check: Callable[[], Result | None],
        what: str,
        seconds: float,
        *,
        selector: str = "",
        touching: str = "",
    ) -> Result:
        """What `check` returns as soon as it is true; with a report on the namespace's pods if it never is.

        `seconds` are those of a machine that does nothing else. `touching` selects pods to which a changed ConfigMap or
        Secret is to be shown meanwhile.
        """
        begun = time.monotonic()
        next_touch = begun
        try:
            while not (result := check()):
                now = time.monotonic()
                if now - begun > patience(seconds):
                    raise CommandFailed(f"{what}: not within {now - begun:.0f} s: {problems.warning(self)}")
                if touching and now > next_touch:
                    self.show_mounts(touching)
                    next_touch = now + TOUCH_SECONDS
                time.sleep(POLL_SECONDS)
        except (CommandFailed, problems.Hopeless) as error:
            raise CommandFailed(f"{error}\n{self.report(selector)}") from error
        return result

    def show_mounts(self, selector: str) -> None:
        """Has the kubelet look now at what the pods mount: by itself it does within a minute or two.

        Right after a change it may not know of that yet: `wait_until` with `touching` does it again and again.
        """
        stamp = f"fieldveil.io/test-look={secrets.token_hex(3)}"
        self.kubectl("annotate", "pods", f"--selector={selector}", stamp, "--overwrite")

    def report(self, selector: str = "") -> str:
        """What one would look at by hand: pods, events, logs."""
        return problems.report(self, selector)

    @contextlib.contextmanager
    def forward(self, target: str, port: int) -> Iterator[int]:
        """A port of this machine's loopback that leads to the port in a pod (`pod/NAME`, `service/NAME`)."""
        with forwarded(self.name, target, port) as local:
            yield local
