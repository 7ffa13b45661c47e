"""The same in Markdown: for a terminal, a comment on a change, a diff."""

import re
from collections.abc import Iterator
from pathlib import Path

from loadtests.report import bodies, facts, grids, words
from loadtests.report.grids import Grid
from loadtests.results import Results, SuiteResult
from loadtests.summary import SuiteSummary

# What would be markup, in a text that is none.
MARKUP = re.compile(r"([\\`*_\[\]<>|#])")


def write_markdown(results: Results, path: Path) -> None:
    path.write_text(render(results), encoding="utf-8")


def render(results: Results) -> str:
    lines = ["# Load test", "", *head(results)]
    if (summary := grids.summary(results)).rows:
        lines += _section("What it costs", summary)
    if found := bodies.summary(results):
        lines += _section(found.title, found)
    if (dearest := grids.dearest(results)).rows:
        lines += _section("Where it costs most", dearest)
    if results.thresholds:
        lines += _section("Thresholds", grids.thresholds(results.thresholds))
    for suite in results.suites:
        lines += chapter(suite)
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    return MARKUP.sub(r"\\\1", " ".join(text.split()))


def head(results: Results) -> Iterator[str]:
    """What a run says of itself, a line each."""
    verdict = facts.verdict(results)
    yield f"**{escape(verdict.said)}.** {verdict.thresholds}."
    yield ""
    yield from (f"- {escape(one)}" for one in verdict.faults)
    if verdict.lateness:
        yield f"- Late: {verdict.lateness}"
    for name, text in (
        ("When", f"{results.made.started}, {facts.amount(results)}"),
        ("Commit", facts.commit(results)),
        ("Machine", facts.machine(results)),
        ("Parts", facts.versions(results)),
        ("Noise", facts.noise(results)),
    ):
        yield f"- {name}: {escape(text)}"
    yield ""
    yield f"Medians over the rounds, and in parentheses the least to the most. {words.SIDECAR}"
    yield ""
    yield from (f"- {one}" for one in words.READING)


def table(grid: Grid) -> Iterator[str]:
    yield _row(grid.columns)
    yield _row([("---" if grid.is_text(at) else "---:") for at in range(len(grid.columns))], escaped=True)
    for row in grid.rows:
        yield _row([str(cell) for cell in row])
    if grid.note:
        yield ""
        yield escape(grid.note)


def chapter(suite: SuiteResult) -> Iterator[str]:
    yield from ("", f"## {escape(suite.name)}", "", escape(suite.what))
    if suite.cores:
        yield from ("", escape(suite.cores))
    for name, scenario in SuiteSummary(suite).scenarios().items():
        yield from ("", f"### {escape(name)}", "")
        said = f"An operation is a {scenario.result.unit}. {grids.workload(scenario)}."
        yield f"{escape(scenario.result.what)} {escape(said)}"
        for grid in (grids.absolutes(scenario), grids.ratios(scenario)):
            if grid:
                yield ""
                yield from table(grid)
    yield from others(suite)


def others(suite: SuiteResult, level: int = 3) -> Iterator[str]:
    """What others found, ours beside it, and what was measured by other means."""
    if suite.published:
        theirs = suite.published
        yield from ("", f"{'#' * level} The published experiment: {escape(theirs.title)}", "")
        yield from (f"{escape(theirs.source)} {escape(theirs.system)}", "", f"{escape(theirs.figures.title)}:", "")
        yield from table(grids.of_table(theirs.figures))
    for one in suite.beside:
        yield from _section(one.title, grids.of_table(one), level)
    for one in suite.extra:
        yield from _section(one.title, grids.of_table(one), level)


def _section(title: str, grid: Grid, level: int = 2) -> Iterator[str]:
    yield from ("", f"{'#' * level} {escape(title)}", "")
    yield from table(grid)


def section(grid: Grid, level: int) -> Iterator[str]:
    """A table under its own title."""
    return _section(grid.title, grid, level)


def _row(cells: list[str], *, escaped: bool = False) -> str:
    return f"| {' | '.join(cell if escaped else escape(cell) for cell in cells)} |"
