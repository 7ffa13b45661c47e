"""The README of each chart, by helm-docs from its values and its README.md.gotmpl: python -m dev.charts_readme"""

import subprocess
from pathlib import Path

from dev.layout import CHARTS, HELM_DOCS

DOCUMENTED = (CHARTS / "fieldveil", CHARTS / "fieldveil" / "charts" / "fieldveil-sidecar")


def readme(chart: Path) -> str:
    """What the chart's README should be."""
    # Of this chart alone: it looks for others below it.
    where = ["--chart-search-root", ".", "--chart-to-generate", "."]
    command = [HELM_DOCS, "--dry-run", "--sort-values-order", "file", "--log-level", "error", *where]
    done = subprocess.run(command, cwd=chart, capture_output=True, text=True, check=True)
    # A template that breaks off leaves half a document, and status 0.
    if done.stderr:
        raise RuntimeError(f"{chart}: {done.stderr}")
    return done.stdout.rstrip("\n") + "\n"


def main() -> None:
    for chart in DOCUMENTED:
        (chart / "README.md").write_text(readme(chart))


if __name__ == "__main__":
    main()
