"""What TLS takes within PostgreSQL's protocol: between client and server, and by a bridge on either side of Envoy.

Run when it is named, before a server that takes TLS: `make loadtest SUITE=tls`. Each scenario runs on targets without
TLS too; a bridge's CPU is read of its process. TLS's own is what `direct-tls` takes more than `direct-tcp`.
"""

from dataclasses import replace

from loadtests import idle, sessions, values
from loadtests.figures import added, spread
from loadtests.results import Table
from loadtests.rig import Databases, Rig
from loadtests.scenario import Closed, Scenario, Suite
from loadtests.suites import oltp
from loadtests.summary import ScenarioSummary, SuiteSummary

READ, BULK = "person", "bulk"
# Long values, of which an answer is made: a megabyte of them.
CHARACTERS, LENGTH = 8_000, 125
ROWS = 2 * LENGTH
BULK_TABLE = """
CREATE TABLE {table} (id bigint PRIMARY KEY, body {text});
ALTER TABLE {table} ALTER body SET STORAGE EXTERNAL;
"""
TARGETS = ("direct", "direct-tcp", "direct-tls", "envoy-tcp", "envoy-tcp-tls", "fieldveil", "fieldveil-tls")
BULK_SCENARIO = "megabyte-2"
POINT_READ, SESSION = "point-read-prepared-8", "session"
# Below this scale answers are looked at, and nothing is measured by other means.
TIMED, FEW = 0.01, 20


def prepare(rig: Databases, scale: float) -> None:
    rig.tables(oltp.TABLE.format(table=READ, text=rig.TEXT) + BULK_TABLE.format(table=BULK, text=rig.TEXT))
    rows = ((id_, f"name {id_}", *values.contact(id_, 0)) for id_ in range(1, oltp.ROWS + 1))
    rig.fill(READ, ("id", "name", *oltp.COLUMNS), rows)
    rig.fill(BULK, ("id", "body"), map(_long, range(1, ROWS + 1)))
    rig.assert_sealed(READ, *oltp.COLUMNS)


def _long(id_: int) -> tuple[int, str]:
    return id_, values.text(id_, CHARACTERS)


def scenarios(scale: float) -> list[Scenario]:
    seconds = max(0.3, scale)
    reading = [
        replace(one, data={**one.data, "table": READ}, targets=TARGETS)
        for one in oltp.asked(2 * scale)
        if one.name in (POINT_READ, "point-read-prepared-1")
    ]
    return [*reading, _megabytes(seconds), replace(sessions.scenario(scale), targets=TARGETS)]


def _megabytes(seconds: float) -> Scenario:
    digests = [values.digest(map(_long, range(first, first + LENGTH))) for first in range(1, ROWS + 1, LENGTH)]
    return Scenario(
        name=BULK_SCENARIO,
        what=f"{LENGTH} values of {CHARACTERS:,} characters each, a megabyte, none of them protected",
        script="read-long",
        workload=Closed(2, seconds),
        unit="megabyte",
        targets=TARGETS,
        data={"table": BULK, "length": LENGTH, "digests": digests},
    )


def beside(summary: SuiteSummary) -> list[Table]:
    """What each bridge takes, and what TLS takes where there is none: at the client and at the server."""
    found = summary.scenarios()
    columns = [
        "operation", "bridge from clients, µs", "bridge to the server, µs", "TLS at the client, µs",
        "TLS at the server, µs", "sidecar with TLS / without",
    ]  # fmt: skip
    rows, figures = [], {}
    for name in (POINT_READ, SESSION, BULK_SCENARIO):
        if name in found:
            rows.append(_row(found[name]))
            figures |= {name: _figures(found[name])}
    return [Table(TITLE, columns, rows, NOTE, {name: one for name, one in figures.items() if one}, "µs an operation")]


def _row(scenario: ScenarioSummary) -> list[str]:
    bridges = [spread(scenario.figure(f"cpu_us.{leg}_bridge", "envoy-tcp-tls")) for leg in ("client", "server")]
    own = [added(scenario, f"cpu_us.{end}", "direct-tls", "direct-tcp") for end in ("client", "server")]
    ratio = spread(scenario.ratio("cpu_us.sidecar", "fieldveil-tls", "fieldveil"))
    return [f"{scenario.result.name}: {scenario.result.what}", *bridges, *own, ratio]


def _figures(scenario: ScenarioSummary) -> dict[str, float]:
    legs = ("client_bridge", "server_bridge")
    found = {leg: scenario.figure(f"cpu_us.{leg}", "envoy-tcp-tls") for leg in legs}
    return {leg: one.median for leg, one in found.items() if one}


TITLE = "CPU of the bridges, and of TLS without them"
NOTE = (
    "The bridges' CPU is of their processes, around Envoy's TCP proxy, and holds what TCP takes with TLS. TLS's own is "
    "what the client or the server takes more than by TCP without it. TLS 1.3, AES-GCM, ECDSA on P-256; in a session "
    "that of the bridge from clients has SCRAM's proof too, which it makes in the client's place."
)


def extra(rig: Rig, scale: float) -> list[Table]:
    return [idle.table(rig.work, idle.MOST if scale >= TIMED else FEW)]


SUITE = Suite(
    name="tls",
    what="TLS with clients and the server, by bridges and without: point reads, sessions, megabytes, idle sessions",
    scenarios=scenarios,
    prepare=prepare,
    fields={f"public.{READ}": oltp.FIELDS},
    beside=beside,
    extra=extra,
    tls=True,
)
