"""The measurement of Db2 backups under native encryption: a whole table out and in, by COPY, pg_dump and pg_restore."""

import functools
import statistics
import time
from collections.abc import Iterator

from loadtests.figures import number, spread
from loadtests.results import Published, Table
from loadtests.rig import PLAIN, SEALED, Rig
from loadtests.scenario import Fixed, Scenario, Suite
from loadtests.suites import ledger
from loadtests.suites.ledger import CONCEALED, PARTS
from loadtests.summary import Figure, ScenarioSummary, SuiteSummary

PARALLEL = (1, 2, 4, 8)
# What opens nothing is less to measure.
CONCEALED_PARALLEL = (1, 4)
# A smoke, which looks at answers, is content with one of them.
SMOKE_PARALLEL = (4,)
SMOKE_BELOW = 0.1
# Of what is measured outside k6.
TIMES = 3


def scenarios(scale: float) -> list[Scenario]:
    parallel = PARALLEL if scale >= SMOKE_BELOW else SMOKE_PARALLEL
    return [
        *(scenario for clients in parallel for scenario in _copy(clients)),
        *(scenario for clients in parallel for scenario in _programs(clients)),
    ]


def _copy(clients: int) -> Iterator[Scenario]:
    whole = f"the whole table, {clients} at a time"
    same = {"workload": Fixed(clients, operations=PARTS), "unit": "row"}
    yield Scenario(f"copy-out-{clients}", f"COPY TO STDOUT of {whole}", "copy-out", before=ledger.copying_out, **same)
    yield Scenario(
        f"copy-in-{clients}", f"COPY FROM STDIN of {whole}", "copy-in",
        before=ledger.copying_in, after=ledger.look, **same,
    )  # fmt: skip


def _programs(clients: int) -> Iterator[Scenario]:
    yield _dump(clients, "app", f"dump-{clients}", "values")
    if clients in CONCEALED_PARALLEL:
        yield _dump(clients, CONCEALED, f"dump-concealed-{clients}", "envelopes where there are such")
    yield Scenario(
        name=f"restore-{clients}",
        what=f"pg_restore -j {clients} of a dump of values",
        before=functools.partial(ledger.restoring, clients=clients),
        after=ledger.look,
        **PROGRAM,
    )


# The program has the clients.
PROGRAM = {"script": "program", "workload": Fixed(1, operations=1), "unit": "row"}


def _dump(clients: int, user: str, name: str, sees: str) -> Scenario:
    return Scenario(
        name=name,
        what=f"pg_dump -j {clients} as a user who sees {sees}",
        user=user,
        before=functools.partial(ledger.dumping, clients=clients, user=user),
        after=functools.partial(ledger.look_at_dump, user=user),
        **PROGRAM,
    )


PUBLISHED = Published(
    title="Better Db2 backup runtimes on AIX: Using encryption for backups and databases",
    source="Holger Hellmuth, International Db2 Users Group, 2021",
    system="Db2 native encryption, by the IBM Global Security Kit, on AIX",
    figures=Table(
        title="A backup of a whole database",
        columns=["", "time", "more time", "more CPU"],
        rows=[
            ["nothing encrypted", "900 s", "", ""],
            ["database, backup or both encrypted", "954 to 961 s", "6 to 7 %", "43 to 69 %"],
        ],
    ),
)


def beside(summary: SuiteSummary) -> list[Table]:
    theirs = ["Db2 backup on AIX", "", "900", "954 to 961", "", "", "", "1.06 to 1.07", "1.43 to 1.69", "", ""]
    found = summary.scenarios().items()
    ours = [(name, scenario, target) for name, scenario in found for target in OURS if target in scenario.targets()]
    rows = [theirs, *(_beside(*one) for one in ours)]
    return [
        Table(
            title="What protection adds to a backup, theirs and ours",
            columns=[
                "work", "ours", "s, direct", "s, ours", "rows/s, ours", "CPU, µs a row, direct", "CPU, µs a row, ours",
                "time / direct", "CPU / direct", "time / envoy-tcp", "CPU / envoy-tcp",
            ],
            rows=rows,
            note=NOTE,
        )
    ]  # fmt: skip


