"""What an application does all day, one row at a time, with three protected columns."""

from loadtests import values
from loadtests.rig import Live, Rig
from loadtests.scenario import Arrival, Closed, Mode, Scenario, Suite

ROWS = 10_000
COLUMNS = ("email", "ssn", "phone")
TABLE = """
CREATE TABLE {table} (id bigint PRIMARY KEY, name text, email text, ssn text, phone text);
CREATE INDEX ON {table} (ssn);
"""
FIELDS = {
    "email": {"protection": "deterministic", "type": "text"},
    "ssn": {"protection": "deterministic", "type": "text"},
    "phone": {"protection": "randomized", "type": "text"},
}
# What `support` sees; `auditor`, of whom no rule speaks, sees envelopes.
RULES = tuple(
    {
        "name": f"support sees {column} by halves",
        "who": {"session": {"user": ["support"]}},
        "labels": [f"public.oltp.{column}"],
        "read": read,
        "write": "refuse",
    }
    for column, read in (
        ("email", {"treatment": "mask", "format": "email"}),
        ("ssn", {"treatment": "mask", "format": "last4"}),
        ("phone", {"treatment": "null"}),
    )
)
READERS = {"support": "masked and nulled", "auditor": "concealed"}
OPERATIONS = {
    "point-read": "a row by its primary key, three protected columns opened",
    "equality": "a row by a protected column, through its index",
    "insert": "a row, three protected columns sealed",
    "update": "a row by its primary key, three protected columns sealed",
}


def prepare(rig: Rig, scale: float) -> None:
    rig.tables("".join(TABLE.format(table=table) for table in ("oltp", "oltp_new")))
    rig.fill("oltp", ("id", "name", *COLUMNS), map(_row, range(1, ROWS + 1)))
    rig.assert_sealed("oltp", *COLUMNS)


def _row(number: int) -> tuple:
    return number, f"name {number}", values.email(number), values.ssn(number), values.phone(number)


def empty(rig: Rig, live: Live) -> None:
    with rig.direct(live.database) as connection:
        connection.execute("TRUNCATE oltp_new")


def look(rig: Rig, live: Live) -> None:
    if live.sealed:
        rig.assert_sealed("oltp_new", *COLUMNS)


def scenarios(scale: float) -> list[Scenario]:
    seconds = max(0.3, 0.5 * scale)

    def closed(operation: str, mode: Mode, clients: int) -> Scenario:
        return _scenario(operation, f"{mode}-{clients}", Closed(clients, seconds), mode)

    found = [closed(operation, "prepared", clients) for operation in OPERATIONS for clients in (1, 8)]
    found += [closed(operation, mode, 8) for mode in ("extended", "simple") for operation in OPERATIONS]
    steady = Arrival(rate=500, seconds=2 * seconds, clients=16)
    found += [_reading(user, how, seconds) for user, how in READERS.items()]
    return found + [_scenario(operation, "500-a-second", steady, "prepared") for operation in ("point-read", "insert")]


def _reading(user: str, how: str, seconds: float) -> Scenario:
    return Scenario(
        name=f"point-read-{user}-8",
        what=f"a row by its primary key, three protected columns {how}",
        script="treated-read",
        workload=Closed(8, seconds),
        user=user,
        data={"rows": ROWS, "table": "oltp"},
        targets=("direct", "envoy-tcp", "fieldveil"),
    )


def _scenario(operation: str, suffix: str, workload: Closed | Arrival, mode: Mode) -> Scenario:
    insert = operation == "insert"
    return Scenario(
        name=f"{operation}-{suffix}",
        what=OPERATIONS[operation],
        script=operation,
        workload=workload,
        mode=mode,
        data={"rows": ROWS, "table": "oltp_new" if insert else "oltp"},
        before=empty if insert else None,
        after=look if insert else None,
    )


SUITE = Suite(
    name="oltp",
    what="one row at a time, three protected columns of text: read, insert, update, search",
    scenarios=scenarios,
    prepare=prepare,
    rules=RULES,
    fields={"public.oltp": FIELDS, "public.oltp_new": FIELDS},
)
