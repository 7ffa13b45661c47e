"""A table with a sealed column of every declared type, and a twin without, in a database of its own."""

import json
from dataclasses import dataclass
from pathlib import Path

from harness import Stack, shop

DATABASE = "types"
SEALED, TWIN = "sample", "twin"


@dataclass(frozen=True)
class Sample:
    """A declared type, and values as a client may write them."""

    type: str
    values: tuple[str, ...]
    stored_as: str = "text"
    protection: str = "randomized"

    @property
    def column(self) -> str:
        kind = self.type.replace("[]", " array")
        name = "".join(letter if letter.isalnum() else "_" for letter in kind).rstrip("_")
        return f"c_{name}_{self.stored_as}"


SAMPLES = (
    Sample("text", ("", "plain", "häßlich ☃ \\ ' \" \t\n", "x" * 5000), protection="deterministic"),
    Sample("text", ("in bytes",), stored_as="bytea"),
    Sample("varchar", ("anything",)),
    Sample("varchar(10)", ("ten chars!", "ünï")),
    Sample("bpchar(8)", ("abc", "12345678")),
    Sample("int2", ("-32768", "32767", "0")),
    Sample("int4", ("-2147483648", " 42 "), protection="deterministic"),
    Sample("int8", ("9223372036854775807", "-1")),
    Sample("bool", ("t", "false", "on", "0")),
    Sample("float8", ("0.1", "-1e-7", "1e300", "NaN", "Infinity", "-0")),
    Sample("numeric", ("12345.6780", "-0.000001", "1e20", "NaN", "0.00")),
    Sample("numeric(10,2)", ("12.345", "-99999999.99", "7")),
    Sample("date", ("2024-02-29", "0001-01-01", "infinity", "0044-03-15 BC", "5874897-12-31")),
    Sample("time", ("10:20", "24:00:00", "23:59:59.999999499")),
    Sample("time(2)", ("10:20:30.995",)),
    Sample("timestamp", ("2024-02-29 23:59:59.123456", "1999-12-31")),
    Sample("timestamp(3)", ("2024-02-29 23:59:59.9996",)),
    Sample("timestamptz", ("2024-02-29 12:00:00.5+02", "2024-02-29T12:00:00Z")),
    Sample("timestamptz(0)", ("2024-12-31 23:59:59.5+00",)),
    Sample("uuid", ("A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",), protection="deterministic"),
    Sample("json", ('{"a": [1, 2.50], "b": "é"}',)),
    Sample("jsonb", ('{"b":[1, 2.50],"a":"\\u00e9\\/","b":{}}', "[]", "-1.50e3")),
    Sample("bpchar", ("abc  ", "")),
    Sample("text[]", ('{a,"b c",NULL,"NULL","","\\"{,}"}', "{}", "[0:1][2:2]={{a},{b}}"), protection="deterministic"),
    Sample("int4[]", ("{1,NULL,-2}", "{{1,2},{3,4}}"), stored_as="bytea"),
    Sample("numeric(10,2)[]", ("{1,2.675}",)),
    Sample("timestamptz(3)[]", ('{"2024-02-29 12:00:00.12345+02",infinity}',)),
    Sample("bpchar(3)[]", ("{a,abc}",)),
    Sample("jsonb[]", ('{"{\\"b\\":1,\\"a\\":[]}"}',)),
    Sample("bytea", ("\\x00ff10", "\\x"), stored_as="bytea"),
    Sample("bytea", ("\\xdeadbeef",)),
)


def write_policies(folder: Path) -> Path:
    """Catalog and rules for the table, to load beside the example's."""
    columns = {
        sample.column: {"protection": sample.protection, "keyset": "pii", "type": sample.type} for sample in SAMPLES
    }
    database = {"protocol": "postgres", "database": DATABASE, "columns": {f"public.{SEALED}": columns}}
    labels = [f"public.{SEALED}.*"]
    date = next(sample.column for sample in SAMPLES if sample.type == "date")
    rules = [
        {
            "name": "the application works with everything",
            "who": {"session": {"user": ["app"]}},
            "labels": labels,
            "read": {"treatment": "reveal"},
            "write": "seal",
        },
        {
            "name": "support sees years",
            "who": {"session": {"user": ["support"]}},
            "labels": [f"public.{SEALED}.{date}"],
            "read": {"treatment": "mask", "format": "year"},
        },
    ]
    for name, data in (("catalog", {"databases": [database]}), ("rules", {"rules": rules})):
        path = folder / name / "types" / "data.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(data))
    return folder


def create(stack: Stack) -> None:
    with stack.postgres.connect() as superuser:
        superuser.execute(f"CREATE DATABASE {DATABASE}")
    with stack.direct(database=DATABASE) as direct:
        sealed = ", ".join(f"{sample.column} {sample.stored_as}" for sample in SAMPLES)
        declared = ", ".join(f"{sample.column} {sample.type}" for sample in SAMPLES)
        direct.execute(f"CREATE TABLE {SEALED} (id serial PRIMARY KEY, {sealed})")
        direct.execute(f"CREATE TABLE {TWIN} (id serial PRIMARY KEY, {declared})")
        for table in (SEALED, TWIN):
            shop.allow_all(direct, table)
        for role in shop.ROLES:
            direct.execute(f"GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO {role}")
