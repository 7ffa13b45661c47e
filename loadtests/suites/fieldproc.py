"""FIELDPROC on IBM i, re-run: protect a whole table, read all of it, update all of it.

A table of one number, its key, and character fields, of which one, five or twenty are protected. Their registration
of an exit program encrypts a table in place: ours is `fieldveil table seal`. Beside it the same rows are copied in.
"""

import hashlib
from collections.abc import Iterator
from functools import lru_cache, partial
from pathlib import Path

import psycopg

from dev.layout import FIELDVEIL
from loadtests import figures, values
from loadtests.results import Published, Table
from loadtests.rig import ENVIRONMENT, SEALED, Live, Rig, WrongRows
from loadtests.scenario import Fixed, Scenario, Suite
from loadtests.summary import SuiteSummary

# At SCALE=1; theirs is SCALE=100.
ROWS = 10_000
THEIR_ROWS = 1_000_000
# So many rows are read by one SELECT, the table in ten, and updated in one transaction.
READS = 10
TRANSACTION = 100
# How many fields are protected. Their table has five; that of twenty is wider.
PROTECTED = (1, 5, 20)
CHARACTERS = 11
OURS = ("fieldveil", "fieldveil-native")
COMPARED = ("direct", "envoy-tcp", *OURS)
STEPS = {"load": "copy in", "protect": "protect", "read": "read", "update": "update"}


def table_name(protected: int) -> str:
    return f"fieldproc_{protected}"


def columns(protected: int) -> list[str]:
    return [f"c{number}" for number in range(1, max(5, protected) + 1)]


def sealed_columns(protected: int) -> list[str]:
    return columns(protected)[:protected]


def row_count(scale: float) -> int:
    return max(1, round(ROWS * scale / TRANSACTION)) * TRANSACTION


def cell(row: int, column: int, generation: int) -> str:
    """As in `k6/lib/cells.js`. Columns count from 1; an update writes generation 1 over generation 0."""
    return values.text(row * 100 + column * 2 + generation, CHARACTERS)


def rows_of(protected: int, rows: range, generation: int) -> Iterator[list[str]]:
    """As text, the key first. An update changes protected fields alone."""
    count = len(columns(protected))
    for row in rows:
        yield [str(row), *(cell(row, n, generation if n <= protected else 0) for n in range(1, count + 1))]


def copy_lines(protected: int, rows: int, generation: int) -> Iterator[bytes]:
    """The whole table as COPY writes it."""
    for cells in rows_of(protected, range(1, rows + 1), generation):
        yield ("\t".join(cells) + "\n").encode()


@lru_cache
def copy_digest(protected: int, rows: int, generation: int) -> bytes:
    digest = hashlib.sha256()
    for line in copy_lines(protected, rows, generation):
        digest.update(line)
    return digest.digest()


