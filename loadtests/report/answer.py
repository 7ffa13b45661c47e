"""The short tables of the page that people read: what some everyday operations cost. Medians only."""

from collections.abc import Callable, Iterator

from loadtests.figures import NONE, number
from loadtests.report import words
from loadtests.report.grids import Cell, Grid
from loadtests.report.words import CPU_SIDECAR, RATE, SQL50, Ways
from loadtests.results import Results
from loadtests.summary import Figure, ScenarioSummary, SuiteSummary

# What people do, by the suite and the scenario that measure it.
STATEMENTS = {
    ("oltp", "point-read-prepared-8"): "PostgreSQL: read a row by its key, 3 values opened",
    ("oltp", "equality-prepared-8"): "PostgreSQL: find a row by a sealed value, 3 opened",
    ("oltp", "insert-prepared-8"): "PostgreSQL: insert a row, 3 values sealed",
    ("oltp", "update-prepared-8"): "PostgreSQL: update a row, 3 values sealed",
    ("oltp", "point-read-simple-8"): "PostgreSQL: read a row, values in the statement's text",
    ("rows", "100-rows-8"): "PostgreSQL: each row of an answer of 100",
    ("rows", "10000-rows-4"): "PostgreSQL: each row of an answer of 10,000",
    ("db2-backup", "copy-out-4"): "PostgreSQL: each row of a COPY out",
    ("db2-backup", "copy-in-4"): "PostgreSQL: each row of a COPY in",
    ("mysql", "point-read-prepared-8"): "MariaDB: read a row by its key, 3 values opened",
    ("mysql", "insert-prepared-8"): "MariaDB: insert a row, 3 values sealed",
    ("mysql", "100-rows-8"): "MariaDB: each row of an answer of 100",
}
REQUESTS = {
    ("json", "open-1KB-10"): "response of 1 KB, 10 fields opened",
    ("json", "open-10KB-10"): "response of 10 KB, 10 fields opened",
    ("json", "open-1MB-100"): "response of 1 MB, 100 fields opened",
    ("json", "seal-1KB-10"): "request of 1 KB, 10 fields sealed",
    ("json", "seal-1MB-100"): "request of 1 MB, 100 fields sealed",
    ("json", "pass-response-10KB"): "response of 10 KB on a route that names no field",
}
Row = Callable[[ScenarioSummary, Ways], list[Figure | None]]


def tables(runs: list[Results]) -> Iterator[Grid]:
    """Those of which the runs hold something."""
    columns = ["operation", "added CPU, µs", "natively", "rate ÷ Envoy alone", "natively", "rate ÷ direct", "natively"]
    yield from _table("Statements", STATEMENTS, columns, runs, _statement)
    columns = ["body", "added CPU, µs", "natively", "added to p50, µs", "natively", "rate ÷ Envoy alone", "natively"]
    yield from _table("JSON over HTTP", REQUESTS, columns, runs, _request)


def _table(
    title: str, named: dict[tuple[str, str], str], columns: list[str], runs: list[Results], row: Row
) -> Iterator[Grid]:
    suites = {suite.name: SuiteSummary(suite).scenarios() for run in runs for suite in run.suites}
    rows = []
    for (suite, scenario), said in named.items():
        found = suites.get(suite, {}).get(scenario)
        if found and (ways := words.ways(found.targets())).ours in found.targets():
            figures = row(found, ways)
            rows.append([Cell(said), *(Cell(NONE if one is None else number(one.median)) for one in figures)])
    if rows:
        yield Grid(title, columns, rows)


def _statement(scenario: ScenarioSummary, ways: Ways) -> list[Figure | None]:
    ours = (ways.ours, ways.native)
    return [
        *(scenario.added(CPU_SIDECAR.name, target, ways.envoy) for target in ours),
        *(scenario.ratio(RATE.name, target, ways.envoy) for target in ours),
        *(scenario.ratio(RATE.name, target, ways.direct) for target in ours),
    ]


def _request(scenario: ScenarioSummary, ways: Ways) -> list[Figure | None]:
    ours = (ways.ours, ways.native)
    return [
        *(scenario.added(CPU_SIDECAR.name, target, ways.envoy) for target in ours),
        *(scenario.added(SQL50.name, target, ways.envoy) for target in ours),
        *(scenario.ratio(RATE.name, target, ways.envoy) for target in ours),
    ]
