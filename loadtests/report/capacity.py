"""`docs/start/capacity.md`: what to plan for a sidecar, with one load worked out from the runs that are kept."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from loadtests.figures import number
from loadtests.report import facts, planning, rates, words
from loadtests.report.grids import Cell, Grid
from loadtests.report.markdown import escape, section, table
from loadtests.report.words import CPU_PROXY, CPU_SIDECAR
from loadtests.results import Results
from loadtests.summary import ScenarioSummary

# Written by hand, with a place for what the runs say: no figure of a run is in it.
TEXT = Path(__file__).with_name("capacity.md.in")
# How busy a sidecar should be, in per cent of the CPU that it asks for: the rest is for what comes at once.
BUSY = 70
# What a request is rounded up to, in thousandths of a core.
STEP = 50
NOT_MEASURED = "The runs that are kept do not measure the load of the example."
# The example's load: what a client does, so often a second, and what measures it.
STATEMENTS = (
    ("a row read by its key, 3 values opened", 2_000, ("latency", "point-read")),
    ("a row inserted, 3 values sealed", 300, ("latency", "insert")),
)
SESSION = "a new session of a client"
SESSIONS = 5


@dataclass(frozen=True)
class Part:
    """One kind of work in the example."""

    what: str
    # A second.
    rate: float
    # Of the sidecar, in µs each, and of that Envoy's.
    cpu: float
    envoy: float

    @property
    def millicores(self) -> float:
        """Thousandths of a core: µs in a millisecond."""
        return self.rate * self.cpu / 1000


def page(runs: list[Results], written: str) -> str:
    parts = {
        "written": written,
        "example": "\n".join(example(runs)),
        "cpu": "\n".join(line for grid in planning.tables(runs) for line in section(grid, 3)).strip(),
        "latency": "\n".join(line for grid in rates.tables(runs) for line in section(grid, 3)).strip(),
        "measured": "\n".join(_measured(runs)),
    }
    text = TEXT.read_text(encoding="utf-8")
    for name, said in parts.items():
        text = text.replace(f"{{{name}}}", said)
    return text


def load(runs: list[Results]) -> list[Part] | None:
    """The example's load; None where a part of it is not measured.

    A statement costs what it does at the lowest rate that was measured: the fewer come, the more often each of them
    wakes the sidecar alone.
    """
    measured = rates.measured(runs)
    found = []
    for what, rate, name in STATEMENTS:
        paced = measured[name].paced if name in measured else {}
        found.append(_part(what, rate, paced[min(paced)] if paced else None))
    found.append(_part(SESSION, SESSIONS, planning.scenario(runs, "tls", "session")))
    parts = [part for part in found if part]
    return parts if len(parts) == len(found) else None


def _part(what: str, rate: float, scenario: ScenarioSummary | None) -> Part | None:
    measures = (CPU_SIDECAR.name, CPU_PROXY.name)
    cpu, envoy = (scenario.figure(one, words.SQL.ours) if scenario else None for one in measures)
    return Part(what, rate, cpu.median, envoy.median) if cpu and envoy else None


def example(runs: list[Results]) -> Iterator[str]:
    parts = load(runs)
    if parts is None:
        yield NOT_MEASURED
        return
    rows = [
        [Cell(part.what), Cell(words.whole(part.rate)), Cell(number(part.cpu)), Cell(number(part.millicores))]
        for part in parts
    ]
    total = sum(part.millicores for part in parts)
    rows.append([Cell("all"), Cell(""), Cell(""), Cell(number(total))])
    columns = ["work", "a second", "CPU of the sidecar, µs each", "thousandths of a core"]
    yield from table(Grid("", columns, rows))
    asked = request(total)
    envoy = sum(part.rate * part.envoy for part in parts) / 1000
    yield ""
    yield (
        f"So the sidecar uses {total:,.0f} thousandths of a core, {envoy:,.0f} of them in Envoy. Let that be {BUSY} % "
        f"of what it asks for: {total:,.0f} ÷ {BUSY / 100:g}, rounded up to the next {STEP}, is a request of "
        f"**`cpu: {asked}m`** for all its containers."
    )


def request(millicores: float) -> int:
    """What to ask for, for work that takes so many."""
    return STEP * math.ceil(100 * millicores / (BUSY * STEP))


def _measured(runs: list[Results]) -> Iterator[str]:
    """Of the latencies: how the cores were divided, and how busy others kept them."""
    for run in runs:
        for suite in run.suites:
            if suite.cores:
                yield f"- `{escape(suite.name)}`: {escape(suite.cores)} {facts.others(suite)}"
