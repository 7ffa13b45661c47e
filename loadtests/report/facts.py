"""What a run says of itself: what, where and when; how even the machine was; right or wrong."""

import statistics
from dataclasses import dataclass

from loadtests.figures import number
from loadtests.report import words
from loadtests.results import Measurement, Results, ScenarioResult, SuiteResult

PROGRAMS = {
    "envoy": "Envoy", "postgresql": "PostgreSQL", "mariadb": "MariaDB", "opa": "OPA", "k6": "k6",
    "pgbouncer": "PgBouncer",
}  # fmt: skip
# Of these their size.
MODULES = {"filter_bytes": "a filter", "mysql_filter_bytes": "one for MySQL", "json_filter_bytes": "one for JSON"}
GIB = 1 << 30
# Rounds that differ by more than this say little of a few percent.
UNEVEN = 1.15
STEAL_PERCENT = 2.0
OTHERS_PERCENT = 10.0


@dataclass(frozen=True)
class Wrong:
    """One scenario on one target that was not answered as it must be."""

    suite: str
    scenario: str
    target: str
    answers: int
    errors: int
    dropped: int
    # Measurements in which no answer was looked at.
    blind: int

    @property
    def is_wrong(self) -> bool:
        return bool(self.answers or self.errors or self.blind)

    def __str__(self) -> str:
        said = [
            words.count(self.answers, "wrong answer") if self.answers else "",
            words.count(self.errors, "error") if self.errors else "",
            f"no answer looked at in {words.count(self.blind, 'round')}" if self.blind else "",
            f"{self.dropped:,} not begun in time" if self.dropped else "",
        ]
        return f"{self.suite}, {self.scenario}, {self.target}: {', '.join(word for word in said if word)}"


def measurements(results: Results) -> list[Measurement]:
    return [one for suite in results.suites for scenario in suite.scenarios for one in scenario.measurements]


def faults(suite: str, scenario: ScenarioResult) -> list[Wrong]:
    found = []
    for target in dict.fromkeys(one.target for one in scenario.measurements):
        ours = [one for one in scenario.measurements if one.target == target]
        counts = [sum(getattr(one, name) for one in ours) for name in ("wrong_answers", "errors", "dropped")]
        blind = sum(not one.answers for one in ours)
        if any(counts) or blind:
            found.append(Wrong(suite, scenario.name, target, *counts, blind))
    return found


@dataclass(frozen=True)
class Verdict:
    """Right or wrong: answers, errors, thresholds."""

    answers: int
    wrong: list[Wrong]
    # Operations that an arrival rate found no connection for: late, not wrong.
    late: list[Wrong]
    # What ended a suite before its time.
    ended: list[str]
    held: int
    failed: int
    unmeasured: int

    @property
    def right(self) -> bool:
        return not self.wrong and not self.ended and self.answers > 0

    @property
    def faults(self) -> list[str]:
        """A line each."""
        return [*(f"Ended early: {one}" for one in self.ended), *(str(one) for one in self.wrong)]

    @property
    def said(self) -> str:
        if self.right:
            return f"Right: {words.count(self.answers, 'answer')} looked at, none wrong, no errors"
        if self.ended and not self.wrong:
            suites = words.count(len(self.ended), "suite")
            return f"NOT RIGHT: {suites} ended early; {words.count(self.answers, 'answer')} looked at, none wrong"
        if not self.wrong:
            return "Not known: no answer was looked at"
        wrong, errors = sum(one.answers for one in self.wrong), sum(one.errors for one in self.wrong)
        if not wrong + errors:
            return "NOT KNOWN: there are measurements without an answer that was looked at"
        return (
            f"WRONG: {words.count(wrong, 'wrong answer')} and {words.count(errors, 'error')}; "
            f"{words.count(self.answers, 'answer')} looked at"
        )

    @property
    def lateness(self) -> str:
        """Empty where everything began in time."""
        if not self.late:
            return ""
        dropped = sum(one.dropped for one in self.late)
        pairs = words.count(len(self.late), "pair")
        return (
            f"{words.count(dropped, 'operation')} found no connection free in time, in {pairs} of scenario and target"
        )

    @property
    def thresholds(self) -> str:
        if not self.held + self.failed + self.unmeasured:
            return "No thresholds in this run"
        missing = f", {self.unmeasured} not measured" if self.unmeasured else ""
        return f"Thresholds: {self.held} held, {self.failed} failed{missing}"


