"""The numbers behind the charts; the page's script draws them. Figures are [median, least, most]."""

from loadtests.figures import plural
from loadtests.report import words
from loadtests.report.words import MIB, Measure, Ways
from loadtests.results import PERCENTILES, PROCESSES, Results, SuiteResult, Table
from loadtests.summary import Figure, ScenarioSummary, SuiteSummary

# The client is not what is measured.
STACK = tuple(name for name in PROCESSES if name != "client")
# More lines than that nobody tells apart; their table says more.
MOST_SERIES = 12
# What few scenarios have, or few people ask for: their tables have it.
IN_TABLES = ("latency_us.99.9", "sql_us.50", "sql_us.99", "switches.proxy")
# In the order of the selectors.
RATIOS: tuple[Measure, ...] = tuple(measure for measure in words.RATIOS if measure.name not in IN_TABLES)


def data(results: Results) -> dict:
    return {
        "targets": [target.name for target in results.targets],
        "measures": {m.name: {"title": m.title.split(",")[0], "more": m.more_is_better} for m in RATIOS},
        "suites": {suite.name: _suite(suite) for suite in results.suites},
        "tables": {key: _table(table) for key, table in tables(results).items()},
    }


def tables(results: Results) -> dict[str, Table]:
    """Those with a chart, by a key that the page's elements carry."""
    return {
        f"{at}-{kind}-{number}": table
        for at, suite in enumerate(results.suites)
        for kind, found in (("beside", suite.beside), ("extra", suite.extra))
        for number, table in enumerate(found)
        if has_chart(table)
    }


def has_chart(table: Table) -> bool:
    """Whether its numbers are of one kind, which have a unit, and can be told apart in a drawing."""
    return bool(table.unit) and 0 < len(table.values) <= MOST_SERIES


def _suite(suite: SuiteResult) -> dict:
    scenarios = SuiteSummary(suite).scenarios()
    ways = words.of_suite(suite)
    return {
        "scenarios": {name: _scenario(scenario) for name, scenario in scenarios.items()},
        "ratios": {base: _ratios(scenarios, ways, base) for base in ways.bases},
    }


def _scenario(scenario: ScenarioSummary) -> dict:
    targets = scenario.targets()
    return {
        "units": plural(scenario.result.unit),
        "kind": scenario.result.workload.get("kind", ""),
        "latency": {target: curve for target in targets if (curve := _curve(scenario, target))},
        "cpu": _stack(scenario, targets, "cpu_us", 1),
        "memory": _stack(scenario, targets, "resident_bytes", 1 / MIB),
        "rate": {
            target: _three(found)
            for target in targets
            if (found := scenario.figure("operations_per_second", target)) is not None
        },
    }


def _curve(scenario: ScenarioSummary, target: str) -> list[list]:
    """[percentile, median, least, most] from the fastest to the slowest that is known of."""
    found = [(name, scenario.figure(f"latency_us.{name}", target)) for name in ("min", *PERCENTILES)]
    return [
        [0.0 if name == "min" else float(name), *_three(figure)]
        for name, figure in found
        # A logarithm has no nothing.
        if figure is not None and figure.least > 0
    ]


def _stack(scenario: ScenarioSummary, targets: list[str], kind: str, scale: float) -> dict:
    return {
        process: {
            target: _three(found, scale)
            for target in targets
            if (found := scenario.figure(f"{kind}.{process}", target)) is not None
        }
        for process in STACK
    }


def _ratios(scenarios: dict[str, ScenarioSummary], ways: Ways, base: str) -> dict:
    found: dict = {}
    for measure in RATIOS:
        for name, scenario in scenarios.items():
            for target in scenario.targets():
                # Against Envoy, what goes without it is no news.
                if target in (base, ways.direct):
                    continue
                ratio = scenario.ratio(measure.name, target, base)
                if ratio is not None and ratio.least > 0:
                    found.setdefault(measure.name, {}).setdefault(target, {})[name] = _three(ratio)
    return found


def _table(table: Table) -> dict:
    return {"title": table.title, "unit": table.unit, "values": table.values}


def _three(figure: Figure, scale: float = 1) -> list[float]:
    # Four digits: the page is read by people.
    return [float(f"{value * scale:.4g}") for value in (figure.median, figure.least, figure.most)]
