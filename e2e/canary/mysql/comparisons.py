"""Columns of each type beside values of each type: as a plain database compares them, or refused.

The values are few and tricky, so they bear no marks: what is held to here is which rows are found."""

import random
from collections.abc import Iterator
from datetime import date, datetime, time
from decimal import Decimal

from canary.mysql.literals import quote
from canary.mysql.schema import ID, STORED, create
from canary.schema import DATABASE, Column, Table, det
from canary.steps import PREPARED, SIMPLE, Parameter, Step
from harness.mysql_builds import Build

UUID = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
# By type: what a column of the plain database is declared as, and what rows hold.
TYPES = {
    "text": ("text", ("'ab'", "'ab  '", "'AB'", "'5'", "'5.0'", "'2020-01-31'", "''")),
    "varchar(8)": ("varchar(8)", ("'ab'", "'ab  '", "'abcd'", "'5'", "'1'")),
    "int2": ("smallint", ("5", "-5", "0", "32767")),
    "int4": ("int", ("5", "0", "40000", "-1")),
    "int8": ("bigint", ("5", "40000", "5000000000", "-2", "9007199254740993")),
    "numeric(10,2)": ("decimal(10,2)", ("1.10", "5", "0", "0.30", "40000")),
    "bool": ("tinyint(1)", ("1", "0")),
    "date": ("date", ("'2020-01-31'", "'1000-01-01'")),
    "time(0)": ("time", ("'10:00:00'", "'00:00:00'")),
    "time(6)": ("time(6)", ("'10:00:00'", "'10:00:00.5'")),
    "timestamp(0)": ("datetime", ("'2020-01-31 00:00:00'", "'2020-01-31 10:00:00'")),
    "timestamp(6)": ("datetime(6)", ("'2020-01-31 00:00:00'", "'2020-01-31 10:00:00.5'")),
    "bytea": ("blob", ("x'6162'", "x''", "x'35'")),
}
COLUMNS = tuple(det(f"c{number}", type_, f"compared_{number}") for number, type_ in enumerate(TYPES))
TABLE = Table("compared", (ID, *COLUMNS), schema=DATABASE)

CHARACTERS = ("ab", "ab  ", " ab", "AB", "abcd  ", "abcdefghij", "", " ", "5", "5.0", "1", "true", "2020-01-31")
NUMBERS = (
    "5", " 5 ", "05", "+5", "5.0", "-0", "0", "-5", "32767", "40000", "5000000000", "1.1", "1.10", "1.100", "1.101",
    "0.3", "5e0", "9007199254740993", "9007199254740992", "1", "",
)  # fmt: skip
TIMES = (
    "2020-01-31", "2020-01-31 00:00:00", "2020-01-31 10:00:00", "2020-01-31T00:00:00", "2020-01-31 10:00:00.5",
    "2020-01-31 10:00:00.500000", "2020-01-31 10:00:00.4999999", "2020-1-31", "20200131", "20-01-31", "1000-01-01",
    "10:00", "10:00:00", "10:00:00.5", "10:00:00.50000001", "100000", "24:00:00", "10",
)  # fmt: skip
BYTES = ("ab", "", "5", "\\x6162", UUID)
SPELLED = (*CHARACTERS, *NUMBERS, *TIMES, *BYTES)
FAMILIES = (
    (("text", "varchar"), CHARACTERS),
    (("int2", "int4", "int8", "numeric", "bool"), NUMBERS),
    (("date", "time", "timestamp"), TIMES),
    (("bytea",), BYTES),
)
CASTS = (
    "CHAR", "CHAR(2)", "CHAR(20)", "BINARY", "BINARY(4)", "SIGNED", "UNSIGNED", "DECIMAL", "DECIMAL(10,2)",
    "DECIMAL(20,6)", "DATE", "TIME", "TIME(6)", "DATETIME", "DATETIME(6)", "DOUBLE",
)  # fmt: skip
NEAR = (
    (("text", "varchar"), ("CHAR", "CHAR(20)")),
    (("int2", "int4", "int8", "bool"), ("SIGNED", "DECIMAL", "UNSIGNED")),
    (("numeric",), ("DECIMAL(10,2)", "DECIMAL(20,6)")),
    (("date",), ("DATE", "DATETIME")),
    (("time",), ("TIME", "TIME(6)")),
    (("timestamp",), ("DATETIME", "DATETIME(6)")),
    (("bytea",), ("BINARY",)),
)
OPERATORS = ("=", "=", "=", "<>", "!=", "<=>")


