"""Plotly.js, which draws the charts of the load tests' report: its basic charts, minified, as npm has them."""

import shutil

from dev.layout import DEV, PLOTLY
from dev.setup import npm
from dev.setup.runner import Part, Shell

PACKAGE = DEV / "tools" / "plotly"
FILES = tuple(PACKAGE / name for name in ("package.json", "package-lock.json"))


def _build(shell: Shell) -> None:
    fresh = PLOTLY.with_name(".plotly.new")
    shutil.rmtree(fresh, ignore_errors=True)
    npm.install(shell, fresh, FILES)
    shutil.copy2(fresh / "node_modules" / "plotly.js-basic-dist-min" / "plotly-basic.min.js", PLOTLY)
    shutil.rmtree(fresh)


PART = Part(
    "plotly",
    "Plotly.js, for the report of load tests",
    _build,
    (PLOTLY,),
    frozenset({"venv"}),
    (npm.NODE, *FILES),
    after=("python",),
)
