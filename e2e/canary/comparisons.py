"""Columns of each type beside values of each type: as a plain database compares them, or refused.

The values are few and tricky, so they bear no marks: what is held to here is which rows are found."""

import random
from collections.abc import Iterator

from canary.schema import ID, Column, Table, det
from canary.steps import SIMPLE, UNNAMED, Parameter, Step

UUID = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
# By type, what rows hold; and in which ways else that, and what is nearly that, is written.
STORED = {
    "text": ("ab", "ab  ", "AB", "5", "true", "2020-01-31", ""),
    "varchar(8)": ("ab", "ab  ", "abcd", "5", "t"),
    "bpchar(4)": ("ab", "abcd", "5", "t", ""),
    "int2": ("5", "-5", "0", "32767"),
    "int4": ("5", "0", "40000", "-1"),
    "int8": ("5", "40000", "5000000000", "-2"),
    "numeric(10,2)": ("1.10", "5", "0", "0.30", "NaN", "40000"),
    "bool": ("true", "false"),
    "date": ("2020-01-31", "0001-01-01 BC", "infinity"),
    "time": ("10:00", "00:00", "10:00:00.5", "24:00"),
    "time(3)": ("10:00", "10:00:00.5"),
    "timestamp": ("2020-01-31 00:00:00", "2020-01-31 10:00:00", "infinity"),
    "timestamp(0)": ("2020-01-31 00:00:00", "2020-01-31 10:00:00"),
    "timestamptz": ("2020-01-31 00:00:00+00", "2020-01-31 10:00:00+00", "-infinity"),
    "uuid": (UUID,),
    "bytea": ("\\x6162", "\\x", "\\x35"),
    "text[]": ("{ab}", "{ab,NULL}", "{}"),
    "int4[]": ("{5}", "{5,5}"),
    "bpchar(4)[]": ("{ab}",),
}
CHARACTERS = ("ab", "ab  ", " ab", "AB", "abcd  ", "abcdefghij", "", " ", "5", "true", "t", "2020-01-31")
NUMBERS = (
    "5", " 5 ", "05", "+5", "5.0", "-0", "0", "-5", "32767", "40000", "5000000000", "1.1", "1.10", "1.100", "1.101",
    "0.3", "NaN", "infinity", "5e0",
)  # fmt: skip
TIMES = (
    "2020-01-31", "2020-01-31 00:00:00", "2020-01-31 10:00:00", "2020-01-31T00:00:00", "2020-01-31 02:00:00+02",
    "2020-01-31 00:00:00+00", "0001-01-01 BC", "infinity", "-infinity", "10:00", "10:00:00", "10:00:00.5",
    "10:00:00.5004", "10:00+02", "24:00",
)  # fmt: skip
OTHERS = (
    "true", "t", "yes", "1", "0", "no", UUID, UUID.upper(), "{" + UUID + "}", "\\x6162", "\\X6162", "ab", "{ab}",
    '{"ab  "}', "{5}", "{ 5 }", '{"a": 1}',
)  # fmt: skip
SPELLED = (*CHARACTERS, *NUMBERS, *TIMES, *OTHERS)
TYPES = (
    "text", "varchar", "varchar(2)", "bpchar", "char(4)", "bpchar(4)", "name", "int2", "int4", "int8", "numeric",
    "numeric(10,2)", "float4", "float8", "bool", "date", "time", "timetz", "timestamp", "timestamptz", "uuid", "bytea",
    "json", "jsonb", "interval", "text[]", "int4[]", "bpchar(4)[]",
)  # fmt: skip
OIDS = {
    "text": 25, "varchar": 1043, "bpchar": 1042, "name": 19, "int2": 21, "int4": 23, "int8": 20, "numeric": 1700,
    "float8": 701, "bool": 16, "date": 1082, "time": 1083, "timestamp": 1114, "timestamptz": 1184, "uuid": 2950,
    "bytea": 17, "json": 114, "text[]": 1009, "int4[]": 1007,
}  # fmt: skip
# text[], varchar[], int4[], date[], timestamp[], and none.
ARRAY_OIDS = (0, 1009, 1015, 1007, 1182, 1115)
COLUMNS = tuple(det(f"c{number}", type_, f"compared_{number}") for number, type_ in enumerate(STORED))
TABLE = Table("compared", (ID, *COLUMNS))


def rows() -> Iterator[Step]:
    """One row a value, and one of NULLs."""
    number = 0
    for column in COLUMNS:
        for value in STORED[column.type]:
            number += 1
            yield Step("insert", f"INSERT INTO compared (id, {column.name}) VALUES ({number}, {_quoted(value)})")
    yield Step("insert", "INSERT INTO compared (id) VALUES (0)")


