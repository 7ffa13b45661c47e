"""The page of one suite: every scenario a line, ours held against the server itself and Envoy alone."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from loadtests.figures import NONE
from loadtests.report import bodies, facts, grids, markdown, rates, words
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
from loadtests.results import Results, SuiteResult
from loadtests.summary import Figure, ScenarioSummary, SuiteSummary


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
        if self.measure.name.startswith("latency_us.") and not scenario.keeps_up(target):
            return Cell(NONE if self.base else rates.NOT_REACHED)
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


def file_name(suite: SuiteResult) -> str:
    return f"{re.sub(r'[^a-z0-9]+', '-', suite.name.lower()).strip('-')}.md"


def lines(results: Results, suite: SuiteResult) -> Iterator[str]:
    alone = replace(
        results, suites=[suite], thresholds=[limit for limit in results.thresholds if limit.suite == suite.name]
    )
    verdict = facts.verdict(alone)
    yield from (f"# Measurements: {escape(suite.name)}", "", escape(suite.what), "")
    yield (
        f"Commit {escape(facts.commit(results))}, {escape(results.made.started)}, {facts.amount(results)}. "
        f"With {escape(facts.versions(results))}. **{escape(verdict.said)}.** {verdict.thresholds}. "
        "[How to read the figures](README.md)."
    )
    if suite.cores:
        yield from ("", escape(suite.cores))
    for found in (grids.summary(alone), bodies.summary(alone)):
        if found and found.rows:
            yield from ("", f"## {found.title}", "")
            # What it means is said once for all pages.
            yield from table(replace(found, note=""))
    if suite.scenarios:
        yield from ("", "## All scenarios", "")
        yield from table(_scenarios(suite))
    yield from markdown.others(suite, 2)


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
