"""IBM's measurement of IMS OSAM encryption, with SQL in the place of DL/I: an online mix, and a batch.

Theirs counts CPU microseconds for each transaction and each call; so do the tables here.
"""

from collections.abc import Iterator

from psycopg import sql

from loadtests import values
from loadtests.figures import added, percent, spread
from loadtests.results import Published, Table
from loadtests.rig import Live, Rig, WrongRows
from loadtests.scenario import Arrival, Closed, Fixed, Scenario, Suite
from loadtests.summary import SuiteSummary

# Of a transaction: rows read, rows replaced, rows inserted; 10 or 11 in all. With the calls that find no row, and
# BEGIN, SAVEPOINT, RELEASE and COMMIT, it has 24 calls.
MIX = {
    "teller": (7, 3, 0),
    "inventory": (9, 2, 0),
    "hotel": (7, 2, 1),
    "warehouse": (8, 3, 0),
}
CALLS = 24
BATCH = "osam_batch"
COLUMNS = ("email", "ssn", "phone")
TABLE = """
CREATE TABLE {table} (
  id bigint PRIMARY KEY, version int NOT NULL, amount bigint NOT NULL, email text, ssn text, phone text
);
CREATE INDEX ON {table} (ssn);
"""
FIELDS = {
    "email": {"protection": "randomized", "type": "text"},
    "ssn": {"protection": "deterministic", "type": "text"},
    "phone": {"protection": "randomized", "type": "text"},
}
ROWS = 2_000
BATCH_ROWS = 10_000
# Calls of a batch at SCALE=1; theirs at SCALE=1000.
BATCH_CALLS = 16_000
PUBLISHED_CALLS = 16_000_000
# Calls between one COMMIT and the next, of which 9 in 100 replace a row; and in a smoke, which looks at answers.
CHECKPOINT = 1_000
SMOKE_CHECKPOINT = 100
SMOKE_BELOW = 0.1
LONGEST_SECONDS = 60


def tables() -> dict[str, int]:
    return {f"osam_{kind}": ROWS for kind in MIX} | {BATCH: BATCH_ROWS}


def prepare(rig: Rig, scale: float) -> None:
    rig.tables("".join(TABLE.format(table=table) for table in tables()))
    for table, rows in tables().items():
        given = ((number, 0, number, *values.contact(number, 0)) for number in range(1, rows + 1))
        rig.fill(table, ("id", "version", "amount", *COLUMNS), given)
        rig.assert_sealed(table, *COLUMNS)


def clear(rig: Rig, live: Live) -> None:
    """Takes out what the last measurement inserted, and what its updates left behind."""
    with rig.direct(live.database) as connection:
        for table, rows in tables().items():
            name = sql.Identifier(table)
            connection.execute(sql.SQL("DELETE FROM {} WHERE id > %s").format(name), [rows])
            connection.execute(sql.SQL("VACUUM {}").format(name))


def look(rig: Rig, live: Live) -> None:
    """Every row is whole, as its version says; and in the sealed database nothing is stored in clear."""
    with live.connect() as connection:
        for table in tables():
            query = sql.SQL("SELECT id, version, email, ssn, phone FROM {}").format(sql.Identifier(table))
            for number, version, *found in connection.execute(query):
                if tuple(found) != values.contact(number, version):
                    raise WrongRows(f"{table}: row {number} is not what its version {version} was, through {live.name}")
    if live.sealed:
        for table in tables():
            rig.assert_sealed(table, *COLUMNS)


def scenarios(scale: float) -> list[Scenario]:
    return [*_online(scale), *_batch(scale)]


def _online(scale: float) -> Iterator[Scenario]:
    seconds = min(max(0.3, 1.5 * scale), LONGEST_SECONDS)
    kinds = [
        {"table": f"osam_{kind}", "reads": reads, "replaces": replaces, "inserts": inserts}
        for kind, (reads, replaces, inserts) in MIX.items()
    ]
    mix = {"script": "osam-online", "before": clear, "after": look,
           "data": {"kinds": kinds, "calls": CALLS, "rows": ROWS}}  # fmt: skip
    what = "teller, inventory, hotel and warehouse in turn: 24 calls, 10 or 11 row accesses"
    yield Scenario(name="online-4", what=f"{what}; 4 clients, as fast as they can", workload=Closed(4, seconds), **mix)
    steady = Arrival(rate=50, seconds=seconds, clients=8)
    yield Scenario(name="online-50-a-second", what=f"{what}; 50 begun each second", workload=steady, **mix)