def _beside(name: str, scenario: ScenarioSummary, ours: str) -> list[str]:
    def times(base: str) -> tuple[str, str]:
        # The time of the same rows: the other way round than rows a second.
        time = scenario.ratio("operations_per_second", base, ours)
        return spread(time), spread(scenario.ratio(CPU, ours, base))

    seconds = [spread(_seconds(scenario, target)) for target in ("direct", ours)]
    rate = spread(scenario.figure("operations_per_second", ours))
    cpu = [spread(scenario.figure(CPU, target)) for target in ("direct", ours)]
    return [f"{name}: {scenario.result.what}", ours, *seconds, rate, *cpu, *times("direct"), *times("envoy-tcp")]


def _seconds(scenario: ScenarioSummary, target: str) -> Figure | None:
    return Figure.of([one.seconds for one in scenario.result.measurements if one.target == target])


OURS = ("fieldveil", "fieldveil-native")
# The programs are part of the work: pg_dump is to this server what BACKUP DATABASE is to Db2.
CPU = "cpu_us.all"
NOTE = (
    "CPU is of client, proxy, OPA, key agent and server together. What compares is a backup in which every value "
    "passes through a cipher: COPY and pg_dump as a user who sees values, where each is opened, and their way in, "
    "where each is sealed. Theirs encrypts whole databases and backup images inside the server; ours seals single "
    "values before it, and on a server that does not wait for its disk, so that nothing hides the CPU. A dump as a "
    "user who sees envelopes (concealed) is the one to keep as a backup: nothing is opened, it is protected as the "
    "table is, and it is restored straight to a server. One Envoy worker opens and seals for all clients, so that more "
    "of them at a time end no sooner. Where the seconds are few, ratios say little: a COPY straight to the server that "
    "takes tens of milliseconds makes time / direct jump, and most of a short dump is what pg_dump takes to begin, "
    "whatever the rows, so that both ratios come out too low. SUITE=db2-backup SCALE=25 has a million rows."
)


def envelopes(rig: Rig, scale: float) -> list[Table]:
    """A backup that stays sealed: dumped as a user who sees envelopes, restored straight to the server."""
    clients = 4
    kinds = {"values, from the plain database": (rig.live["direct"], "app", PLAIN)}
    kinds["envelopes, through fieldveil"] = (rig.live["fieldveil"], CONCEALED, SEALED)
    found = []
    for what, (live, user, database) in kinds.items():
        ledger.execute(ledger.dumping(rig, live, clients, user))
        ledger.look_at_dump(rig, live, user)
        size = sum(file.stat().st_size for file in ledger.dump(rig).iterdir())
        seconds = []
        for _ in range(TIMES):
            program = ledger.restoring_straight(rig, database, clients)
            began = time.monotonic()
            ledger.execute(program)
            seconds.append(time.monotonic() - began)
        ledger.look(rig, live)
        found.append((what, size / 1e6, ledger.rows(rig) / statistics.median(seconds)))
    return [
        Table(
            title="A dump that stays sealed, restored straight to the server",
            columns=["the dump holds", "MB", f"pg_restore -j {clients}, rows/s"],
            rows=[[what, number(size), number(rate)] for what, size, rate in found],
            note=f"The median of {TIMES}. Afterwards every row was read, the sealed ones through fieldveil.",
        )
    ]


SUITE = Suite(
    name="db2-backup",
    what="a whole table out and in, by COPY, pg_dump and pg_restore, 1, 2, 4 and 8 at a time",
    scenarios=scenarios,
    prepare=ledger.prepare,
    fields={f"public.{ledger.TABLE}": ledger.FIELDS},
    published=PUBLISHED,
    extra=envelopes,
    beside=beside,
)
