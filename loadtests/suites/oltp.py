"""What an application does all day, one row at a time, with three protected columns."""

from loadtests import values
from loadtests.rig import Databases, LiveDatabase, WrongRows
from loadtests.scenario import Arrival, Closed, Mode, Scenario, Suite

ROWS = 10_000
COLUMNS = ("email", "ssn", "phone")
# What is read, what is inserted, what is updated.
READ, NEW, CHANGED = "oltp", "oltp_new", "oltp_changed"
TABLES = {"insert": NEW, "update": CHANGED}
# All rows that are updated are read back each time.
CHANGED_ROWS = 2_000
TABLE = """
CREATE TABLE {table} (
  id bigint PRIMARY KEY, name {text}, email {text}, ssn {text}, phone {text}, generation int NOT NULL DEFAULT 0
);
CREATE INDEX {table}_ssn ON {table} (ssn);
"""
FIELDS = {
    "email": {"protection": "deterministic", "type": "text"},
    "ssn": {"protection": "deterministic", "type": "text"},
    "phone": {"protection": "randomized", "type": "text"},
}
CONCEALED = "auditor"
# What `support` sees; `auditor`, of whom no rule speaks, sees envelopes.
RULES = tuple(
    {
        "name": f"support sees {column} by halves",
        "who": {"session": {"user": ["support"]}},
        "labels": [f"public.{READ}.{column}"],
        "read": read,
        "write": "refuse",
    }
    for column, read in (
        ("email", {"treatment": "mask", "format": "email"}),
        ("ssn", {"treatment": "mask", "format": "last4"}),
        ("phone", {"treatment": "null"}),
    )
)
# Rows that they read; of as many k6 is told what stands in the database.
READ_ROWS = 500
READERS = {"support": "masked and nulled", CONCEALED: "concealed"}
OPERATIONS = {
    "point-read": "a row by its primary key, three protected columns opened",
    "equality": "a row by a protected column, through its index",
    "insert": "a row, three protected columns sealed",
    "update": "a row by its primary key, three protected columns sealed",
}


def prepare(rig: Databases, scale: float) -> None:
    rig.tables("".join(TABLE.format(table=table, text=rig.TEXT) for table in (READ, NEW, CHANGED)))
    for table, rows in ((READ, ROWS), (CHANGED, CHANGED_ROWS)):
        fill(rig, table, rows)
    rig.keep(CHANGED)


def fill(rig: Databases, table: str, rows: int) -> None:
    """With so many rows, and a look at what is stored."""
    rig.fill(table, ("id", "name", *COLUMNS), (_row(number, 0)[:-1] for number in range(1, rows + 1)))
    rig.assert_sealed(table, *COLUMNS)


def _row(number: int, generation: int) -> tuple:
    return number, f"name {number}", *values.contact(number, generation), generation


def empty(rig: Databases, live: LiveDatabase, table: str = NEW) -> None:
    rig.run(live.database, f"TRUNCATE {table}")


def inserted(rig: Databases, live: LiveDatabase, count: int, table: str = NEW) -> None:
    """Every row that was acknowledged, through the target; in the sealed database nothing is stored in clear."""
    found = _read(rig, live, table)
    if found != [_row(row[0], 0) for row in found] or len(found) != count:
        raise WrongRows(f"{table} through {live.name} does not hold the {count} rows that were inserted")


def unchanged(rig: Databases, live: LiveDatabase) -> None:
    """Every row as it was filled in, whatever updated it last."""
    rig.put_back(live.database, CHANGED)


def updated(rig: Databases, live: LiveDatabase, count: int) -> None:
    """Every row is whole, through the target, and there are as many generations as updates were acknowledged."""
    found = _read(rig, live, CHANGED)
    if found != [_row(number, row[-1]) for number, row in enumerate(found, 1)] or len(found) != CHANGED_ROWS:
        raise WrongRows(f"{CHANGED} through {live.name}: a row is not what its generation was")
    writes = sum(row[-1] for row in found)
    if writes != count:
        raise WrongRows(f"{CHANGED} through {live.name}: {writes} updates are there, {count} were acknowledged")


def _read(rig: Databases, live: LiveDatabase, table: str) -> list[tuple]:
    columns = ", ".join(("id", "name", *COLUMNS, "generation"))
    found = live.rows(table, f"SELECT {columns} FROM {table} ORDER BY id")
    if live.sealed:
        rig.assert_sealed(table, *COLUMNS)
    return found


def envelopes(rig: Databases, live: LiveDatabase) -> dict:
    """What stands in the database, straight from the server: row by row, where it is sealed."""
    if not live.sealed:
        return {}
    query = f"SELECT {', '.join(COLUMNS)} FROM {READ} WHERE id <= {READ_ROWS} ORDER BY id"
    return {"stored": rig.rows(live.database, query)}


# By operation.
BEFORE = {"insert": empty, "update": unchanged}
STORED = {"insert": inserted, "update": updated}


def scenarios(scale: float) -> list[Scenario]:
    seconds = _seconds(scale)
    readers = [_reading(user, how, seconds) for user, how in READERS.items()]
    return [*asked(scale, "extended", "simple"), *readers, *arriving(scale)]


def asked(scale: float, *modes: Mode) -> list[Scenario]:
    """As fast as they are answered: prepared, and in these modes."""
    seconds = _seconds(scale)

    def closed(operation: str, mode: Mode, clients: int) -> Scenario:
        return _scenario(operation, f"{mode}-{clients}", Closed(clients, seconds), mode)

    found = [closed(operation, "prepared", clients) for operation in OPERATIONS for clients in (8, 1)]
    return found + [closed(operation, mode, 8) for mode in modes for operation in OPERATIONS]


def arriving(scale: float) -> list[Scenario]:
    """So many each second."""
    steady = Arrival(rate=500, seconds=2 * _seconds(scale), clients=16)
    return [_scenario(operation, "500-a-second", steady, "prepared") for operation in ("point-read", "insert")]


def _seconds(scale: float) -> float:
    return max(0.3, 0.5 * scale)


def _reading(user: str, how: str, seconds: float) -> Scenario:
    return Scenario(
        name=f"point-read-{user}-8",
        what=f"a row by its primary key, three protected columns {how}",
        script="treated-read",
        workload=Closed(8, seconds),
        user=user,
        data={"rows": READ_ROWS, "table": READ},
        before=envelopes if user == CONCEALED else None,
        targets=("direct", "envoy-tcp", "fieldveil"),
    )


def _scenario(operation: str, suffix: str, workload: Closed | Arrival, mode: Mode) -> Scenario:
    return Scenario(
        name=f"{operation}-{suffix}",
        what=OPERATIONS[operation],
        script=operation,
        workload=workload,
        mode=mode,
        data={"rows": CHANGED_ROWS if operation == "update" else ROWS, "table": TABLES.get(operation, READ)},
        before=BEFORE.get(operation),
        stored=STORED.get(operation),
    )


SUITE = Suite(
    name="oltp",
    what="one row at a time, three protected columns of text: read, insert, update, search",
    scenarios=scenarios,
    prepare=prepare,
    rules=RULES,
    fields={f"public.{table}": FIELDS for table in (READ, NEW, CHANGED)},
)
