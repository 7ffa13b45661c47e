"""SqlCredit part 7 on SQL Server 2005, re-run: rows into two tables, one of them with three encrypted columns, and out.

Both tables are asked through the same target, as theirs were on the same server: the ratio of the two is what the
encryption costs. Where nothing is protected it shows the noise.
"""

from dataclasses import replace
from functools import partial

from loadtests import figures, values
from loadtests.failures import Failed
from loadtests.results import Published, Table
from loadtests.rig import Live, Rig, WrongRows
from loadtests.scenario import Fixed, Scenario, Suite
from loadtests.summary import ScenarioSummary, SuiteSummary

# As many as theirs at SCALE=1. The tables that are read hold more, or the planner would pass over their indexes.
OPERATIONS = 10_000
LEAST_ROWS = 2_000
PLAIN, ENCRYPTED = "card_no_encrypt", "card_encrypt"
TABLES = {PLAIN: "none of 13 columns protected", ENCRYPTED: "three of 13 columns protected"}
STEPS = {
    "insert": "a row inserted",
    "read": "a row by its primary key, at random",
    "look-up": "a row by its card number, through an index",
}
# Theirs: CardID int, CardNumber1 to 4 bigint, SecurityCode1 to 4 smallint, SecureString1 to 4 varchar(36).
GROUPS = {"card_number": "bigint", "security_code": "smallint", "secure_string": "varchar(36)"}
COLUMNS = ("card_id", *(f"{group}{number}" for group in GROUPS for number in range(1, 5)))
# The first of each group.
FIELDS = {
    "card_number1": {"protection": "deterministic", "type": "int8"},
    "security_code1": {"protection": "randomized", "type": "int2"},
    "secure_string1": {"protection": "randomized", "type": "varchar(36)"},
}


class NotByIndex(Failed):
    """The look-up by card number reads the whole table."""


def card(row: int) -> tuple[int | str, ...]:
    """All 13 columns, as in `k6/lib/cards.js`."""
    parts = [row * 4 + part for part in range(4)]
    numbers = [4_000_000_000_000_000 + int(values.digits(part, 9)) for part in parts]
    return (row, *numbers, *(int(values.digits(part, 4)) for part in parts), *(values.text(part, 36) for part in parts))


def operations(scale: float) -> int:
    return max(10, round(OPERATIONS * scale))


def prepare(rig: Rig, scale: float) -> None:
    tables = {f"{table}{suffix}": table for table in TABLES for suffix in ("", "_new")}
    indexes = "".join(f"CREATE INDEX {_index(table)} ON {table} (card_number1);" for table in TABLES)
    rig.tables(
        "".join(_ddl(name) for name in tables) + indexes,
        "".join(_ddl(name, FIELDS if table == ENCRYPTED else {}) for name, table in tables.items()) + indexes,
    )
    rows = [card(row) for row in range(1, max(LEAST_ROWS, operations(scale)) + 1)]
    for table in TABLES:
        rig.fill(table, COLUMNS, rows)
    rig.assert_sealed(ENCRYPTED, *FIELDS)


def empty(table: str, rig: Rig, live: Live) -> None:
    with rig.direct(live.database) as straight:
        straight.execute(f"TRUNCATE {table}")


def stored(table: str, count: int, rig: Rig, live: Live) -> None:
    """Every row that was inserted, through the target; and that nothing protected stands there in clear."""
    with live.connect() as connection:
        found = connection.execute(f"SELECT * FROM {table} ORDER BY card_id").fetchall()
    if found != [card(row) for row in range(1, count + 1)]:
        raise WrongRows(f"{table} through {live.name} does not hold the {count} rows that were inserted")
    if live.sealed and table.startswith(ENCRYPTED):
        rig.assert_sealed(table, *FIELDS)


def plan(table: str, live: Live) -> dict:
    """The server's, of the look-up by card number through the target."""
    with live.connect() as connection:
        query = f"EXPLAIN (FORMAT JSON, COSTS OFF) SELECT card_id FROM {table} WHERE card_number1 = {card(1)[1]}"
        return connection.execute(query).fetchone()[0][0]["Plan"]


def by_index(table: str, rig: Rig, live: Live) -> None:
    found = plan(table, live)
    # A bitmap scan has its index below it.
    for node in (found, *found.get("Plans", [])):
        if node.get("Index Name") == _index(table) and "Index Cond" in node:
            return
    raise NotByIndex(f"{live.name}: the look-up in {table} by card number is a {found['Node Type']}, not by its index")


def scenarios(scale: float) -> list[Scenario]:
    return [_scenario(step, table, scale) for step in STEPS for table in TABLES]


def _scenario(step: str, table: str, scale: float) -> Scenario:
    count = operations(scale)
    data = {"table": table, "rows": max(LEAST_ROWS, count), "columns": list(COLUMNS)}
    begin = Scenario(
        name=f"{step}-{table.removeprefix('card_').replace('_', '-')}",
        what=f"{STEPS[step]}; {TABLES[table]}",
        script="card-read",
        workload=Fixed(clients=1, operations=count),
        unit="row",
        data=data,
    )
    match step:
        case "insert":
            new = f"{table}_new"
            before, after = partial(empty, new), partial(stored, new, count)
            return replace(begin, script="card-insert", data={**data, "table": new}, before=before, after=after)
        case "look-up":
            return replace(begin, data={**data, "by": "card_number1"}, before=partial(by_index, table))
        case _:
            return replace(begin, data={**data, "by": "card_id"})