def verdict(results: Results) -> Verdict:
    every = [one for suite in results.suites for scenario in suite.scenarios for one in faults(suite.name, scenario)]
    limits = results.thresholds
    unmeasured = sum(limit.measured is None for limit in limits)
    held = sum(limit.passed for limit in limits if limit.measured is not None)
    return Verdict(
        sum(one.answers for one in measurements(results)),
        [one for one in every if one.is_wrong],
        [one for one in every if not one.is_wrong],
        results.failures,
        held,
        len(limits) - held - unmeasured,
        unmeasured,
    )


def machine(results: Results) -> str:
    known = results.made.machine
    memory = known.get("memory_bytes", "")
    said = [
        known.get("processor", ""),
        f"{known['cores']} cores" if known.get("cores") else "",
        f"{int(memory) / GIB:.0f} GiB" if memory.isdecimal() else "",
        known.get("system", ""),
        known.get("kernel", ""),
    ]
    return ", ".join(word for word in said if word) or "not known"


def versions(results: Results) -> str:
    known = results.made.versions
    said = [f"{PROGRAMS.get(name, name)} {text}" for name, text in known.items() if text and name not in MODULES]
    for name, what in MODULES.items():
        size = known.get(name, "")
        if size.isdecimal():
            said.append(f"{what} of {int(size) / 1e6:.2f} MB")
    return ", ".join(said)


def commit(results: Results) -> str:
    made = results.made
    return (made.commit or "unknown") + (", with changes that it does not hold" if made.modified else "")


def amount(results: Results) -> str:
    made = results.made
    rounds = words.count(made.rounds, "round")
    return f"scale {made.scale:g}, {rounds}, {words.duration(made.seconds)}"


def others(suite: SuiteResult) -> str:
    """A sentence: what programs that the run did not start took of the cores beside its measurements."""
    known = [
        one.others_percent
        for scenario in suite.scenarios
        for one in scenario.measurements
        if one.others_percent is not None
    ]
    if not known:
        return "What other programs took of the cores is not known."
    middle, most = statistics.median(known), max(known)
    said = f"Beside its measurements other programs took {middle:.0f} % of the cores ({min(known):.0f} to {most:.0f})"
    if middle <= OTHERS_PERCENT:
        return f"{said}."
    return f"{said}: so every way could do less, and p90 and p99 also hold how long others had the cores."


def noise(results: Results) -> str:
    """How even the machine was, and what that means for the figures."""
    spin, steal = (results.made.noise.get(name, []) for name in ("spin_ms", "steal_percent"))
    if not spin:
        return "how even the machine was is not known"
    least, middle, most = min(spin), statistics.median(spin), max(spin)
    said = f"a fixed piece of work took {number(middle)} ms ({number(least)} to {number(most)}) beside the rounds"
    if steal:
        said += f", and other machines took {max(steal):.1f} % of the time at most"
    if others := results.made.noise.get("others_percent", []):
        said += f"; other programs of this machine took {statistics.median(others):.0f} % of its cores"
        said += f" ({min(others):.0f} to {max(others):.0f})"
    uneven = most > UNEVEN * least or max((*steal, 0.0)) > STEAL_PERCENT or max((*others, 0.0)) > OTHERS_PERCENT
    return f"{said}: {'an uneven machine, ratios are worth more than absolutes' if uneven else 'an even machine'}"
