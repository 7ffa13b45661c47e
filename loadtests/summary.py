"""Many rounds as one figure: the median with the least and the greatest, absolute and as ratios within a round.

A measure is named as in the report: `operations_per_second`, `calls`, `latency_us.50` (and the other percentiles,
`min`, `max`), `sql_us.50` (the same of single statements), `dropped` (of an arrival rate), `cpu_us.proxy`
(microseconds an operation; also `.server`, `.opa`, `.agent`, `.client`, `.client_bridge`, `.server_bridge`;
`.sidecar`, which is proxy, bridges, opa and agent together; `.total`, which is these and the server; `.all`, with the
client too), `resident_bytes.proxy`, `switches.proxy` (an operation).
"""

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from loadtests.results import Measurement, ScenarioResult, SuiteResult

SIDECAR = ("proxy", "client_bridge", "server_bridge", "opa", "agent")
# What must be answered of an arrival rate while calls are due: where it is less, they only wait in line.
REACHED = 0.98
# Processes whose figures are added up, by the name of the sum.
SUMS = {"sidecar": SIDECAR, "total": (*SIDECAR, "server"), "all": (*SIDECAR, "server", "client")}


@dataclass(frozen=True)
class Figure:
    median: float
    least: float
    most: float

    @classmethod
    def of(cls, values: list[float]) -> "Figure | None":
        return cls(statistics.median(values), min(values), max(values)) if values else None


def value(measurement: Measurement, measure: str) -> float | None:
    """None where it was not measured: the proxy's CPU where there is no proxy."""
    kind, _, of = measure.partition(".")
    if kind == "operations_per_second":
        return measurement.operations / measurement.seconds if measurement.seconds else None
    if kind == "latency_us":
        return measurement.latency_us.get(of) if says_something(of, measurement.calls) else None
    if kind == "sql_us":
        return measurement.sql_us.get(of)
    if kind == "dropped":
        return float(measurement.dropped)
    if kind == "calls":
        return float(measurement.calls) if measurement.calls else None
    names = SUMS.get(of, (of,))
    used = [measurement.usage[name] for name in names if name in measurement.usage]
    # A sidecar may have no OPA; a sum without the server, where it is not read, is none.
    if not used or not {*names} - {*SIDECAR} <= {*measurement.usage}:
        return None
    if kind == "cpu_us":
        total = sum(usage.cpu_seconds for usage in used)
        return total / measurement.operations * 1e6 if measurement.operations else None
    if kind == "resident_bytes":
        return float(sum(usage.resident_bytes for usage in used))
    if kind == "switches":
        total = sum(usage.context_switches for usage in used)
        return total / measurement.operations if measurement.operations else None
    raise ValueError(f"no such measure: {measure}")


def says_something(percentile: str, calls: int) -> bool:
    """Whether a call at least lies beyond the percentile: p99 needs 100, p99.9 a thousand. The median always does."""
    if percentile in ("min", "50", "max") or not calls:
        return True
    beyond = min(Decimal(percentile), 100 - Decimal(percentile))
    return calls * beyond >= 100


@dataclass(frozen=True)
class ScenarioSummary:
    result: ScenarioResult

    @property
    def kind(self) -> str:
        return self.result.workload.get("kind", "")

    @property
    def clients(self) -> int:
        return int(self.result.workload.get("clients") or 1)

    def targets(self) -> list[str]:
        return list(dict.fromkeys(measurement.target for measurement in self.result.measurements))

    def figure(self, measure: str, target: str) -> Figure | None:
        """Over all rounds."""
        return Figure.of(list(self._rounds(measure, target).values()))

    def ratio(self, measure: str, target: str, base: str) -> Figure | None:
        """Of two targets in the same round, over all rounds; None where one has no such figure, or it is 0."""
        ours, theirs = self._rounds(measure, target), self._rounds(measure, base)
        return Figure.of([ours[number] / theirs[number] for number in ours if theirs.get(number)])

    def added(self, measure: str, target: str, base: str) -> Figure | None:
        """The difference of two targets in the same round, over all rounds. A process `base` lacks took nothing."""
        return Figure.of(list(self.added_by_round(measure, target, base).values()))

    def added_by_round(self, measure: str, target: str, base: str) -> dict[int, float]:
        """The same, of each round alone."""
        ours, theirs = self._rounds(measure, target), self._rounds(measure, base)
        measured = {one.round for one in self.result.measurements if one.target == base}
        return {number: ours[number] - theirs.get(number, 0.0) for number in ours if number in measured}

    def keeps_up(self, target: str) -> bool:
        """Whether it answered as many calls as arrived, in most rounds. Otherwise a latency says only how long calls
        were due. Without an arrival rate there is nothing to keep up with."""
        if self.kind != "arrival":
            return True
        rate = self.result.workload["rate"]
        ours = [one for one in self.result.measurements if one.target == target]
        late = sum(one.dropped > 0 or one.operations < REACHED * rate * one.seconds for one in ours)
        return 2 * late < len(ours)

    def _rounds(self, measure: str, target: str) -> dict[int, float]:
        if measure == "dropped" and self.kind != "arrival":
            return {}
        found = {
            measurement.round: value(measurement, measure)
            for measurement in self.result.measurements
            if measurement.target == target
        }
        return {number: known for number, known in found.items() if known is not None}


@dataclass(frozen=True)
class SuiteSummary:
    result: SuiteResult

    def answers(self) -> int:
        return sum(measurement.answers for _, measurement in self._measurements())

    def wrong(self) -> list[str]:
        """Each measurement with wrong answers, with errors, or in which no answer was looked at."""
        return [
            f"{scenario.name}, {measurement.target}, round {measurement.round}: {measurement.answers:,} answers,"
            f" {measurement.wrong_answers:,} of them wrong, {measurement.errors:,} errors"
            for scenario, measurement in self._measurements()
            if measurement.wrong_answers or measurement.errors or not measurement.answers
        ]

    def _measurements(self) -> Iterator[tuple[ScenarioResult, Measurement]]:
        return ((scenario, measured) for scenario in self.result.scenarios for measured in scenario.measurements)

    def scenarios(self) -> dict[str, ScenarioSummary]:
        return {scenario.name: ScenarioSummary(scenario) for scenario in self.result.scenarios}
