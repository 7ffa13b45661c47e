"""What a sidecar needs of CPU, for whom to plan: a statement, a value, a session, a body. Medians over the rounds."""

from collections.abc import Iterator

from loadtests.figures import NONE, number
from loadtests.report import words
from loadtests.report.answer import REQUESTS, STATEMENTS
from loadtests.report.grids import Cell, Grid
from loadtests.report.words import CPU_SERVER, CPU_SIDECAR
from loadtests.results import Results, Table
from loadtests.summary import Figure, ScenarioSummary, SuiteSummary

CORE = 1e6
# Of the calls that seal and open one value: the lengths that are shown, and the tables that hold them.
LENGTHS = ("64", "1024")
CIPHERS = {"opened": "Open in Envoy's V8", "sealed": "Seal in Envoy's V8"}
SESSIONS = {
    "fieldveil": "PostgreSQL: connect, SELECT 1, close",
    "fieldveil-tls": "the same with TLS to the client and to the server, by bridges",
}
BODIES = {**REQUESTS, ("json", "seal-10KB-10"): "request of 10 KB, 10 fields sealed"}


def scenario(runs: list[Results], suite: str, name: str) -> ScenarioSummary | None:
    for run in runs:
        for one in run.suites:
            if one.name == suite:
                return SuiteSummary(one).scenarios().get(name)
    return None


def tables(runs: list[Results]) -> Iterator[Grid]:
    """Those of which the runs hold something."""
    yield from _costs("A statement", "statement", STATEMENTS, runs)
    yield from _values(runs)
    yield from _sessions(runs)
    yield from _costs("A body over HTTP", "body", BODIES, runs)


def _costs(title: str, what: str, given: dict[tuple[str, str], str], runs: list[Results]) -> Iterator[Grid]:
    rows = []
    for (suite, name), said in given.items():
        found = scenario(runs, suite, name)
        if found and (cpu := found.figure(CPU_SIDECAR.name, words.ways(found.targets()).ours)):
            rows.append([Cell(said), Cell(number(cpu.median)), Cell(number(CORE / cpu.median))])
    if rows:
        yield Grid(title, [what, "CPU of the sidecar, µs", "a second of one core is enough for"], rows)


def _values(runs: list[Results]) -> Iterator[Grid]:
    """By cipher, in Envoy's VM."""
    known = {what: table.values for what, title in CIPHERS.items() if (table := _extra(runs, title))}
    if known.keys() != CIPHERS.keys():
        return
    columns = [f"{what}, {int(length):,} bytes, µs" for what in CIPHERS for length in LENGTHS]
    rows = [
        [Cell(cipher), *(_value(known[what], cipher, length) for what in CIPHERS for length in LENGTHS)]
        for cipher in known["opened"]
    ]
    yield Grid("A value by itself", ["protection and cipher", *columns], rows)


def _value(known: dict[str, dict[str, float]], cipher: str, length: str) -> Cell:
    found = known.get(cipher, {}).get(length)
    return Cell(NONE if found is None else number(found))


def _extra(runs: list[Results], title: str) -> Table | None:
    return next((one for run in runs for suite in run.suites for one in suite.extra if one.title == title), None)


def _sessions(runs: list[Results]) -> Iterator[Grid]:
    found = scenario(runs, "tls", "session")
    if found is None:
        return
    measures = (CPU_SIDECAR.name, "cpu_us.client_bridge", "cpu_us.server_bridge", CPU_SERVER.name)
    rows = [
        [Cell(said), *(_text(found.figure(measure, target)) for measure in measures)]
        for target, said in SESSIONS.items()
    ]
    columns = [
        "session", "CPU of the sidecar, µs", "of it the bridge from clients", "of it the bridge to the server",
        "CPU of the server, µs",
    ]  # fmt: skip
    yield Grid("A session", columns, rows)


def _text(figure: Figure | None) -> Cell:
    return Cell(NONE if figure is None else number(figure.median))