def create_sql(build: Build, *, sealed: bool) -> str:
    def type_of(column: Column) -> str:
        if not column.protected:
            return "int"
        return STORED[column.stored] if sealed else TYPES[column.type][0]

    return create(TABLE, build, type_of)


def rows() -> Iterator[Step]:
    """One row a value, and one of NULLs."""
    number = 0
    for column in COLUMNS:
        for value in TYPES[column.type][1]:
            number += 1
            yield Step("insert", f"INSERT INTO compared (id, {column.name}) VALUES ({number}, {value})")
    yield Step("insert", "INSERT INTO compared (id) VALUES (0)")


def steps(rng: random.Random, count: int) -> Iterator[Step]:
    for _ in range(count):
        yield _Comparison(rng).step()


class _Comparison:
    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._column = rng.choice(COLUMNS)
        self._how = rng.choice((SIMPLE, SIMPLE, PREPARED))
        self._parameters: list[Parameter] = []

    def step(self) -> Step:
        form = self._rng.choice((self._plain, self._plain, self._list, self._case, self._negated))
        text = f"SELECT id FROM compared WHERE {form(self._column.name)} ORDER BY id"
        return Step("comparison", text, self._how, self._parameters, ordered=True)

    def _plain(self, name: str) -> str:
        left, right = self._rng.sample((name, self._operand()), 2)
        return f"{left} {self._rng.choice(OPERATORS)} {right}"

    def _list(self, name: str) -> str:
        values = ", ".join(self._operand() for _ in range(self._rng.randrange(1, 4)))
        return f"{name} {self._rng.choice(('IN', 'NOT IN'))} ({values})"

    def _case(self, name: str) -> str:
        return f"CASE WHEN {name} = {self._operand()} THEN id > 2 ELSE id < 9 END"

    def _negated(self, name: str) -> str:
        return f"NOT {self._plain(name)}"

    def _operand(self) -> str:
        value, pick = self._value(), self._rng.choice
        if self._how == PREPARED and self._rng.random() < 0.6:
            self._parameters.append(Parameter(pick(_as_python(value))))
            return pick(("?", "?", f"CAST(? AS {pick(self._casts())})"))
        written = self._written(value)
        match self._rng.randrange(6):
            case 0:
                return f"CAST({written} AS {pick(self._casts())})"
            case 1 if self._rng.random() < 0.3:
                return f"CONVERT({written}, {pick(self._casts())})"
            case 1 if self._rng.random() < 0.3:
                return f"CAST(CAST({written} AS {pick(CASTS)}) AS {pick(self._casts())})"
        return written

    def _casts(self) -> tuple[str, ...]:
        """Mostly those that change nothing, of which some are taken off."""
        near = next(casts for types, casts in NEAR if self._column.base in types)
        return near if self._rng.random() < 0.6 else CASTS

    def _written(self, value: str) -> str:
        pick = self._rng.choice
        digits = value.encode().hex()
        ways = [quote(value), quote(value), f"x'{digits}'", f"_binary {quote(value)}", f"_utf8mb4{quote(value)}"]
        ways += [f"N{quote(value)}", f"BINARY {quote(value)}"]
        if digits:
            ways.append(f"0x{digits}")
        if _is_number(value):
            ways += [value] * 5 + [f"-{value}", f"({value})", f"{value}e0" if "e" not in value else value]
        # Another is an error of the server's, but read as what it plainly is where it is sealed.
        if value[:4].isdigit() and value[4:5] == "-":
            ways.append(f"TIMESTAMP{quote(value)}" if ":" in value else f"DATE{quote(value)}")
        elif ":" in value:
            ways.append(f"TIME{quote(value)}")
        return pick([*ways, "true"])

    def _value(self) -> str:
        if self._rng.random() < 0.1:
            return self._rng.choice(SPELLED)
        stored = [text.strip("x'") for text in TYPES[self._column.type][1]]
        if self._column.base != "bytea" and self._rng.random() < 0.4:
            return self._rng.choice(stored)
        return self._rng.choice(next(values for types, values in FAMILIES if self._column.base in types))


def _is_number(value: str) -> bool:
    return value.replace(".", "", 1).replace("-", "", 1).isdigit() and value.count("-") < 2


def _as_python(value: str) -> list[object]:
    """The values that a driver sends of it, each as a type of its own."""
    found: list[object] = [value, value.encode()]
    if _is_number(value):
        found += [Decimal(value), float(value)]
        if "." not in value:
            found.append(int(value))
    for type_ in (date, datetime, time):
        try:
            found.append(type_.fromisoformat(value))
        except ValueError:
            continue
    return found
