"""What changed between two runs beyond the noise.

A figure counts as changed when its ranges over the rounds of the two runs do not overlap and its medians differ by more
than SHARE. Ratios to the server itself and to Envoy alone are compared always, absolutes on the same machine only.
"""

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from loadtests.figures import number
from loadtests.report import facts, words
from loadtests.report.words import CALLS, MEASURES, Measure
from loadtests.results import Results, SuiteResult
from loadtests.summary import Figure, ScenarioSummary, SuiteSummary

SHARE = 0.10
# Fewer say nothing of the spread.
ROUNDS = 2
# Of the tables' numbers nobody knows the spread.
SINGLE_SHARE = 0.20
# What makes it another scenario; seconds and operations grow with the scale.
WORKLOAD = ("kind", "clients", "rate")
# How many calls there were is the rate, or the scale.
COMPARED = tuple(measure for measure in MEASURES if measure is not CALLS)


@dataclass(frozen=True)
class Change:
    where: str
    what: str
    old: Figure
    new: Figure
    scale: float
    measure: Measure

    @property
    def ratio(self) -> float:
        return self.new.median / self.old.median if self.old.median else float("inf")

    @property
    def worse(self) -> bool:
        return (self.ratio > 1) != self.measure.more_is_better

    def __str__(self) -> str:
        old, new = (words.figure(found, self.scale, self.measure.show) for found in (self.old, self.new))
        much = words.share(self.ratio) if self.old.median else "from nothing"
        return f"      {self.what}: {old} -> {new}, {much}"


@dataclass
class _Compared:
    """What was looked at."""

    changes: list[Change] = field(default_factory=list)
    figures: int = 0
    singles: list[str] = field(default_factory=list)
    only: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)


def compare(a: Results, b: Results) -> str:
    """Worse first. `a` is the old one."""
    same_machine = a.made.machine == b.made.machine
    found = _Compared()
    olds, news = ({suite.name: suite for suite in run.suites} for run in (a, b))
    found.only += _only("suite", olds, news)
    for name in (name for name in olds if name in news):
        old, new = (SuiteSummary(suites[name]).scenarios() for suites in (olds, news))
        found.only += _only(f"scenario of {name}", old, new)
        for scenario in (scenario for scenario in old if scenario in new):
            _scenario(found, f"{name}, {scenario}", old[scenario], new[scenario], same_machine)
        _tables(found, name, olds[name], news[name])
    found.changes.sort(key=lambda change: abs(change.ratio - 1), reverse=True)
    return "\n".join(_said(a, b, found, same_machine)) + "\n"


def _scenario(found: _Compared, where: str, old: ScenarioSummary, new: ScenarioSummary, absolutes: bool) -> None:
    for what, before, after in _differences(old, new):
        found.other.append(f"{where}: {what} was {before}, is {after}")
        return
    found.only += [f"{line} in {where}" for line in _only("target", old.targets(), new.targets())]
    targets = [target for target in old.targets() if target in new.targets()]
    for target in targets:
        for measure in COMPARED:
            title = words.titled(measure, new.result.mode)
            if absolutes:
                pair = old.figure(measure.name, target), new.figure(measure.name, target)
                _figure(found, f"{where}, {target}", title, measure, measure.scale, *pair)
            for base in words.ways(targets).bases:
                if measure.has_ratio and base in targets and base != target:
                    pair = old.ratio(measure.name, target, base), new.ratio(measure.name, target, base)
                    over = f"{title.split(',')[0]} / {base}"
                    _figure(found, f"{where}, {target}", over, measure, 1, *pair)


def _differences(old: ScenarioSummary, new: ScenarioSummary) -> Iterator[tuple[str, object, object]]:
    for name in WORKLOAD:
        before, after = old.result.workload.get(name), new.result.workload.get(name)
        if before != after:
            yield name, before, after
    for name in ("mode", "user", "unit"):
        before, after = getattr(old.result, name), getattr(new.result, name)
        if before != after:
            yield name, before, after


def _figure(
    found: _Compared, where: str, what: str, measure: Measure, scale: float, old: Figure | None, new: Figure | None
) -> None:
    if old is None or new is None:
        if old != new:
            found.only.append(f"{what} of {where}: measured in {'B' if old is None else 'A'} only")
        return
    found.figures += 1
    apart = new.least > old.most or new.most < old.least
    if apart and abs(new.median - old.median) > SHARE * abs(old.median):
        found.changes.append(Change(where, what, old, new, scale, measure))


def _tables(found: _Compared, suite: str, old: SuiteResult, new: SuiteResult) -> None:
    """The numbers of the tables that were measured by other means."""
    olds, news = ({table.title: table.values for table in run.extra} for run in (old, new))
    for title in (title for title in olds if title in news):
        for series, values in olds[title].items():
            for x, before in values.items():
                after = news[title].get(series, {}).get(x)
                if after is not None and before and abs(after / before - 1) > SINGLE_SHARE:
                    change = f"{number(before)} -> {number(after)}, {words.share(after / before)}"
                    found.singles.append(f"  {suite}, {title}, {series}, {x}: {change}")


def _by_chance(a: Results, b: Results) -> float:
    """That all rounds of one run lie on the same side of all of the other's, though nothing changed."""
    return 2 / math.comb(a.made.rounds + b.made.rounds, a.made.rounds)


def _only(kind: str, old: Collection[str], new: Collection[str]) -> list[str]:
    pairs = (("A", old, new), ("B", new, old))
    return [f"{kind} {name}: in {run} only" for run, ours, others in pairs for name in ours if name not in others]


def _said(a: Results, b: Results, found: _Compared, same_machine: bool) -> Iterator[str]:
    for name, run in (("A", a), ("B", b)):
        yield f"{name}: commit {facts.commit(run)}, {run.made.started}, {facts.amount(run)}"
        yield f"   {facts.machine(run)}; {facts.noise(run)}"
        yield f"   {facts.verdict(run).said}. {facts.verdict(run).thresholds}."
    if not same_machine:
        yield "Other machines: ratios are compared, absolutes are not."
    if a.made.scale != b.made.scale:
        yield f"Other scales ({a.made.scale:g} and {b.made.scale:g}): windows and tables differ in size."
    few = min(a.made.rounds, b.made.rounds) < ROUNDS
    yield ""
    if few:
        yield "One of them has one round only: its spread is not known, so no change counts. Run it with ROUNDS=3."
    else:
        yield f"{words.count(found.figures, 'figure')} compared. A change counts when the ranges over the rounds do not"
        yield f"overlap and the medians differ by more than {SHARE:.0%}. Of what did not change,"
        yield f"{_by_chance(a, b):.0%} has ranges apart by chance: trust what changed in several scenarios."
    changes = [] if few else found.changes
    for title, ours in (("Worse", [c for c in changes if c.worse]), ("Better", [c for c in changes if not c.worse])):
        yield ""
        yield f"{title}: {len(ours) or 'nothing'}"
        # What changed most stands first, and with it all of the same place.
        for where in dict.fromkeys(change.where for change in ours):
            yield f"  {where}"
            yield from (str(change) for change in ours if change.where == where)
    for title, lines in (
        (f"Single numbers that differ by more than {SINGLE_SHARE:.0%}; their noise is not known", found.singles),
        ("Not compared, for the work is another", [f"  {line}" for line in found.other]),
        ("In one of them only", [f"  {line}" for line in found.only]),
    ):
        if lines:
            yield from ("", f"{title}:", *lines)
