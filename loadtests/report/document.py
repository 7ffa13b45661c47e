"""`docs/start/performance.md`, from committed runs."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from dev.layout import LOADTESTS, ROOT
from loadtests.report import bodies, facts, grids, history, markdown, shares, words
from loadtests.report.grids import Cell, Grid
from loadtests.report.markdown import escape, table
from loadtests.report.words import (
    BODIES,
    CALLS,
    CPU_SIDECAR,
    DROPPED,
    MEMORY_PROXY,
    P50,
    P99,
    RATE,
    SQL,
    SQL50,
    SQL99,
    Measure,
    titled,
)
from loadtests.results import Results, SuiteResult, read
from loadtests.summary import Figure, ScenarioSummary, SuiteSummary

RUNS = LOADTESTS / "runs"
DOCUMENT = ROOT / "docs" / "start" / "performance.md"
# Written by hand, as it stands in `docs/`: no figure of a run is in it.
WHY = Path(__file__).with_name("why.md.in")


@dataclass(frozen=True)
class Column:
    title: str
    measure: Measure
    # What ours is divided by, or what is taken off it.
    base: str | None = None
    added: bool = False

    def figure(self, scenario: ScenarioSummary, target: str) -> Figure | None:
        if self.base is None:
            return scenario.figure(self.measure.name, target)
        if self.added:
            return scenario.added(self.measure.name, target, self.base) if self.base in scenario.targets() else None
        return scenario.ratio(self.measure.name, target, self.base)

    def cell(self, scenario: ScenarioSummary, target: str) -> Cell:
        if self.base is None:
            return grids.measured(scenario, self.measure, target)
        return grids.cell(self.figure(scenario, target), self.measure.scale if self.added else 1.0)


# Of each scenario one line: absolutes of ours, then held against the server itself and Envoy alone.
COLUMNS = {
    SQL: (
        Column(RATE.title, RATE),
        Column("÷ direct", RATE, SQL.direct),
        Column(CALLS.title, CALLS),
        Column(P50.title, P50),
        Column("÷ direct", P50, SQL.direct),
        Column(P99.title, P99),
        Column("÷ direct", P99, SQL.direct),
        Column(SQL50.title, SQL50),
        Column("÷ direct", SQL50, SQL.direct),
        Column(SQL99.title, SQL99),
        Column(DROPPED.title, DROPPED),
        Column(CPU_SIDECAR.title, CPU_SIDECAR),
        Column("added to envoy-tcp, µs", CPU_SIDECAR, SQL.envoy, added=True),
        Column("÷ envoy-tcp", CPU_SIDECAR, SQL.envoy),
        Column(MEMORY_PROXY.title, MEMORY_PROXY),
    ),
    # Of a body what the filter adds says most: to Envoy alone, for the service has none before it.
    BODIES: (
        Column(RATE.title, RATE),
        Column("÷ envoy-http", RATE, BODIES.envoy),
        Column(CALLS.title, CALLS),
        Column(P50.title, P50),
        Column("added to envoy-http, µs", P50, BODIES.envoy, added=True),
        Column(P99.title, P99),
        Column(titled(SQL50, "http/1.1"), SQL50),
        Column("added to envoy-http, µs", SQL50, BODIES.envoy, added=True),
        Column("÷ envoy-http", SQL50, BODIES.envoy),
        Column("÷ direct-http", SQL50, BODIES.direct),
        Column(DROPPED.title, DROPPED),
        Column(CPU_SIDECAR.title, CPU_SIDECAR),
        Column("added to envoy-http, µs", CPU_SIDECAR, BODIES.envoy, added=True),
        Column("÷ envoy-http", CPU_SIDECAR, BODIES.envoy),
        Column(MEMORY_PROXY.title, MEMORY_PROXY),
        Column("added to envoy-http, MiB", MEMORY_PROXY, BODIES.envoy, added=True),
    ),
}


def write_document(runs: list[Results], path: Path = DOCUMENT) -> None:
    path.write_text(render(*runs), encoding="utf-8")


def committed(folder: Path = RUNS) -> list[Results]:
    """What the document is made from: of each suite the last run that is kept, and first the run of the most suites."""
    runs = sorted(map(read, folder.glob("*.json")), key=lambda run: run.made.started, reverse=True)
    chosen, known = [], set()
    for run in runs:
        last = [suite for suite in run.suites if suite.name not in known]
        known.update(suite.name for suite in last)
        if last:
            chosen.append(replace(run, suites=last))
    return sorted(chosen, key=lambda run: len(run.suites), reverse=True)


def render(results: Results, *others: Results) -> str:
    lines = [*_lines(results), *(line for other in others for line in _run_of_its_own(other))]
    return "\n".join(lines) + "\n"


def _lines(results: Results) -> Iterator[str]:
    made, verdict = results.made, facts.verdict(results)
    yield "# What it costs"
    yield ""
    yield "Made by `python -m loadtests document` from the last runs that are kept, and held to them by a test. Anyone"
    yield "can measure it: `make loadtest` (`loadtests/README.md`)."
    yield ""
    yield (
        f"{escape(facts.machine(results))}; commit {escape(facts.commit(results))}, {escape(made.started)}, "
        f"{facts.amount(results)}; {escape(facts.noise(results))}."
    )
    yield f"With {escape(facts.versions(results))}."
    yield ""
    yield f"**{escape(verdict.said)}.** {verdict.thresholds}."
    yield ""
    yield from (f"- {escape(one)}" for one in verdict.faults)
    if verdict.lateness:
        yield f"Late, not wrong: {verdict.lateness}."
    yield ""
    yield "Figures are medians over the rounds, and in parentheses the least to the most; ratios are taken within a"
    yield f"round, and a dash is what was not measured. {words.SIDECAR}"
    yield ""
    yield from (f"- `{target.name}`: {escape(target.what)}" for target in results.targets)
    yield from ("", "What the figures can't say of themselves:", "")
    yield from (f"- {one}" for one in words.READING)
    if (summary := grids.summary(results)).rows:
        yield from ("", "## In short", "")
        yield from table(summary)
    if found := bodies.summary(results):
        yield from ("", f"## {found.title}", "")
        yield from table(found)
    if (dearest := grids.dearest(results)).rows:
        yield from ("", "## Where it costs most", "")
        yield from table(dearest)
    failed = [limit for limit in results.thresholds if limit.measured is not None and not limit.passed]
    if failed:
        yield from ("", "Over their threshold:", "")
        yield from table(grids.thresholds(failed))
    yield from ("", WHY.read_text(encoding="utf-8").rstrip())
    yield from history.lines(RUNS)
    yield from shares.lines()
    for suite in results.suites:
        yield from _chapter(suite)


def _run_of_its_own(results: Results) -> Iterator[str]:
    made, verdict = results.made, facts.verdict(results)
    yield from ("", f"## In a run of its own: {', '.join(escape(suite.name) for suite in results.suites)}", "")
    yield (
        f"Commit {escape(facts.commit(results))}, {escape(made.started)}, {facts.amount(results)}; "
        f"{escape(facts.noise(results))}. With {escape(facts.versions(results))}. "
        f"**{escape(verdict.said)}.** {verdict.thresholds}."
    )
    yield ""
    yield from (f"- `{target.name}`: {escape(target.what)}" for target in results.targets)
    for found in (grids.summary(results), bodies.summary(results)):
        if found and found.rows:
            yield from ("", f"### {found.title}", "")
            yield from table(found)
    for suite in results.suites:
        yield from _chapter(suite)


def _chapter(suite: SuiteResult) -> Iterator[str]:
    yield from ("", f"## {escape(suite.name)}", "", escape(suite.what))
    if suite.scenarios:
        yield ""
        yield from table(_scenarios(suite))
    yield from markdown.others(suite)


def _scenarios(suite: SuiteResult) -> Grid:
    scenarios = SuiteSummary(suite).scenarios()
    ways = words.of_suite(suite)
    # Where ours was not run, what was: for the record of what it is held against.
    targets = {
        name: ways.ours if ways.ours in scenario.targets() else next(iter(scenario.targets()), ways.ours)
        for name, scenario in scenarios.items()
    }
    used = [
        column
        for column in COLUMNS[ways]
        if any(column.figure(scenario, targets[name]) is not None for name, scenario in scenarios.items())
    ]
    rows = [
        [
            Cell(name if targets[name] == ways.ours else f"{name} ({targets[name]})"),
            *(column.cell(scenario, targets[name]) for column in used),
        ]
        for name, scenario in scenarios.items()
    ]
    return Grid("", ["scenario", *(column.title for column in used)], rows)
