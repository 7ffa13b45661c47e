"""What it cost in the first run that is kept of a suite, beside the last."""

from collections.abc import Iterator
from pathlib import Path

from loadtests.report import words
from loadtests.report.grids import Cell, Grid, cell
from loadtests.report.markdown import escape, table
from loadtests.report.words import CPU_SIDECAR, RATE
from loadtests.results import Results, SuiteResult, read
from loadtests.summary import SuiteSummary

TITLE = "Then and now"
ABOUT = (
    "CPU that the filter adds to an operation over Envoy's TCP proxy, or over Envoy's HTTP proxy, and the rate over "
    "what the clients reach without a filter (of `json`: over Envoy alone), each within its own run: in the first run"
    " that is kept, and in the last. The machine was not the same every hour; what is twice as much or half of it is "
    "the code."
)


def lines(folder: Path) -> Iterator[str]:
    """The chapter; nothing where no suite has two runs."""
    runs = sorted(map(read, folder.glob("*.json")), key=lambda run: run.made.started)
    pairs = [pair for name in _names(runs) if (pair := _first_and_last(runs, name))]
    if not pairs:
        return
    yield from ("", f"## {TITLE}", "", ABOUT)
    for (first, before), (last, after) in pairs:
        grid = _grid(before, after)
        if grid.rows:
            then, now = (f"{escape(run.made.commit[:7])} ({escape(run.made.started[:10])})" for run in (first, last))
            yield from ("", f"### {escape(after.name)}: {then} and {now}", "")
            yield from table(grid)


def _names(runs: list[Results]) -> list[str]:
    return list(dict.fromkeys(suite.name for run in runs for suite in run.suites))


def _first_and_last(runs: list[Results], name: str) -> list[tuple[Results, SuiteResult]] | None:
    found = [(run, suite) for run in runs for suite in run.suites if suite.name == name]
    return [found[0], found[-1]] if len(found) > 1 else None


def _grid(before: SuiteResult, after: SuiteResult) -> Grid:
    """Of the scenarios that both have."""
    ways = words.of_suite(after)
    base = ways.direct if ways is words.SQL else ways.envoy
    then, now = SuiteSummary(before).scenarios(), SuiteSummary(after).scenarios()
    rows = []
    for name in (name for name in now if name in then and ways.ours in now[name].targets()):
        added = [cell(scenario.added(CPU_SIDECAR.name, ways.ours, ways.envoy)) for scenario in (then[name], now[name])]
        rates = [cell(scenario.ratio(RATE.name, ways.ours, base)) for scenario in (then[name], now[name])]
        rows.append([Cell(name), *added, *rates])
    columns = ["scenario", "added CPU then, µs", "now", "rate then", "now"]
    return Grid(TITLE, columns, rows)
