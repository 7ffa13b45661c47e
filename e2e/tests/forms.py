"""A database for the ways of storing that the example has none of.

Blind indexes, values in their own format, columns that are half sealed, and columns that are too narrow.
"""

import json
from pathlib import Path

from harness import Stack, shop

DATABASE = "forms"
TABLE = "vault"

# Column: its type in the database, and its label.
COLUMNS = {
    "token": ("text", {"protection": "indexed", "keyset": "pii", "type": "text"}),
    "code": ("bytea", {"protection": "indexed", "keyset": "pii", "type": "int8"}),
    "phone": (
        "varchar(11)",
        {"protection": "format_preserving", "alphabet": "digits", "keyset": "pii", "type": "varchar(11)"},
    ),
    "badge": (
        "char(8)",
        {"protection": "format_preserving", "alphabet": "alphanumeric_upper", "keyset": "pii", "type": "bpchar(8)"},
    ),
    "half": (
        "text",
        {"protection": "deterministic", "keyset": "pii", "type": "date", "on_plaintext": "reveal"},
    ),
    "quiet": ("text", {"protection": "randomized", "keyset": "pii", "type": "text", "on_plaintext": "null"}),
    "strict": ("text", {"protection": "randomized", "keyset": "pii", "type": "text"}),
    "fitting": ("varchar(104)", {"protection": "randomized", "keyset": "pii", "type": "uuid"}),
}
NARROW = "narrow"


def write_policies(folder: Path) -> Path:
    """Catalog and rules for the tables, to load beside the example's."""
    columns = {column: label for column, (_, label) in COLUMNS.items()}
    short = {"short": {"protection": "randomized", "keyset": "pii", "type": "varchar(10)"}}
    database = {
        "protocol": "postgres",
        "database": DATABASE,
        "columns": {f"public.{TABLE}": columns, f"public.{NARROW}": short},
    }
    rules = [
        {
            "name": "the application works with everything",
            "who": {"session": {"user": ["app"]}},
            "labels": [f"public.{TABLE}.*", f"public.{NARROW}.*"],
            "read": {"treatment": "reveal"},
            "write": "seal",
        },
        {
            "name": "support sees the end of a phone number",
            "who": {"session": {"user": ["support"]}},
            "labels": [f"public.{TABLE}.phone"],
            "read": {"treatment": "mask", "format": "last4"},
        },
    ]
    for name, data in (("catalog", {"databases": [database]}), ("rules", {"rules": rules})):
        path = folder / name / "forms" / "data.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(data))
    return folder


def create(stack: Stack) -> None:
    with stack.postgres.connect() as superuser:
        superuser.execute(f"CREATE DATABASE {DATABASE}")
    with stack.direct(database=DATABASE) as direct:
        columns = ", ".join(f"{column} {stored}" for column, (stored, _) in COLUMNS.items())
        direct.execute(f"CREATE TABLE {TABLE} (id bigint PRIMARY KEY, {columns})")
        direct.execute(f"CREATE INDEX vault_token ON {TABLE} (left(token, 33))")
        direct.execute(f"CREATE TABLE {NARROW} (id bigint PRIMARY KEY, short varchar(40))")
        for table in (TABLE, NARROW):
            shop.allow_all(direct, table)
