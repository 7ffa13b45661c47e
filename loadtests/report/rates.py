"""Latency at parts of the direct path's capacity: a table for each operation. Medians over the rounds."""

from collections.abc import Iterator

from loadtests.figures import NONE, number
from loadtests.rates import Operation, operations
from loadtests.report import words
from loadtests.report.grids import Cell, Grid
from loadtests.report.words import CPU_SIDECAR, P50, P90, P99, RATE, Ways
from loadtests.results import Results
from loadtests.summary import Figure, ScenarioSummary, SuiteSummary

TITLES = {
    ("latency", "point-read"): "PostgreSQL: read a row by its key, 3 values opened",
    ("latency", "insert"): "PostgreSQL: insert a row, 3 values sealed",
    ("latency-mysql", "point-read"): "MariaDB: read a row by its key, 3 values opened",
    ("latency-http", "open-1KB-10"): "HTTP: response of 1 KB, 10 fields opened",
}
COLUMNS = [
    "begun a second", "way", "answered a second", "p50, µs", "p90, µs", "p99, µs", "p50 more than direct, µs",
    "CPU of the sidecar, µs a call",
]  # fmt: skip
NOT_REACHED = "not reached"


def tables(runs: list[Results]) -> Iterator[Grid]:
    """Those of which the runs hold something."""
    found = measured(runs)
    for name in (*TITLES, *(name for name in found if name not in TITLES)):
        if name in found:
            yield grid(TITLES.get(name, " ".join(name)), found[name])


def measured(runs: list[Results]) -> dict[tuple[str, str], Operation]:
    """By suite and operation: those that every way was asked for."""
    return {
        (suite.name, operation.name): operation
        for run in runs
        for suite in run.suites
        for operation in operations(SuiteSummary(suite))
        if {*named(words.of_suite(suite))} <= {*operation.capacity.targets()}
    }


def named(ways: Ways) -> dict[str, str]:
    """What people call each target of these ways."""
    return {ways.direct: "direct", ways.envoy: "Envoy alone", ways.ours: "Fieldveil"}


def grid(title: str, operation: Operation) -> Grid:
    ways = words.ways(operation.capacity.targets())
    rows = [
        _row(share, scenario, ways, target)
        for share, scenario in sorted(operation.paced.items())
        for target in named(ways)
    ]
    return Grid(title, COLUMNS, rows, " ".join(_said(operation, ways)))


def _row(share: int, scenario: ScenarioSummary, ways: Ways, target: str) -> list[Cell]:
    rate = scenario.figure(RATE.name, target)
    keeps_up = scenario.keeps_up(target)
    latencies = [scenario.figure(measure.name, target) for measure in (P50, P90, P99)]
    can_compare = target != ways.direct and scenario.keeps_up(ways.direct)
    more = scenario.added(P50.name, target, ways.direct) if can_compare else None
    answered = _text(rate) if keeps_up else f"{NOT_REACHED}: {_text(rate)}"
    return [
        Cell(f"{number(scenario.result.workload['rate'])} ({share} %)"),
        Cell(named(ways)[target]),
        Cell(answered),
        # Of calls that wait in line a latency says how long they were asked for, and nothing of the target.
        *(Cell(_text(one) if keeps_up else NONE) for one in (*latencies, more)),
        Cell(_text(scenario.figure(CPU_SIDECAR.name, target))),
    ]


def _text(figure: Figure | None) -> str:
    return NONE if figure is None else number(figure.median)


def _said(operation: Operation, ways: Ways) -> Iterator[str]:
    """What each way can do, what limits the direct path, and which rates were not reached."""
    capacity = operation.capacity
    able = ", ".join(f"{name} {_text(capacity.figure(RATE.name, target))}" for target, name in named(ways).items())
    yield f"Asked by {words.count(capacity.clients, 'client')} as fast as they are answered, a second: {able}."
    generator, server = (_cores(capacity, process, ways.direct) for process in ("client", "server"))
    if generator is not None and server is not None:
        yield f"At the limit of direct the load generator took {generator:.0f} % of a core, the server {server:.0f} %."
    for target, name in named(ways).items():
        missed = [share for share, one in sorted(operation.paced.items()) if not one.keeps_up(target)]
        if missed:
            shares = " and ".join(f"{share} %" for share in missed)
            yield f"{name[0].upper()}{name[1:]} can't keep up with {shares} of that limit here: calls wait in line."


def _cores(scenario: ScenarioSummary, process: str, target: str) -> float | None:
    """Per cent of a core."""
    rate, cpu = (scenario.figure(measure, target) for measure in (RATE.name, f"cpu_us.{process}"))
    return rate.median * cpu.median / 1e4 if rate and cpu else None