def _batch(scale: float) -> Iterator[Scenario]:
    ways = {
        "batch-by-key": (0, "each row selected by its key"),
        "batch-fetch-1": (1, "a cursor, FETCH 1 for each row"),
        "batch-fetch-100": (100, "a cursor that reads ahead, FETCH 100"),
    }
    checkpoint = CHECKPOINT if scale >= SMOKE_BELOW else SMOKE_CHECKPOINT
    for name, (fetch, how) in ways.items():
        calls = int(min(max(checkpoint, round(BATCH_CALLS * scale, -3)), PUBLISHED_CALLS))
        yield Scenario(
            name=name,
            what=f"{calls:,} calls in the keys' order, 91 % reads, 9 % replaces, COMMIT every {checkpoint:,}; {how}",
            script="osam-batch",
            workload=Fixed(clients=1, operations=calls // checkpoint),
            unit="call",
            data={"table": BATCH, "rows": BATCH_ROWS, "calls": checkpoint, "fetch": fetch},
            before=clear,
            after=look,
        )


PUBLISHED = Published(
    title="Assessing IBM IMS OSAM encryption performance",
    source="Jasdeep Singh, IBM community blog, 21 January 2021",
    system="IMS 15.2, an IBM z15 (8561 T01) with four dedicated processors, z/OS 2.3; runs vary by 2 % either way. "
    "The databases' data sets are encrypted by z/OS as they are written and read",
    figures=Table(
        title="CPU that encryption adds",
        columns=["work", "more CPU", "in per cent"],
        rows=[
            ["online: a transaction of about 24 calls, 10 to 11 row accesses", "12 µs", "4 %"],
            ["batch: a call, of 16 million, 91 % reads and 9 % replaces", "0.52 to 0.62 µs", "11 to 17 %"],
        ],
    ),
)


def beside(summary: SuiteSummary) -> list[Table]:
    found = summary.scenarios()
    theirs = {"online-4": ("12 µs", "4 %")} | dict.fromkeys(
        ("batch-by-key", "batch-fetch-1", "batch-fetch-100"), ("0.52 to 0.62 µs", "11 to 17 %")
    )
    rows = []
    for name, (more, share) in theirs.items():
        if name not in found:
            continue
        scenario = found[name]
        rows += [
            [
                f"{name}, a {scenario.result.unit}",
                more,
                share,
                target,
                spread(scenario.figure("cpu_us.total", "direct")),
                added(scenario, "cpu_us.total", target, "direct"),
                percent(scenario, "cpu_us.total", target, "direct"),
                added(scenario, "cpu_us.total", target, "envoy-tcp"),
                percent(scenario, "cpu_us.total", target, "envoy-tcp"),
            ]
            for target in ("fieldveil", "fieldveil-native")
            if target in scenario.targets()
        ]
    return [
        Table(
            title="CPU microseconds that protection adds, theirs and ours",
            columns=[
                "work", "theirs: more", "theirs: %", "ours", "ours: direct, µs", "ours: more than direct, µs",
                "ours: more, %", "ours: more than Envoy alone, µs", "ours: of that, more, %",
            ],
            rows=rows,
            note=NOTE,
        )
    ]  # fmt: skip


NOTE = (
    "CPU of the server, the proxy, OPA and the key agent, without the client's. The two do not measure the same "
    "thing: theirs encrypts data sets below the database's buffers, so that a row which is in memory costs nothing; "
    "ours seals and opens single values between application and server, each time. FETCH 100 stands for their "
    "sequential buffering."
)

SUITE = Suite(
    name="ims-osam",
    what="an online mix of four kinds of transaction, and a batch of 91 % reads and 9 % replaces",
    scenarios=scenarios,
    prepare=prepare,
    fields={f"public.{table}": FIELDS for table in tables()},
    published=PUBLISHED,
    beside=beside,
)