def steps(rng: random.Random, count: int) -> Iterator[Step]:
    for _ in range(count):
        yield _Comparison(rng).step()


class _Comparison:
    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._column = rng.choice(COLUMNS)
        self._how = rng.choice((SIMPLE, UNNAMED))
        self._parameters: list[Parameter] = []

    def step(self) -> Step:
        name, pick = self._column.name, self._rng.choice
        condition = pick((self._plain, self._plain, self._distinct, self._list, self._array, self._case))(name)
        text = f"SELECT id FROM compared WHERE {condition} ORDER BY id"
        return Step("comparison", text, self._how, self._parameters, ordered=True)

    def _plain(self, name: str) -> str:
        value = self._operand()
        left, right = self._rng.sample((name, value), 2)
        return self._rng.choice(
            (f"{left} = {right}", f"{left} = {right}", f"{left} <> {right}", f"NOT {left} = {right}")
        )

    def _distinct(self, name: str) -> str:
        return f"{name} IS {self._rng.choice(('', 'NOT '))}DISTINCT FROM {self._operand()}"

    def _list(self, name: str) -> str:
        return f"{name} {self._rng.choice(('IN', 'NOT IN'))} ({self._operands()})"

    def _array(self, name: str) -> str:
        form, type_ = self._rng.choice(("= ANY", "<> ALL")), self._type()
        written = (self._value().replace("\\", "\\\\").replace('"', '\\"') for _ in range(2))
        elements = "{" + ",".join(f'"{value}"' for value in written) + "}"
        match self._rng.randrange(4):
            case 0:
                return f"{name} {form} (ARRAY[{self._operands()}])"
            case 1 if self._how == UNNAMED:
                return f"{name} {form} ({self._parameter(elements, 0)}::{type_}[])"
            case 2 if self._how == UNNAMED:
                return f"{name} {form} ({self._parameter(elements, self._rng.choice(ARRAY_OIDS))})"
        return f"{name} {form} ({_quoted(elements)}{self._rng.choice(('', f'::{type_}[]'))})"

    def _case(self, name: str) -> str:
        return f"CASE WHEN {name} = {self._operand()} THEN id > 2 ELSE id < 9 END"

    def _operands(self) -> str:
        return ", ".join(self._operand() for _ in range(self._rng.randrange(1, 4)))

    def _operand(self) -> str:
        value, type_ = self._value(), self._type()
        if self._how == UNNAMED and self._rng.random() < 0.5:
            oid = self._rng.choice((0, OIDS.get(type_, 0), OIDS.get(_base(type_), 0)))
            return self._parameter(value, oid) + self._rng.choice(("", "", f"::{type_}"))
        written = _quoted(value)
        match self._rng.randrange(6):
            case 0:
                return written
            case 1 if value.replace(".", "", 1).isdigit() or value == "true":
                return value
            case 2:
                return f"CAST({written} AS {type_})"
            case 3 if "(" not in type_ and "[" not in type_:
                return f"{type_} {written}"
            case 4:
                return f"{written}::{self._type()}::{type_}"
        return f"{written}::{type_}"

    def _value(self) -> str:
        if self._rng.random() < 0.1:
            return self._rng.choice(SPELLED)
        return self._rng.choice((*STORED[self._column.type], *_family(self._column)[1]))

    def _type(self) -> str:
        # Most others have no operator.
        return self._column.type if self._rng.random() < 0.2 else self._rng.choice(_near(self._column))

    def _parameter(self, value: str, oid: int) -> str:
        self._parameters.append(Parameter(value.encode(), oid))
        return f"${len(self._parameters)}"


def _near(column: Column) -> tuple[str, ...]:
    """Types that it may have an operator with, and some others."""
    types, _ = _family(column)
    return types if types is TYPES else (*types, *types, *TYPES)


def _family(column: Column) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Types like the column's, and how their values are written."""
    families = (
        (("text", "varchar", "char", "varchar(2)", "bpchar", "char(4)", "bpchar(4)", "name"), CHARACTERS),
        (("int2", "int4", "int8", "numeric", "numeric(10,2)", "float4", "float8"), NUMBERS),
        (("date", "time", "timetz", "timestamp", "timestamptz", "interval"), TIMES),
    )
    for types, values in families:
        if _base(column.type) in (_base(type_) for type_ in types):
            return types, values
    return TYPES, OTHERS


def _base(type_: str) -> str:
    return type_.partition("(")[0]


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
