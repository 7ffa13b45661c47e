"""What a run found, as it is kept: dataclasses that are written to JSON and read back. Units stand in the names."""

from dataclasses import dataclass, field
from pathlib import Path

import msgspec

SCHEMA = 1
# Of each measurement's latencies, in microseconds.
PERCENTILES = ("1", "5", "10", "25", "50", "75", "90", "95", "99", "99.5", "99.9")
# Whose CPU and memory is read. `proxy` is Envoy or PgBouncer; `client_bridge` and `server_bridge` stand before and
# behind it where there is TLS; `server` is PostgreSQL with all its processes.
PROCESSES = ("proxy", "client_bridge", "server_bridge", "server", "opa", "agent", "client")


@dataclass(frozen=True)
class Usage:
    """What a process used over one measurement."""

    cpu_seconds: float
    # At the end, of all its processes.
    resident_bytes: int
    # Voluntary and not.
    context_switches: int


@dataclass(frozen=True)
class Measurement:
    """One scenario, one target, one round."""

    target: str
    round: int
    # In the scenario's unit.
    operations: int
    seconds: float
    # "min", those of PERCENTILES, "max"; of one call of the script's, in microseconds. Of an arrival rate from when it
    # was due.
    latency_us: dict[str, float]
    # By the names of PROCESSES; a target without a proxy has none.
    usage: dict[str, Usage]
    # Answers that were looked at, and those that were not what they must be; one fails the run.
    answers: int
    wrong_answers: int
    # Statements that failed; one fails the run.
    errors: int
    # Of an arrival rate: what no connection came to within ten seconds.
    dropped: int = 0
    # As latency_us, of single statements alone, without what the script does. Empty where there are none.
    sql_us: dict[str, float] = field(default_factory=dict)
    # Of the script, those whose latency is in latency_us; 0 where that is not known.
    calls: int = 0
    # What programs that the run did not start took of the machine's cores meanwhile; None where that is not known.
    others_percent: float | None = None


@dataclass(frozen=True)
class ScenarioResult:
    name: str
    what: str
    unit: str
    # The dataclass's fields: kind, clients, seconds, rate, operations.
    workload: dict
    mode: str
    user: str
    measurements: list[Measurement]


@dataclass(frozen=True)
class Table:
    """Rows for a person to read: text in each cell, its unit in the column's head."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    note: str = ""
    # The same as numbers, for charts and comparison, where there are such: {"series": {"x": y, …}, …}
    values: dict[str, dict[str, float]] = field(default_factory=dict)
    # What the numbers are: "ns an operation".
    unit: str = ""


@dataclass(frozen=True)
class Published:
    """An experiment of others."""

    title: str
    # Who, where, when.
    source: str
    # On what.
    system: str
    figures: Table


@dataclass(frozen=True)
class SuiteResult:
    name: str
    what: str
    scenarios: list[ScenarioResult]
    published: Published | None = None
    # Theirs beside ours.
    beside: list[Table] = field(default_factory=list)
    extra: list[Table] = field(default_factory=list)
    # A sentence: how the cores were divided between the load generator and what it measured. Empty where nobody asked.
    cores: str = ""


@dataclass(frozen=True)
class Made:
    """Where, when and of what."""

    commit: str
    # The working tree held changes that the commit does not.
    modified: bool
    # UTC, RFC 3339.
    started: str
    seconds: float
    scale: float
    rounds: int
    # processor, cores, memory_bytes, kernel, system: as text.
    machine: dict[str, str]
    # envoy, postgresql, opa, k6, pgbouncer, filter_bytes …: as text.
    versions: dict[str, str]
    # How even the machine was: {"spin_ms": [a fixed piece of work, before each round], "steal_percent": […],
    # "others_percent": [what programs that the run did not start took of the cores]}
    noise: dict[str, list[float]]


@dataclass(frozen=True)
class TargetInfo:
    name: str
    what: str


@dataclass(frozen=True)
class ThresholdResult:
    suite: str
    scenario: str
    # "cpu_us.proxy / envoy-tcp" and the like, as in `loadtests/thresholds.json`.
    measure: str
    limit: float
    # None: not measured in this run.
    measured: float | None
    passed: bool
    reason: str


@dataclass(frozen=True)
class Results:
    made: Made
    targets: list[TargetInfo]
    suites: list[SuiteResult]
    thresholds: list[ThresholdResult] = field(default_factory=list)
    # What ended a suite before its time, with the suite's name.
    failures: list[str] = field(default_factory=list)
    schema: int = SCHEMA

    def write(self, path: Path) -> None:
        path.write_bytes(msgspec.json.encode(self) + b"\n")


class UnreadableResults(Exception):
    """A file that is not a run's results, or of another version; the text says which and what to do."""


def read(path: Path) -> Results:
    """A run that was written."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise UnreadableResults(f"{path}: {error.strerror}; give the results.json of a run") from error
    try:
        results = msgspec.json.decode(text, type=Results)
    except msgspec.DecodeError as error:
        raise UnreadableResults(f"{path}: not the results of a load test: {error}") from error
    if results.schema != SCHEMA:
        raise UnreadableResults(
            f"{path}: written in version {results.schema} of the format, this is {SCHEMA}: run that test again"
        )
    return results
