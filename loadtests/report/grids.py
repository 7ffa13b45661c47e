"""The tables of the report: what HTML and Markdown both show."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from loadtests.figures import NONE, number
from loadtests.report import words
from loadtests.report.words import CPU_SIDECAR, MEASURES, P50, RATE, RATIOS, SQL, Measure
from loadtests.results import Results, SuiteResult, Table, ThresholdResult
from loadtests.summary import Figure, ScenarioSummary, SuiteSummary

# Of each suite, in the table at the top: of several clients first, then as its authors have them.
MAIN = 3
WORST = 3
SPREAD = re.compile(r"(?P<median>[-+]?[\d.,]+) \((?P<least>\S+) to (?P<most>\S+)\)")
NUMBER = re.compile(r"[-+~<>]?\s?(\d|$)")


@dataclass(frozen=True)
class Cell:
    text: str
    # The spread, or nothing.
    note: str = ""

    def __str__(self) -> str:
        return f"{self.text} ({self.note})" if self.note else self.text


@dataclass(frozen=True)
class Grid:
    title: str
    columns: list[str]
    rows: list[list[Cell]]
    note: str = ""

    def is_text(self, column: int) -> bool:
        """Whether this column holds words: these begin at the left, numbers end at the right."""
        return column == 0 or any(not NUMBER.match(row[column].text) for row in self.rows)


def cell(found: Figure | None, scale: float = 1.0, show: Callable[[float], str] = number) -> Cell:
    return Cell(NONE) if found is None else Cell(show(found.median * scale), words.spread(found, scale, show))


def measured(scenario: ScenarioSummary, measure: Measure, target: str) -> Cell:
    """A figure in the unit of its title."""
    return cell(scenario.figure(measure.name, target), measure.scale, measure.show)


def of_table(table: Table) -> Grid:
    return Grid(table.title, table.columns, [[_parted(text) for text in row] for row in table.rows], table.note)


def _parted(text: str) -> Cell:
    """A figure from its spread, as `loadtests.figures.spread` writes it; of one round there is none."""
    found = SPREAD.fullmatch(text)
    if not found:
        return Cell(text)
    return Cell(found["median"], "" if found["least"] == found["most"] else f"{found['least']} to {found['most']}")


def absolutes(scenario: ScenarioSummary) -> Grid:
    """Every figure of a scenario, a row for each target."""
    targets = scenario.targets()
    used = [m for m in MEASURES if any(scenario.figure(m.name, target) for target in targets)]
    rows = [[Cell(target), *(measured(scenario, measure, target) for measure in used)] for target in targets]
    titles = [words.titled(measure, scenario.result.mode) for measure in used]
    return Grid("All figures", ["target", *titles], rows)


def ratios(scenario: ScenarioSummary) -> Grid | None:
    """Each target against each base, in the same round."""
    targets = scenario.targets()
    ways = words.ways(targets)
    bases = [base for base in ways.bases if base in targets]
    pairs = [(target, base) for base in bases for target in targets if target not in (base, ways.direct)]
    used = [m for m in RATIOS if any(scenario.ratio(m.name, *pair) for pair in pairs)]
    rows = [
        [Cell(f"{target} ÷ {base}"), *(cell(scenario.ratio(measure.name, target, base)) for measure in used)]
        for target, base in pairs
    ]
    if not rows:
        return None
    titles = [words.titled(measure, scenario.result.mode).split(",")[0] for measure in used]
    return Grid("Ratios, within a round", ["targets", *titles], rows)


@dataclass(frozen=True)
class Cost:
    """What our filter costs in one scenario of statements; what it costs bodies is another table."""

    suite: str
    scenario: str
    clients: int
    unit: str
    # CPU of the sidecar beyond Envoy's alone, µs an operation.
    added: Figure | None
    # The same as a ratio.
    cpu: Figure | None
    # p50 and operations a second, against the server itself: the former where calls do not only wait in line, the
    # latter where it is as much as can be had.
    p50: Figure | None
    rate: Figure | None
    # Calls begin when those before them are answered, with more clients than one: p50 is how they wait for each other.
    queues: bool


COST_COLUMNS = [
    "suite", "scenario", "clients", "operation", "added CPU, µs", "CPU ÷ envoy-tcp", "p50 ÷ direct", "rate ÷ direct",
]  # fmt: skip
COST_NOTE = (
    "Added CPU is that of proxy, OPA and key agent together for one operation, less Envoy's without the filter "
    "(envoy-tcp): it is steadier than the ratio beside it. The rate is operations a second, where clients ask as fast "
    "as they are answered; the load generator shares the cores and is part of that limit, and of p50, which with more "
    "clients than cores is mostly waiting for one. One client at a time mostly measures waking up."
)


def costs(suite: SuiteResult) -> Iterator[Cost]:
    for name, scenario in SuiteSummary(suite).scenarios().items():
        targets = scenario.targets()
        if SQL.ours not in targets:
            continue
        capacity = scenario.kind != "arrival"
        yield Cost(
            suite.name,
            name,
            scenario.clients,
            scenario.result.unit,
            scenario.added(CPU_SIDECAR.name, SQL.ours, SQL.envoy) if SQL.envoy in targets else None,
            scenario.ratio(CPU_SIDECAR.name, SQL.ours, SQL.envoy),
            scenario.ratio(P50.name, SQL.ours, SQL.direct) if scenario.keeps_up(SQL.ours) else None,
            scenario.ratio(RATE.name, SQL.ours, SQL.direct) if capacity else None,
            capacity and scenario.clients > 1,
        )


def main_costs(results: Results) -> list[Cost]:
    ordered = (sorted(costs(suite), key=lambda cost: cost.clients == 1) for suite in results.suites)
    return [cost for found in ordered for cost in found[:MAIN]]


def cost_grid(title: str, found: list[Cost]) -> Grid:
    rows = [
        [
            *(Cell(c.suite), Cell(c.scenario), Cell(str(c.clients)), Cell(c.unit)),
            *(cell(one) for one in (c.added, c.cpu, c.p50, c.rate)),
        ]
        for c in found
    ]
    return Grid(title, COST_COLUMNS, rows, COST_NOTE)


def summary(results: Results) -> Grid:
    return cost_grid("What it costs", main_costs(results))


def dearest(results: Results) -> Grid:
    """Where it costs most, by what is lost: each way of looking with its worst scenarios. Of a p50 that only shows how
    calls wait for each other nothing is said."""
    every = [cost for suite in results.suites for cost in costs(suite)]
    views: list[tuple[str, Callable[[Cost], Figure | None], bool]] = [
        ("CPU of the sidecar ÷ envoy-tcp", lambda cost: cost.cpu, True),
        ("p50 ÷ direct", lambda cost: None if cost.queues else cost.p50, True),
        ("operations a second ÷ direct", lambda cost: cost.rate, False),
    ]
    rows = []
    for title, of, most_first in views:
        known = [(of(cost), cost) for cost in every if of(cost) is not None]
        known.sort(key=lambda pair: pair[0].median, reverse=most_first)
        rows += [[Cell(title), Cell(cost.suite), Cell(cost.scenario), cell(found)] for found, cost in known[:WORST]]
    return Grid("Where it costs most", ["measure", "suite", "scenario", "fieldveil"], rows)


def thresholds(limits: list[ThresholdResult]) -> Grid:
    """Those that failed first, then those without a figure."""
    order = sorted(limits, key=lambda t: (t.passed, t.measured is None))
    rows = [
        [
            Cell("not measured" if t.measured is None else "held" if t.passed else "FAILED"),
            Cell(t.suite),
            Cell(t.scenario),
            Cell(t.measure),
            Cell(number(t.limit)),
            Cell(NONE if t.measured is None else number(t.measured)),
            Cell(t.reason),
        ]
        for t in order
    ]
    return Grid("Thresholds", ["", "suite", "scenario", "measure", "limit", "measured", "reason"], rows)


def workload(scenario: ScenarioSummary) -> str:
    """How much of it, in words."""
    load, result = scenario.result.workload, scenario.result
    clients = words.count(scenario.clients, "client")
    seconds = number(load.get("seconds") or 0)
    match scenario.kind:
        case "closed":
            said = f"{clients}, each asking again as soon as it is answered, for {seconds} s"
        case "arrival":
            rate = number(load["rate"])
            said = f"{rate} begun each second, whatever the answers take, over {clients}, for {seconds} s"
        case "fixed":
            calls = words.count(int(load["operations"]), "call")
            # The same on every target; less where calls failed.
            operations = max((one.operations for one in result.measurements), default=0)
            said = f"{words.count(operations, result.unit)} in {calls} over {clients}"
        case other:
            said = str(other or "unknown workload")
    how = "HTTP/1.1" if result.mode == "http/1.1" else f"{result.mode} statements"
    return f"{said}; {how}, as {result.user}"