@lru_cache
def read_digests(protected: int, rows: int) -> list[str]:
    """Of each part of the table that is read at once: as `db.digest` in k6 makes them."""
    parts = (range(rows * part // READS + 1, rows * (part + 1) // READS + 1) for part in range(READS))
    return [values.digest(rows_of(protected, part, 0)) for part in parts]


def prepare(rig: Rig, scale: float) -> None:
    rows = row_count(scale)
    for protected in PROTECTED:
        name = table_name(protected)
        cells = ", ".join(f"{column} text" for column in columns(protected))
        rig.tables(f"CREATE TABLE {name} (id bigint PRIMARY KEY, {cells})")
        with file_of(rig, protected).open("wb") as file:
            file.writelines(copy_lines(protected, rows, 0))
        for target in ("direct", "fieldveil"):
            with rig.live[target].connect() as connection:
                copy_in(rig, connection, protected)
            with rig.direct(rig.live[target].database) as straight:
                straight.execute("CREATE SCHEMA IF NOT EXISTS saved")
                straight.execute(f"CREATE UNLOGGED TABLE saved.{name} AS TABLE {name}")
        rig.assert_sealed(name, *sealed_columns(protected))


def file_of(rig: Rig, protected: int) -> Path:
    return rig.work.path / f"{table_name(protected)}.copy"


def copy_in(rig: Rig, connection: psycopg.Connection, protected: int) -> None:
    command = f"COPY {table_name(protected)} FROM STDIN"
    with file_of(rig, protected).open("rb") as file, connection.cursor().copy(command) as copy:
        while block := file.read(1 << 20):
            copy.write(block)


def empty(protected: int, rig: Rig, live: Live) -> dict:
    with rig.direct(live.database) as straight:
        straight.execute(f"TRUNCATE {table_name(protected)}")
    return {"path": str(file_of(rig, protected))}


def plaintext(protected: int, rig: Rig, live: Live) -> dict:
    """The table as it is before anybody protects it, and the command that does."""
    empty(protected, rig, live)
    with rig.direct(live.database) as straight:
        copy_in(rig, straight, protected)
        straight.execute(f"VACUUM (FREEZE, ANALYZE) {table_name(protected)}")
    server = psycopg.conninfo.make_conninfo(
        host=str(rig.postgres.socket_dir), port=rig.postgres.port, user="postgres", dbname=SEALED
    )
    command = [
        FIELDVEIL, "table", "seal", "--table", f"public.{table_name(protected)}", "--direct", server,
        "--through", live.argument(), "--catalog", rig.catalog, "--keysets", rig.agent.keysets, "--output", "json",
    ]  # fmt: skip
    return {"command": [str(word) for word in command], "env": ENVIRONMENT}


def as_written(protected: int, rows: int, rig: Rig, live: Live) -> dict:
    """All rows of generation 0, packed as after a load, however they were written last."""
    name = table_name(protected)
    with rig.direct(live.database) as straight:
        straight.execute(f"TRUNCATE {name}")
        straight.execute(f"INSERT INTO {name} SELECT * FROM saved.{name} ORDER BY id")
        straight.execute(f"VACUUM (FREEZE, ANALYZE) {name}")
    return {"digests": read_digests(protected, rows)}


def look(protected: int, rows: int, generation: int, rig: Rig, live: Live) -> None:
    """Every value, through the target; and that it is stored in clear nowhere where it is protected."""
    name = table_name(protected)
    digest = hashlib.sha256()
    query = f"COPY (SELECT * FROM {name} ORDER BY id) TO STDOUT"
    with live.connect() as connection, connection.cursor().copy(query) as copy:
        for block in copy:
            digest.update(block)
    if digest.digest() != copy_digest(protected, rows, generation):
        raise WrongRows(f"{name} through {live.name} does not hold the {rows} rows that were written")
    if live.sealed:
        rig.assert_sealed(name, *sealed_columns(protected))


def scenarios(scale: float) -> list[Scenario]:
    rows = row_count(scale)
    # With one field as in the original every target takes part; the wider tables show how it grows.
    narrow, *wider = PROTECTED
    return [*_of_table(narrow, rows), *(scenario for one in wider for scenario in _of_table(one, rows, COMPARED))]


def _of_table(protected: int, rows: int, targets: tuple[str, ...] | None = None) -> Iterator[Scenario]:
    data = {"table": table_name(protected), "rows": rows, "columns": len(columns(protected)), "protected": protected}
    fields = "1 field" if protected == 1 else f"{protected} fields"
    begin = {"unit": "record", "targets": targets}
    yield Scenario(
        name=f"load-{protected}", what=f"{fields}: all rows into an empty table by COPY", script="table-load",
        workload=Fixed(clients=1, operations=1), data=data, **begin,
        before=partial(empty, protected), after=partial(look, protected, rows, 0),
    )  # fmt: skip
    yield Scenario(
        name=f"protect-{protected}", what=f"{fields}: all rows sealed in place by the command fieldveil table seal",
        script="table-seal", workload=Fixed(clients=1, operations=1), data=data, unit="record", targets=("fieldveil",),
        before=partial(plaintext, protected), after=partial(look, protected, rows, 0),
    )  # fmt: skip
    yield Scenario(
        name=f"read-{protected}", what=f"{fields}: all rows by {READS} SELECTs", script="table-read",
        workload=Fixed(clients=1, operations=READS), data={**data, "parts": READS}, **begin,
        before=partial(as_written, protected, rows),
    )  # fmt: skip
    yield Scenario(
        name=f"update-{protected}",
        what=f"{fields}: all rows read and each updated by a statement, {TRANSACTION} a transaction",
        script="table-update", workload=Fixed(clients=1, operations=rows // TRANSACTION),
        data={**data, "transaction": TRANSACTION}, **begin,
        before=partial(as_written, protected, rows), after=partial(look, protected, rows, 1),
    )  # fmt: skip


PUBLISHED = Published(
    title="FIELDPROC: protect, read and update a table of 1,000,000 records",
    source=(
        "Patrick Townsend, Townsend Security: FIELDPROC \N{EN DASH} One Place Encryption Performance Really Matters, "
        "21 November 2011 (info.townsendsecurity.com/bid/48715). A vendor's own figures of its own product, "
        "by its own word not independently verified."
    ),
    system="IBM i V7R1 on a 9407 model 515: one POWER5+ processor, 1 GB of memory, two disks, CPW 3,800",
    figures=Table(
        title="1,000,000 records of five character fields and one packed number, one character field encrypted",
        columns=["step", "records/s", "application CPU, s"],
        rows=[["protect", "14,705", "34.33"], ["read", "16,129", "37.43"], ["update", "11,363", "81.26"]],
        values={
            "records/s": {"protect": 14705, "read": 16129, "update": 11363},
            "application CPU, s": {"protect": 34.33, "read": 37.43, "update": 81.26},
        },
        unit="records/s; s",
    ),
)
# Everybody's share, and of the whole path.
CPU = {"client": "client", "sidecar": "sidecar", "PostgreSQL": "server", "together": "all"}
NOTE = (
    "This compares neither machines nor products: another processor by some twenty years, another database. Ours does "
    "not wait for its disk and takes the whole way from client to server; each record of an update is a statement and "
    "a round trip of its own."
)


def beside(summary: SuiteSummary) -> list[Table]:
    return [_rates(summary), _cpu(summary)]


def _rates(summary: SuiteSummary) -> Table:
    theirs = PUBLISHED.figures.values["records/s"]
    rows, series = [], {}
    for name, scenario in summary.scenarios().items():
        step, _, protected = name.partition("-")
        found = {target: scenario.figure("operations_per_second", target) for target in COMPARED}
        original = f"{theirs[step]:,}" if protected == "1" and step in theirs else figures.NONE
        ratios = (scenario.ratio("operations_per_second", target, "envoy-tcp") for target in OURS)
        rows.append([STEPS[step], protected, original, *map(figures.spread, [*found.values(), *ratios])])
        for target in OURS:
            if found[target]:
                series.setdefault(f"{target}, {protected} protected", {})[STEPS[step]] = found[target].median
    return Table(
        title="Records a second",
        columns=[
            "step",
            "fields protected",
            "FIELDPROC, 1 of 5 fields",
            *COMPARED,
            *(f"{target} / envoy-tcp" for target in OURS),
        ],
        rows=rows,
        note=f"{_size(summary)} {NOTE}",
        values={"FIELDPROC, 1 protected": dict(theirs), **series},
        unit="records/s",
    )


def _cpu(summary: SuiteSummary) -> Table:
    """Microseconds a record are seconds a million records, which is their unit."""
    theirs = PUBLISHED.figures.values["application CPU, s"]
    rows, series = [], {}
    for name, scenario in summary.scenarios().items():
        step, _, protected = name.partition("-")
        original = f"{theirs[step]}" if protected == "1" and step in theirs else figures.NONE
        for target in COMPARED:
            if target not in scenario.targets():
                continue
            found = {who: scenario.figure(f"cpu_us.{measure}", target) for who, measure in CPU.items()}
            rows.append([STEPS[step], protected, original, target, *map(figures.spread, found.values())])
            if target in OURS and found["together"]:
                series.setdefault(f"{target}, {protected} protected", {})[STEPS[step]] = found["together"].median
    return Table(
        title="CPU seconds for 1,000,000 records",
        columns=["step", "fields protected", "FIELDPROC, application", "target", *CPU],
        rows=rows,
        note=(
            "The sidecar is Envoy, OPA and the key agent; the client is the command that seals, or k6, which makes and "
            "checks every value of an update in JavaScript."
        ),
        values={"FIELDPROC, 1 protected": dict(theirs), **series},
        unit="CPU s",
    )


def _size(summary: SuiteSummary) -> str:
    """How large the tables were: all rows are loaded at once."""
    loaded = next(s.result.measurements[0].operations for s in summary.scenarios().values() if s.result.measurements)
    if loaded == THEIR_ROWS:
        return "Ours are of 1,000,000 records too."
    return (
        f"Ours are of {loaded:,} records, theirs of 1,000,000: the work is the same for each record, and "
        f"make loadtest SUITE=fieldproc SCALE={THEIR_ROWS // ROWS} does all."
    )


def _fields(protected: int) -> dict[str, dict]:
    """Odd ones randomized (AES-256-GCM), even ones deterministic (AES-SIV)."""
    kinds = ("randomized", "deterministic")
    names = sealed_columns(protected)
    return {name: {"protection": kinds[number % 2], "type": "text"} for number, name in enumerate(names)}


SUITE = Suite(
    name="fieldproc",
    what="a whole table protected, read and updated, with 1, 5 and 20 protected fields",
    scenarios=scenarios,
    prepare=prepare,
    fields={f"public.{table_name(protected)}": _fields(protected) for protected in PROTECTED},
    published=PUBLISHED,
    beside=beside,
)
