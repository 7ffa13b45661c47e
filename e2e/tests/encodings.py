"""What the tests of encodings share: pairs of sessions, and databases with names or encodings of their own."""

import json
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import pq, sql

from harness import Stack, shop

# Database: its encoding on the server.
NAMED, LATIN1, SQL_ASCII, EUC_TW = "named", "latin1", "sql_ascii", "euc_tw"
EUC_JP, EUC_KR = "euc_jp", "euc_kr"
DATABASES = {NAMED: "UTF8"} | {name: name.upper() for name in (LATIN1, SQL_ASCII, EUC_TW, EUC_JP, EUC_KR)}
# A table with the same columns, and no policy.
TWIN = "twin"
ASCII, OTHER, KANJI = ("person", "notes"), ("caf\u00e9", "pr\u00e9nom"), ("\u9867\u5ba2", "\u6c0f\u540d")


def table_of(database: str) -> tuple[str, str]:
    """The protected table and its protected column."""
    return {NAMED: OTHER, EUC_JP: KANJI}.get(database, ASCII)


def write_policies(folder: Path) -> Path:
    """Catalog and rules for the tables, to load beside the example's."""
    label = {"protection": "deterministic", "keyset": "pii", "type": "text"}
    databases, labels = [], []
    for name in DATABASES:
        table, column = table_of(name)
        databases.append({"protocol": "postgres", "database": name, "columns": {f'public."{table}"': {column: label}}})
        labels.append(f'public."{table}".*')
    rule = {
        "name": "the application works with everything",
        "who": {"session": {"user": ["app"]}},
        "labels": sorted(set(labels)),
        "read": {"treatment": "reveal"},
        "write": "seal",
    }
    for name, data in (("catalog", {"databases": databases}), ("rules", {"rules": [rule]})):
        path = folder / name / "encodings" / "data.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(data))
    return folder


def create(stack: Stack) -> None:
    with stack.postgres.connect() as superuser:
        for name, encoding in DATABASES.items():
            superuser.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING '{encoding}' LOCALE 'C'")
    for name in DATABASES:
        table, column = table_of(name)
        with stack.direct(database=name, client_encoding="UTF8") as direct:
            for made in (table, TWIN):
                create = sql.SQL("CREATE TABLE {} (id bigint, name text, {} text)")
                direct.execute(create.format(sql.Identifier(made), sql.Identifier(column)))
                shop.allow_all(direct, made)


@dataclass
class Pair:
    """A session through the sidecar, and one straight to the server whose texts name the twin instead."""

    app: psycopg.Connection
    direct: psycopg.Connection
    table: bytes = b"customer"

    def both(self, text: bytes) -> tuple[object, object]:
        """What each answers to a text."""
        return answer(self.app, text), answer(self.direct, text.replace(self.table, TWIN.encode()))

    def same(self, text: bytes) -> object:
        """The answer, which is the same from both."""
        got, wanted = self.both(text)
        assert got == wanted, text
        return got


def answer(connection: psycopg.Connection, text: bytes) -> object:
    """The rows as they came, or the SQLSTATE of the error."""
    result = connection.pgconn.exec_(text)
    if result.status == pq.ExecStatus.FATAL_ERROR:
        return result.error_field(pq.DiagnosticField.SQLSTATE)
    names = [result.fname(column) for column in range(result.nfields)]
    rows = [[result.get_value(row, column) for column in range(result.nfields)] for row in range(result.ntuples)]
    return names, rows


def session_codec(encoding: str) -> str:
    return {"LATIN1": "latin-1", "WIN1252": "cp1252", "EUC_JP": "euc_jp", "EUC_KR": "euc_kr"}.get(encoding, "utf-8")


def copied_in(connection: psycopg.Connection, table: str, options: str, data: bytes, size: int) -> object:
    try:
        encoded = connection.info.encoding if connection.info.encoding != "ascii" else "utf-8"
        text = f"COPY {table} (id, notes) FROM STDIN {options}".encode(encoded)
        with connection.cursor().copy(text) as copy:
            for start in range(0, len(data), size):
                copy.write(data[start : start + size])
    except psycopg.Error as error:
        return error.sqlstate
    return None


def copied_out(connection: psycopg.Connection, table: str, options: str) -> object:
    try:
        text = f"COPY {table} (id, notes) TO STDOUT {options}".encode(connection.info.encoding)
        with connection.cursor().copy(text) as copy:
            return b"".join(bytes(piece) for piece in copy)
    except psycopg.Error as error:
        return error.sqlstate