PUBLISHED = Published(
    title="SqlCredit part 7: EncryptByCert and DecryptByCert",
    source=(
        "Rob Garrison: SqlCredit Part 7: Performance Impact of EncryptByCert and DecryptByCert, Database Journal, "
        "27 July 2007"
    ),
    system="SQL Server 2005 on two desktop-class systems",
    figures=Table(
        title="Time with CardEncrypt to time with CardNoEncrypt, 10,000 rows",
        columns=["step", "ratio, least", "ratio, most"],
        rows=[["insert", "1.28:1", "3.5:1"], ["read by id, at random", "833:1", "843:1"]],
        note=(
            "They encrypt with a certificate, which is asymmetric and, as they quote Microsoft, not recommended for "
            "user data in tables; part 8 of the series goes over to a symmetric key. An index on an encrypted column "
            "would be worthless there (part 8): parts 9 and 10 look up by a second column, of a message "
            "authentication code."
        ),
        values={"least": {"insert": 1.28, "read": 833}, "most": {"insert": 3.5, "read": 843}},
        unit="times",
    ),
)
THEIRS = {"insert": "1.28:1 and 3.5:1", "read": "833:1 to 843:1", "look-up": "none by the encrypted column"}
# What protection costs with all that it takes: the sidecar, where there was none.
OURS = ("fieldveil", "fieldveil-native")
WHOLE = {f"{target} to direct": (target, "direct") for target in OURS}
# Of the two tables; what is faster has more operations a second and takes less time.
RATIOS = {
    "time": ("operations_per_second", PLAIN, ENCRYPTED),
    "median latency": ("latency_us.50", ENCRYPTED, PLAIN),
    "CPU of sidecar and server": ("cpu_us.total", ENCRYPTED, PLAIN),
}


def beside(summary: SuiteSummary) -> list[Table]:
    rows, series = [], {}
    for step in STEPS:
        encrypted, plain = (summary.scenarios()[f"{step}-{name}"] for name in ("encrypt", "no-encrypt"))
        ways = {target: (target, target) for target in encrypted.targets()} | WHOLE
        for name, way in ways.items():
            pair = _pair(encrypted, plain, *way)
            found = {measure: pair.ratio(*ratio) for measure, ratio in RATIOS.items()}
            rows.append([step, THEIRS[step], name, *map(figures.spread, found.values())])
            # The others, where nothing is protected, are noise.
            if found["time"] and name in (*OURS, *WHOLE):
                series.setdefault(name, {})[step] = found["time"].median
    theirs = PUBLISHED.figures.values
    return [
        Table(
            title="The table with three encrypted columns to the one without",
            columns=["step", "SQL Server 2005, time", "target", *RATIOS],
            rows=rows,
            note=(
                "Ratios within a round. Only through fieldveil's filters the columns are protected: card number "
                "deterministic (AES-SIV), security code and string randomized (AES-256-GCM). The last lines of each "
                "step count the sidecar's whole way too: protected rows through it to plain ones straight from the "
                "server. Time includes k6, which looks at every row, and a round trip a row; theirs is a loop "
                "inside the server. Before each look-up EXPLAIN through the target shows that the index on the card "
                "number is used."
            ),
            values={**{f"SQL Server 2005, {which}": dict(ratios) for which, ratios in theirs.items()}, **series},
            unit="times",
        )
    ]


def _pair(encrypted: ScenarioSummary, plain: ScenarioSummary, through: str, beside: str) -> ScenarioSummary:
    """The two tables in place of targets, each through one of them, so that ratios are taken within a round."""
    measurements = [
        replace(measurement, target=table)
        for table, scenario, target in ((ENCRYPTED, encrypted, through), (PLAIN, plain, beside))
        for measurement in scenario.result.measurements
        if measurement.target == target
    ]
    return ScenarioSummary(replace(encrypted.result, measurements=measurements))


def _ddl(table: str, sealed: dict[str, dict] | None = None) -> str:
    types = {f"{group}{number}": kind for group, kind in GROUPS.items() for number in range(1, 5)}
    types.update(dict.fromkeys(sealed or (), "text"))
    columns = ", ".join(f"{name} {kind} NOT NULL" for name, kind in types.items())
    return f"CREATE TABLE {table} (card_id int PRIMARY KEY, {columns});"


def _index(table: str) -> str:
    return f"{table}_by_number"


SUITE = Suite(
    name="sqlcredit",
    what="two tables of cards, one with three protected columns: insert, read by id, look up by card number",
    scenarios=scenarios,
    prepare=prepare,
    fields={f"public.{ENCRYPTED}{suffix}": FIELDS for suffix in ("", "_new")},
    published=PUBLISHED,
    beside=beside,
)
