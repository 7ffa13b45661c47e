"""A release of the chart, by helm as a user types it."""

from pathlib import Path

import yaml

from dev.layout import CHARTS
from harness.envoy import SHELL
from harness.parts import overlaid
from harness.waiting import patience
from kubernetes import kubectl
from kubernetes.namespace import Namespace

CHART = CHARTS / "fieldveil"
# On a machine that does nothing else.
HELM_SECONDS = 120


class Release:
    """Begins with the images of the tests and what `values` say; `upgrade` lays changes over them."""

    def __init__(self, namespace: Namespace, values: dict, name: str = "fieldveil", chart: Path = CHART) -> None:
        self.name = name
        self.chart = chart
        self.values = overlaid({"sidecar": {"images": _images(namespace), "shell": _shell(values)}}, values)
        self._namespace = namespace

    def install(self) -> str:
        # Its admission policies are the cluster's, and would outlive the namespace.
        self._namespace.at_end(lambda: self._helm("uninstall", self.name, "--ignore-not-found"))
        return self._helm("install", self.name, self.chart, *_wait(), "--values=-", stdin=yaml.safe_dump(self.values))

    def upgrade(self, changes: dict | None = None) -> str:
        """With the changes laid over what there is; lists are replaced."""
        self.values = overlaid(self.values, changes or {})
        return self._helm("upgrade", self.name, self.chart, *_wait(), "--values=-", stdin=yaml.safe_dump(self.values))

    def uninstall(self) -> str:
        return self._helm("uninstall", self.name, *_wait())

    def test(self) -> str:
        """`helm test`, with the logs of its pods."""
        return self._helm("test", self.name, "--logs", _timeout())

    def _helm(self, *words: str | Path, stdin: str | None = None) -> str:
        try:
            return kubectl.run("helm", f"--namespace={self._namespace.name}", *words, stdin=stdin)
        except kubectl.CommandFailed as error:
            raise kubectl.CommandFailed(f"{error}\n{self._namespace.report()}") from error


def _shell(values: dict) -> str:
    """The shell that the tests run on; WebAssembly where an upstream speaks HTTP, for which no native filter exists."""
    upstreams = values.get("sidecar", {}).get("upstreams", [])
    return "wasm" if any(upstream["protocol"] == "http" for upstream in upstreams) else SHELL


def _wait() -> tuple[str, str]:
    return "--wait", _timeout()


def _timeout() -> str:
    return f"--timeout={patience(HELM_SECONDS):.0f}s"


def _images(namespace: Namespace) -> dict:
    chosen = {name: namespace.cluster.image(name) for name in ("fieldveil", "envoy", "opa")}
    return {name: {"repository": image.repository, "tag": image.tag} for name, image in chosen.items()}
