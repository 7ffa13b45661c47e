"""Numbers as a person reads them, and the measures by name."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from loadtests.figures import NONE, number, plural
from loadtests.results import SuiteResult
from loadtests.summary import Figure

MIB = 1 << 20


def whole(value: float) -> str:
    """A count."""
    return f"{value:,.0f}"


@dataclass(frozen=True)
class Measure:
    """One thing that is measured of a scenario, as `loadtests.summary` names it."""

    name: str
    # With its unit.
    title: str
    # In the unit of the title.
    scale: float = 1.0
    more_is_better: bool = False
    # Of counts nothing is said by a ratio: often one of them is none.
    has_ratio: bool = True
    show: Callable[[float], str] = number


RATE = Measure("operations_per_second", "operations a second", more_is_better=True)
CALLS = Measure("calls", "n: calls timed a round", has_ratio=False, show=whole)
P50 = Measure("latency_us.50", "p50 of a call, µs")
P90 = Measure("latency_us.90", "p90 of a call, µs")
P99 = Measure("latency_us.99", "p99 of a call, µs")
P999 = Measure("latency_us.99.9", "p99.9 of a call, µs")
SQL50 = Measure("sql_us.50", "p50 of a statement, µs")
SQL99 = Measure("sql_us.99", "p99 of a statement, µs")
DROPPED = Measure("dropped", "calls dropped a round", has_ratio=False, show=whole)
CPU_PROXY = Measure("cpu_us.proxy", "CPU of the proxy, µs an operation")
CPU_SIDECAR = Measure("cpu_us.sidecar", "CPU of the sidecar, µs an operation")
CPU_SERVER = Measure("cpu_us.server", "CPU of the server, µs an operation")
MEMORY_PROXY = Measure("resident_bytes.proxy", "memory of the proxy, MiB", 1 / MIB)
MEMORY_SERVER = Measure("resident_bytes.server", "memory of the server, MiB", 1 / MIB)
SWITCHES = Measure("switches.proxy", "context switches of the proxy an operation")
_LATENCIES = (P50, P99, P999, SQL50, SQL99)
_USES = (CPU_PROXY, CPU_SIDECAR, CPU_SERVER, MEMORY_PROXY, MEMORY_SERVER, SWITCHES)
# In the order of the tables.
MEASURES = (RATE, CALLS, *_LATENCIES, DROPPED, *_USES)
RATIOS = tuple(measure for measure in MEASURES if measure.has_ratio)
SIDECAR = "The sidecar is the proxy with OPA, the key agent and, with TLS, the bridges."
# What the figures can't say of themselves; a paragraph each.
READING = (
    "The load generator shares the cores with what it measures, and is part of the limit. Its scripts, and its look at "
    "every answer, cost the same on every target: so the ratio of rates is nearer to 1 than with a generator that does "
    "less, and so is that of p50 with one client. The latency of a statement, where there is one, holds less of it.",
    "With more clients than cores, p50 is mostly how calls wait for a core, in bursts: there compare rates. Compare "
    "latency where so many begin each second.",
    "CPU is read of each process alone. What the filter adds, in µs an operation, is steadier than its ratio to Envoy "
    "alone: how often a generator wakes the proxy changes what both cost, and so the ratio. Plan with the added µs.",
    "One client at a time, and a low rate, mostly measure waking up: of processes, and of cores that slept. What work "
    "costs is seen with several clients.",
    "Memory is of a proxy that has lived through all earlier scenarios, and keeps what it once took. It is no "
    "scenario's own.",
    "Latency is of one call of the script, which may be many operations: a whole table at once is one call. Of an "
    "arrival rate it counts from when the call was due. n is how many were timed. p99 is given from 100 calls on, "
    "p99.9 from 1,000. Dropped are calls of an arrival rate that did not begin.",
)


@dataclass(frozen=True)
class Ways:
    """The targets of one protocol by what they are for: what everything is held against, and what it is about."""

    direct: str
    envoy: str
    ours: str
    # The same with the native filter.
    native: str

    @property
    def bases(self) -> tuple[str, str]:
        return self.direct, self.envoy


SQL = Ways("direct", "envoy-tcp", "fieldveil", "fieldveil-native")
BODIES = Ways("direct-http", "envoy-http", "fieldveil-json", "fieldveil-json-native")


def ways(targets: Collection[str]) -> Ways:
    """Of a scenario's targets."""
    return BODIES if {*BODIES.bases, BODIES.ours} & {*targets} else SQL


def of_suite(suite: SuiteResult) -> Ways:
    """Of all of a suite's targets: it speaks one protocol."""
    return ways({one.target for scenario in suite.scenarios for one in scenario.measurements})


def titled(measure: Measure, mode: str) -> str:
    """A measure's title where it speaks of what a driver was told: a statement, or a request."""
    return measure.title.replace("a statement", "a request") if mode.startswith("http/") else measure.title


def spread(figure: Figure, scale: float = 1.0, show: Callable[[float], str] = number) -> str:
    """The least to the most of all rounds; empty where that is one number."""
    if figure.least == figure.most:
        return ""
    return f"{show(figure.least * scale)} to {show(figure.most * scale)}"


def figure(found: Figure | None, scale: float = 1.0, show: Callable[[float], str] = number) -> str:
    """42.8 (41.9 to 43.6)"""
    if found is None:
        return NONE
    shown, between = show(found.median * scale), spread(found, scale, show)
    return f"{shown} ({between})" if between else shown


def share(value: float) -> str:
    """A ratio as a change: +63 %, -7 %, +2,900 %."""
    percent = (value - 1) * 100
    return f"{percent:+,.1f} %" if abs(percent) < 9.95 else f"{percent:+,.0f} %"


def duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def count(amount: int, one: str, many: str = "") -> str:
    return f"{amount:,} {one if amount == 1 else many or plural(one)}"
