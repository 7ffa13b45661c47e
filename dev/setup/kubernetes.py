"""What renders, checks and documents the charts, and the cluster in which they are tried.

One module names all of the first, so that Kubernetes' client library, the bulk of most of it, is compiled once.
"""

import subprocess
from pathlib import Path

from dev.layout import (
    CHARTS_MODULE,
    CLUSTER,
    DEV,
    HELM,
    HELM_3,
    HELM_DOCS,
    HELM_UNITTEST,
    KUBECONFORM,
    POD_SECURITY,
    PROMTOOL,
    SCHEMAS,
    VENV,
)
from dev.setup.building import GO, QUICKER, go_build
from dev.setup.runner import ATTEMPTS, Part, Shell, say

HELM_VERSION = "4.3.1"
OF_MODULE = (*QUICKER, CHARTS_MODULE / "go.mod", CHARTS_MODULE / "go.sum")
POD_SECURITY_SOURCE = CHARTS_MODULE / "podsecurity" / "main.go"
CHART_TOOLS = {
    HELM_3: "helm.sh/helm/v3/cmd/helm",
    HELM_UNITTEST: "github.com/helm-unittest/helm-unittest/cmd/helm-unittest",
    HELM_DOCS: "github.com/norwoodj/helm-docs/cmd/helm-docs",
    KUBECONFORM: "github.com/yannh/kubeconform/cmd/kubeconform",
    POD_SECURITY: "./podsecurity",
}
PROMTOOL_VERSION = "3.16.0"
PROMTOOL_WRAPPER = DEV / "tools" / "promtool"
SCHEMAS_SCRIPT = DEV / "schemas.py"


def _helm(shell: Shell) -> None:
    _build(shell, "helm.sh/helm/v4/cmd/helm", HELM)


def _chart_tools(shell: Shell) -> None:
    for program, package in CHART_TOOLS.items():
        _build(shell, package, program)


def _build(shell: Shell, package: str, program: Path) -> None:
    go_build(shell, CHARTS_MODULE, package, program, *QUICKER)


def _promtool(shell: Shell) -> None:
    # Without the clients of all clouds that Prometheus finds its targets with, which are most of it.
    package = "github.com/prometheus/prometheus/cmd/promtool"
    go_build(shell, PROMTOOL_WRAPPER, package, PROMTOOL, *QUICKER, "-tags=remove_all_sd")


def _schemas(shell: Shell) -> None:
    shell.run([VENV / "bin" / "python", SCHEMAS_SCRIPT, SCHEMAS], attempts=ATTEMPTS)


def _cluster(shell: Shell) -> None:
    possible = subprocess.run([CLUSTER, "possible"], capture_output=True, text=True, check=False)
    if possible.returncode != 0:
        say(f"  {possible.stderr.strip()}")
        return
    shell.run([CLUSTER, "build"], attempts=ATTEMPTS)


PARTS = (
    Part("helm", f"Helm {HELM_VERSION}, built from source", _helm, (HELM,), GO, OF_MODULE),
    Part(
        "chart-tools",
        "Helm 3, helm-unittest, helm-docs, kubeconform and Kubernetes' checks of pods, built from source",
        _chart_tools,
        tuple(CHART_TOOLS),
        GO,
        (*OF_MODULE, POD_SECURITY_SOURCE),
        # They share what they are made of.
        after=("helm",),
    ),
    Part(
        "promtool",
        f"Prometheus' promtool {PROMTOOL_VERSION}, built from source",
        _promtool,
        (PROMTOOL,),
        GO,
        (*QUICKER, PROMTOOL_WRAPPER / "go.mod", PROMTOOL_WRAPPER / "go.sum"),
    ),
    Part(
        "schemas",
        "JSON schemas of Kubernetes' APIs and of the Prometheus operator's",
        _schemas,
        (SCHEMAS,),
        frozenset({"go", "venv"}),
        (SCHEMAS_SCRIPT,),
        after=("python",),
    ),
    # Incremental itself, and nothing where none can run.
    Part("cluster", "the cluster of one node that tests run in", _cluster, (), GO),
)
