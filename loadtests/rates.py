"""Arrival rates that are parts of what the direct path can do: how the scenarios of such a suite are named and found.

Each operation has a scenario that asks as fast as it is answered, for the capacity of each path, and one for each
share of the direct path's.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from loadtests.summary import ScenarioSummary, SuiteSummary

# Per cent of the direct path's capacity: most of the time, at peaks, and on a server that should have been given more.
SHARES = (10, 30, 60, 80)
PACED = re.compile(r"(?P<operation>.+)-(?P<share>\d+)-percent")


def capacity_name(operation: str) -> str:
    return f"{operation}-capacity"


def paced_name(operation: str, share: int) -> str:
    return f"{operation}-{share}-percent"


@dataclass(frozen=True)
class Operation:
    """One operation of a suite, with what each way to the server did with it."""

    name: str
    capacity: ScenarioSummary
    # By the share of the direct path's capacity, in per cent.
    paced: dict[int, ScenarioSummary]


def operations(summary: SuiteSummary) -> Iterator[Operation]:
    """Those of the suite that were measured at such rates."""
    scenarios = summary.scenarios()
    found: dict[str, dict[int, ScenarioSummary]] = {}
    for name, scenario in scenarios.items():
        if parts := PACED.fullmatch(name):
            found.setdefault(parts["operation"], {})[int(parts["share"])] = scenario
    for name, paced in found.items():
        if capacity := scenarios.get(capacity_name(name)):
            yield Operation(name, capacity, paced)
