"""Whole transactions through the filter's own code, and where the microseconds of one go."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

from dev.layout import ROOT
from loadtests.figures import NONE, number, spread
from loadtests.results import Table
from loadtests.sealing.run import NATIVE, V8
from loadtests.sealing.samples import check, microseconds, taken
from loadtests.summary import Figure

# Names of calls of Envoy's; the others are transactions.
ENVOY = "envoy: "
# How often a transaction makes them: counted, and held, by the host's own test.
COUNTED = ROOT / "filters" / "host" / "tests" / "costs" / "numbers.txt"
CLOCK, READ = "proxy_get_current_time_nanoseconds", "proxy_get_buffer_bytes"
SHORT, LONG = "256 bytes read", "8,192 bytes read"


@dataclass(frozen=True)
class Timed:
    """Many of one transaction, or of one call of Envoy's, one after the other."""

    name: str
    round: int
    # Microseconds of one.
    us: float


@dataclass(frozen=True)
class Transactions:
    """How much of whole transactions is measured, as the module and the program take it."""

    mark: ClassVar[str] = "bench-sessions: "

    rounds: int
    # What one measurement takes at least.
    batch_ms: int
    # For how long each is run before it is measured.
    warm_up_ms: int
    # What the names hold of those that are measured; empty: all.
    sessions: str = ""

    def read(self, lines: Iterable[str]) -> list[Timed]:
        """The samples of one whole run."""
        samples: list[Timed] = []

        def take(line: dict) -> None:
            samples.append(Timed(line["transaction"], line["round"], microseconds(line)))

        cases = taken(lines, self.mark, take)
        check(samples, cases, len({sample.round for sample in samples}), 1)
        return samples


@dataclass(frozen=True)
class Way:
    """A transaction taken apart by others that do less of the same."""

    title: str
    # The same bytes where nothing is protected; and of protected columns that stay as they are stored.
    nothing: str
    concealed: str | None
    whole: str
    # Its name among those whose calls of Envoy are counted, and what one read of a buffer brings.
    counted: str
    read: str


WAYS = (
    Way(
        "PostgreSQL: point read, 3 opened",
        "postgres: nothing protected",
        "postgres: point read, 3 concealed",
        "postgres: point read, 3 opened",
        "PostgreSQL: point read, prepared",
        SHORT,
    ),
    Way(
        "PostgreSQL: 100 rows, 300 opened",
        "postgres: 100 rows, nothing protected",
        "postgres: 100 rows, 300 concealed",
        "postgres: 100 rows, 300 opened",
        "PostgreSQL: 100 rows, prepared",
        LONG,
    ),
    Way(
        "PostgreSQL: insert, 3 sealed",
        "postgres: nothing protected",
        None,
        "postgres: insert, 3 sealed",
        "PostgreSQL: insert, prepared",
        SHORT,
    ),
    Way(
        "MySQL: point read, 3 opened",
        "mysql: nothing protected",
        "mysql: point read, 3 concealed",
        "mysql: point read, 3 opened",
        "MySQL: point read, prepared",
        SHORT,
    ),
    Way(
        "MySQL: 100 rows, 300 opened",
        "mysql: 100 rows, nothing protected",
        "mysql: 100 rows, 300 concealed",
        "mysql: 100 rows, 300 opened",
        "MySQL: 100 rows, prepared",
        LONG,
    ),
    Way(
        "MySQL: insert, 3 sealed",
        "mysql: nothing protected",
        None,
        "mysql: insert, 3 sealed",
        "MySQL: insert, prepared",
        SHORT,
    ),
)
TIMES = "One transaction, inside the filter"
WHAT = (
    "All that the filter's code does for one transaction, of a prepared statement unless it says otherwise: from the "
    "bytes of both sides as Envoy hands them over to the bytes that go on. `envoy` is one call that the module makes "
    "of Envoy. Microseconds: the median (the least to the greatest)."
)
PARTS = "Where the microseconds of one transaction go, in Envoy's V8"
HOW = (
    "Differences of the medians above: what the same takes of a table of which nothing is protected; what it takes "
    "more where columns are protected and stay as they are stored (of an insert that cannot be had); what it takes "
    "more where they are opened or sealed. Envoy's calls are those that the host's own test counts, each with what "
    "one took here: reads of a buffer, which call back into the module for memory, and the clock; what the writing of"
    " a buffer and Envoy's own callback take can only be measured with a connection, and is in the load tests' "
    "figures alone."
)


def transaction_tables(found: dict[str, list[list[Timed]]]) -> list[Table]:
    """What each took in V8 and natively, and the parts of some."""
    figures = {where: _figures(chain.from_iterable(turns)) for where, turns in found.items()}
    rows = [[name, spread(figure), spread(figures[NATIVE].get(name))] for name, figure in figures[V8].items()]
    values = {where: {name: figure.median for name, figure in of.items()} for where, of in figures.items()}
    times = Table(TIMES, ["", f"{V8}, µs", f"{NATIVE}, µs"], rows, WHAT, values, "µs a transaction")
    return [times, parts(values[V8], counted(COUNTED.read_text()))]


def _figures(samples: Iterable[Timed]) -> dict[str, Figure]:
    by_name: dict[str, list[float]] = {}
    for sample in samples:
        by_name.setdefault(sample.name, []).append(sample.us)
    return {name: figure for name, times in by_name.items() if (figure := Figure.of(times))}


def parts(took: dict[str, float], calls: dict[str, dict[str, int]]) -> Table:
    """Of medians in V8."""
    rows = []
    for way in WAYS:
        counts = calls[way.counted]
        envoy = counts[READ] * took[ENVOY + way.read] + counts[CLOCK] * took[f"{ENVOY}the clock"]
        nothing, whole = took[way.nothing], took[way.whole]
        concealed = took[way.concealed] if way.concealed else nothing
        protected = number(concealed - nothing) if way.concealed else NONE
        rows.append(
            [way.title, *map(number, (envoy, nothing)), protected, number(whole - concealed), number(envoy + whole)]
        )
    columns = ["", "Envoy's calls", "messages, session, statement", "plan, rows, counts", "values", "all"]
    return Table(PARTS, columns, rows, HOW)


def counted(text: str) -> dict[str, dict[str, int]]:
    """How often each transaction calls what, as the host's test writes it."""
    found: dict[str, dict[str, int]] = {}
    for line in text.splitlines():
        if call := re.fullmatch(r" +(\w+) +(\d+)", line):
            found[next(reversed(found))][call[1]] = int(call[2])
        elif line and not line.startswith("#"):
            found[line] = {}
    return found
