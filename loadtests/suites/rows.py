"""Answers of many rows, three protected columns in each: what reports and exports read."""

from loadtests import values
from loadtests.rig import Databases
from loadtests.scenario import Closed, Mode, Scenario, Suite

ROWS = 20_000
COLUMNS = ("email", "ssn", "phone")
READ = "many"
TABLE = "CREATE TABLE {table} (id bigint PRIMARY KEY, name {text}, email {text}, ssn {text}, phone {text})"
FIELDS = {
    "email": {"protection": "deterministic", "type": "text"},
    "ssn": {"protection": "deterministic", "type": "text"},
    "phone": {"protection": "randomized", "type": "text"},
}
# Rows of an answer, clients.
SIZES = ((100, 1), (100, 8), (10_000, 1), (10_000, 4))


def prepare(rig: Databases, scale: float) -> None:
    rig.tables(TABLE.format(table=READ, text=rig.TEXT))
    rig.fill(READ, ("id", "name", *COLUMNS), map(_row, range(1, ROWS + 1)))
    rig.assert_sealed(READ, *COLUMNS)


def digests(length: int) -> list[str]:
    """Of each answer of so many rows."""
    return [values.digest(map(_row, range(first, first + length))) for first in range(1, ROWS + 1, length)]


def _row(number: int) -> tuple:
    return number, f"name {number}", values.email(number), values.ssn(number), values.phone(number)


def scenarios(scale: float) -> list[Scenario]:
    return [reading(rows, clients, scale) for rows, clients in SIZES]


def reading(rows: int, clients: int, scale: float, mode: Mode = "prepared") -> Scenario:
    seconds = 0.5 if rows <= 100 else 1.0
    return Scenario(
        name=f"{rows}-rows-{clients}" if mode == "prepared" else f"{rows}-rows-{mode}-{clients}",
        what=f"{rows:,} rows by a range of the primary key, three protected columns opened in each",
        script="read-rows",
        workload=Closed(clients, max(0.3, seconds * scale)),
        unit="row",
        mode=mode,
        data={"rows": ROWS, "table": READ, "length": rows, "digests": digests(rows)},
    )


SUITE = Suite(
    name="rows",
    what="answers of 100 and of 10,000 rows, three protected columns in each",
    scenarios=scenarios,
    prepare=prepare,
    fields={f"public.{READ}": FIELDS},
)
