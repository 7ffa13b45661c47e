"""Makes the tables in either database, and the policy for the sealed one."""

import json
import re
from pathlib import Path

import psycopg

from canary import comparisons, schema
from canary.names import quoted
from canary.schema import Column, Table
from harness import Stack, shop
from harness.postgres import Postgres


def create_sql(table: Table, *, sealed: bool) -> str:
    if table.view_of:
        columns = ", ".join(quoted(column.name) for column in table.columns)
        return f"CREATE VIEW {table.sql} AS SELECT {columns} FROM {table.view_of}"
    columns = [_column(column, sealed=sealed) for column in table.columns]
    if table.inherits:
        own = columns[-1]
        return f"CREATE TABLE {table.sql} ({own}, PRIMARY KEY (id)) INHERITS ({table.inherits})"
    if table.suffix:
        columns.append(f"PRIMARY KEY ({', '.join(table.key)})")
    return f"CREATE TABLE {table.sql} ({', '.join(columns)}) {table.suffix}"


def _column(column: Column, *, sealed: bool) -> str:
    type_ = column.stored if sealed and column.protected else column.type
    return f"{quoted(column.name)} {type_} {column.extra}"


def create(server: Postgres, *, sealed: bool) -> None:
    """The database with all its tables; the roles are there in a stack's server, and made in a plain one."""
    with server.connect() as superuser:
        superuser.execute(f"CREATE DATABASE {schema.DATABASE}")
        if not sealed:
            for role in shop.ROLES:
                superuser.execute(f"CREATE ROLE {role} LOGIN PASSWORD '{shop.PASSWORD}'")
    with server.connect(schema.DATABASE) as database:
        database.execute("CREATE SCHEMA archive")
        for table in (*schema.TABLES, schema.VIEW, comparisons.TABLE):
            database.execute(create_sql(table, sealed=sealed))
        for name, bound in schema.PARTITIONS.items():
            database.execute(f"CREATE TABLE {name} PARTITION OF event {bound}")
        for role in shop.ROLES:
            for folder in ("public", "archive"):
                database.execute(f"GRANT USAGE ON SCHEMA {folder} TO {role}")
                database.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA {folder} TO {role}")


def drop_unique(server: Postgres) -> None:
    """Takes off what makes protected columns unique."""
    with server.connect(schema.DATABASE) as database:
        for table in schema.TABLES:
            for column in table.columns:
                if column.protected and column.extra == "UNIQUE":
                    constraint = quoted(f"{table.name}_{column.name}_key")
                    database.execute(f"ALTER TABLE {table.sql} DROP CONSTRAINT {constraint}")


PROTECTED = (*schema.PROTECTED, comparisons.TABLE)


def write_policies(folder: Path, tables: tuple[Table, ...] = PROTECTED, protocol: str = "postgres") -> Path:
    """Catalog and rules, to load beside the example's."""
    labels, columns = {}, {}
    for table in tables:
        relation = f"{quoted(table.schema)}.{quoted(table.name)}"
        # A part's columns are those of the table it is a part of.
        for column in () if table.inherits else table.columns:
            if column.protected:
                labels[column.label] = {"protection": column.protection, "keyset": "pii", "type": column.type}
                if column.equality and column.type == "bool":
                    labels[column.label]["accept_leakage"] = "the canary's values are random"
                columns.setdefault(relation, {})[column.name] = column.label
    database = {"protocol": protocol, "database": schema.DATABASE, "columns": columns}
    texts = [name for name, label in labels.items() if re.match(r"(text|varchar)[^\[]*$", label["type"])]
    others = [name for name in labels if name not in texts]
    rules = [
        _rule("the application works with everything", schema.WRITER, ["canary.*"], {"treatment": "reveal"}, "seal"),
        _rule("support sees ends", schema.MASKED, texts, {"treatment": "mask", "format": "last4"}),
        _rule("support sees nothing else", schema.MASKED, others, {"treatment": "null"}),
    ]
    for name, data in (("catalog", {"labels": labels, "databases": [database]}), ("rules", {"rules": rules})):
        path = folder / name / "canary" / "data.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(data))
    return folder


def _rule(name: str, user: str, labels: list[str], read: dict, write: str = "refuse") -> dict:
    return {"name": name, "who": {"session": {"user": [user]}}, "labels": labels, "read": read, "write": write}


def stored_in_clear(stack: Stack) -> list[str]:
    """The protected columns in which something else than an envelope or NULL is stored, with how many such rows."""
    found = []
    with stack.direct(database=schema.DATABASE) as direct:
        for table in schema.PROTECTED:
            for column in table.columns:
                if column.protected and (count := _in_clear(direct, table, column)):
                    found.append(f"{table.sql}.{quoted(column.name)}: {count}")
    return found


def _in_clear(direct: psycopg.Connection, table: Table, column: Column) -> int:
    name = quoted(column.name)
    test = f"{name} LIKE 'fv1.%'" if column.stored == "text" else f"substr({name}, 1, 2) = '\\xf701'"
    return direct.execute(f"SELECT count(*) FROM {table.sql} WHERE NOT ({test})").fetchone()[0]
