"""What the filter costs bodies over HTTP: the table at the top of a report."""

from collections.abc import Iterator

from loadtests.report.grids import Cell, Grid, cell, measured
from loadtests.report.words import BODIES, CPU_SIDECAR, MEMORY_PROXY, P50, RATE, SQL50
from loadtests.results import Results
from loadtests.summary import ScenarioSummary, SuiteSummary

TITLE = "What it costs bodies over HTTP"
COLUMNS = [
    "suite", "scenario", "clients", "added to p50, µs", "p50 ÷ envoy-http", "added CPU, µs", "CPU ÷ envoy-http",
    "rate ÷ envoy-http", "memory of the proxy, MiB",
]  # fmt: skip
NOTE = (
    "Held against Envoy's HTTP connection manager and router without the filter, in the same round. p50 is of a "
    "request to its answer's last byte, of an arrival rate of a call from when it was due. Added CPU is that of proxy, "
    "OPA and key agent together for one body. The load generator, which makes digests of all it gets, shares the cores."
)


def latency(scenario: ScenarioSummary) -> str:
    """The measure that says most of a body's latency: of an arrival rate what a slow answer can't hide."""
    return P50.name if scenario.kind == "arrival" else SQL50.name


def summary(results: Results) -> Grid | None:
    """All scenarios of bodies; None in a run without."""
    rows = [row for suite in results.suites for row in _rows(suite.name, SuiteSummary(suite).scenarios())]
    return Grid(TITLE, COLUMNS, rows, NOTE) if rows else None


def _rows(suite: str, scenarios: dict[str, ScenarioSummary]) -> Iterator[list[Cell]]:
    ours, envoy = BODIES.ours, BODIES.envoy
    for name, scenario in scenarios.items():
        if not {ours, envoy} <= {*scenario.targets()}:
            continue
        p50 = latency(scenario)
        capacity = scenario.kind != "arrival"
        yield [
            *(Cell(suite), Cell(name), Cell(str(scenario.clients))),
            cell(scenario.added(p50, ours, envoy)),
            cell(scenario.ratio(p50, ours, envoy)),
            cell(scenario.added(CPU_SIDECAR.name, ours, envoy)),
            cell(scenario.ratio(CPU_SIDECAR.name, ours, envoy)),
            cell(scenario.ratio(RATE.name, ours, envoy) if capacity else None),
            measured(scenario, MEMORY_PROXY, ours),
        ]
