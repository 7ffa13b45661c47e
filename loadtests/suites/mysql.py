"""MariaDB: one row at a time and answers of many, with the scenarios that `oltp` and `rows` have for PostgreSQL."""

from loadtests.rig import SEALED, Databases
from loadtests.scenario import Scenario, Suite
from loadtests.suites import oltp, rows

# The binary protocol and, with the values in it, text.
TEXT_SIZES = ((100, 8), (10_000, 4))
# The columns are wide enough for envelopes of what is declared, and for an index.
DECLARED = "varchar(32)"


def prepare(rig: Databases, scale: float) -> None:
    oltp.prepare(rig, scale)
    rows.prepare(rig, scale)


def scenarios(scale: float) -> list[Scenario]:
    text = [rows.reading(length, clients, scale, "text") for length, clients in TEXT_SIZES]
    return [*oltp.asked(scale, "text"), *oltp.arriving(scale), *rows.scenarios(scale), *text]


SUITE = Suite(
    name="mysql",
    what="MariaDB: one row at a time and answers of 100 and of 10,000 rows, three protected columns of text in each",
    protocol="mysql",
    scenarios=scenarios,
    prepare=prepare,
    fields={
        f"{SEALED}.{table}": {name: {**label, "type": DECLARED} for name, label in fields.items()}
        for fields, tables in ((oltp.FIELDS, (oltp.READ, oltp.NEW, oltp.CHANGED)), (rows.FIELDS, (rows.READ,)))
        for table in tables
    },
)
