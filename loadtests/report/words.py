"""Numbers as a person reads them, and the measures by name."""

from dataclasses import dataclass

from loadtests.figures import NONE, number
from loadtests.summary import Figure

MIB = 1 << 20


@dataclass(frozen=True)
class Measure:
    """One thing that is measured of a scenario, as `loadtests.summary` names it."""

    name: str
    # With its unit.
    title: str
    # In the unit of the title.
    scale: float = 1.0
    more_is_better: bool = False


RATE = Measure("operations_per_second", "operations a second", more_is_better=True)
P50 = Measure("latency_us.50", "p50, µs")
P99 = Measure("latency_us.99", "p99, µs")
P999 = Measure("latency_us.99.9", "p99.9, µs")
CPU_PROXY = Measure("cpu_us.proxy", "CPU of the proxy, µs an operation")
CPU_SIDECAR = Measure("cpu_us.sidecar", "CPU of the sidecar, µs an operation")
CPU_SERVER = Measure("cpu_us.server", "CPU of the server, µs an operation")
MEMORY_PROXY = Measure("resident_bytes.proxy", "memory of the proxy, MiB", 1 / MIB)
MEMORY_SERVER = Measure("resident_bytes.server", "memory of the server, MiB", 1 / MIB)
SWITCHES = Measure("switches.proxy", "context switches of the proxy an operation")
# In the order of the tables.
MEASURES = (RATE, P50, P99, P999, CPU_PROXY, CPU_SIDECAR, CPU_SERVER, MEMORY_PROXY, MEMORY_SERVER, SWITCHES)
SIDECAR = "The sidecar is the proxy with OPA and the key agent."

# What everything is held against, and what it is about.
DIRECT, ENVOY, OURS = "direct", "envoy-tcp", "fieldveil"
BASES = (DIRECT, ENVOY)


def spread(figure: Figure, scale: float = 1.0) -> str:
    """The least to the most of all rounds; empty where that is one number."""
    if figure.least == figure.most:
        return ""
    return f"{number(figure.least * scale)} to {number(figure.most * scale)}"


def figure(found: Figure | None, scale: float = 1.0) -> str:
    """42.8 (41.9 to 43.6)"""
    if found is None:
        return NONE
    shown, between = number(found.median * scale), spread(found, scale)
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
    return f"{amount:,} {one if amount == 1 else many or f'{one}s'}"
