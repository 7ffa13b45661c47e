"""`docs/performance.md`, from a committed run."""

from collections.abc import Iterator
from pathlib import Path

from loadtests.report import facts, grids, markdown, words
from loadtests.report.grids import Cell, Grid
from loadtests.report.markdown import escape, table
from loadtests.report.words import CPU_SIDECAR, DIRECT, ENVOY, MEMORY_PROXY, OURS, P50, P99, RATE, Measure
from loadtests.results import Results, SuiteResult, read
from loadtests.summary import Figure, SuiteSummary
from tools.layout import LOADTESTS, ROOT

RUNS = LOADTESTS / "runs"
DOCUMENT = ROOT / "docs" / "performance.md"
# Written by hand, as it stands in `docs/`: no figure of a run is in it.
WHY = Path(__file__).with_name("why.md.in")
# Of each scenario one line: absolutes of ours, then held against the server itself and Envoy alone.
COLUMNS: tuple[tuple[str, Measure, str | None], ...] = (
    ("operations a second", RATE, None),
    ("÷ direct", RATE, DIRECT),
    ("p50, µs", P50, None),
    ("÷ direct", P50, DIRECT),
    ("p99, µs", P99, None),
    ("÷ direct", P99, DIRECT),
    ("CPU of the sidecar, µs an operation", CPU_SIDECAR, None),
    ("÷ envoy-tcp", CPU_SIDECAR, ENVOY),
    ("memory of the proxy, MiB", MEMORY_PROXY, None),
)


def write_document(results: Results, path: Path = DOCUMENT) -> None:
    path.write_text(render(results), encoding="utf-8")


def committed() -> Path | None:
    """The run that the document is made from: the last one that is kept."""
    runs = {read(path).made.started: path for path in RUNS.glob("*.json")}
    return runs[max(runs)] if runs else None


def render(results: Results) -> str:
    return "\n".join(_lines(results)) + "\n"


def _lines(results: Results) -> Iterator[str]:
    made, verdict = results.made, facts.verdict(results)
    yield "# What it costs"
    yield ""
    yield "Made by `python -m loadtests document` from the last run that is kept, and held to it by a test. Anyone can"
    yield "measure it: `make loadtest` (`loadtests/README.md`)."
    yield ""
    yield (
        f"{escape(facts.machine(results))}; commit {escape(facts.commit(results))}, {escape(made.started)}, "
        f"{facts.amount(results)}; {escape(facts.noise(results))}."
    )
    yield f"With {escape(facts.versions(results))}."
    yield ""
    yield f"**{escape(verdict.said)}.** {verdict.thresholds}."
    yield ""
    yield from (f"- {escape(str(one))}" for one in verdict.wrong)
    if verdict.lateness:
        yield f"Late, not wrong: {verdict.lateness}."
    yield ""
    yield "Figures are medians over the rounds, and in parentheses the least to the most; ratios are taken within a"
    yield f"round, and a dash is what was not measured. {words.SIDECAR}"
    yield ""
    yield from (f"- `{target.name}`: {escape(target.what)}" for target in results.targets)
    yield from ("", "## In short", "")
    yield from table(grids.summary(results))
    yield from ("", "## Where it costs most", "")
    yield from table(grids.dearest(results))
    failed = [limit for limit in results.thresholds if limit.measured is not None and not limit.passed]
    if failed:
        yield from ("", "Over their threshold:", "")
        yield from table(grids.thresholds(failed))
    yield from ("", WHY.read_text(encoding="utf-8").rstrip())
    for suite in results.suites:
        yield from _chapter(suite)


def _chapter(suite: SuiteResult) -> Iterator[str]:
    yield from ("", f"## {escape(suite.name)}", "", escape(suite.what))
    if suite.scenarios:
        yield ""
        yield from table(_scenarios(suite))
    yield from markdown.others(suite)


def _scenarios(suite: SuiteResult) -> Grid:
    rows = []
    for name, scenario in SuiteSummary(suite).scenarios().items():
        # Where ours was not run, what was: for the record of what it is held against.
        target = OURS if OURS in scenario.targets() else next(iter(scenario.targets()), OURS)
        figures: list[Figure | None] = [
            scenario.figure(measure.name, target) if base is None else scenario.ratio(measure.name, target, base)
            for _, measure, base in COLUMNS
        ]
        scales = [measure.scale if base is None else 1.0 for _, measure, base in COLUMNS]
        shown = [grids.cell(found, scale) for found, scale in zip(figures, scales, strict=True)]
        rows.append([Cell(name if target == OURS else f"{name} ({target})"), *shown])
    return Grid("", ["scenario", *(title for title, _, _ in COLUMNS)], rows)
