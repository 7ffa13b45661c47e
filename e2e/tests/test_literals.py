"""Strings of a session in which standard_conforming_strings is off, and those that are written in several ways."""

from contextlib import ExitStack

import psycopg
import pytest
from psycopg import pq

from harness import Stack
from tests import wire

OFF = "SET standard_conforming_strings = off"
STATEMENTS = [
    "SHOW standard_conforming_strings",
    r"SELECT 'a\'b', 'c\\', E'\'', $$\'$$, 'd''e'",
    r"SELECT 'it\'s' -- '\\'",
    r"SELECT N'\''",
    r"SELECT 'a' '\n'",
    "SELECT 'a'\n  'b'",
    "SELECT 'a\\n'\n  'b\\t'",
    r"SELECT U&'\0061'",
    "SELECT 1 AS U&\"d!0061t\" UESCAPE '!'",
    "SELECT /* a /* nested */ comment */ 1",
    "SELECT $tag$ $$ $tag$",
    r"SELECT 'unfinished\'",
    "RESET standard_conforming_strings",
    r"SELECT 'a\'",
]


def said(connection: psycopg.Connection, statement: str) -> object:
    result = connection.pgconn.exec_(statement.encode())
    if result.status == pq.ExecStatus.TUPLES_OK:
        return [result.get_value(0, column) for column in range(result.nfields)], result.fname(0)
    return result.status, {field.name: result.error_field(field) for field in pq.DiagnosticField}


def test_they_are_as_without_the_sidecar(shop: Stack) -> None:
    with ExitStack() as sessions:
        through, direct = (sessions.enter_context(connect("app")) for connect in (shop.connect, shop.direct))
        for statement in [OFF, *STATEMENTS]:
            assert said(through, statement) == said(direct, statement), statement


def test_values_of_protected_columns_are_what_the_server_would_read(shop: Stack) -> None:
    with shop.connect("app") as app:
        app.execute(OFF)
        app.execute(r"INSERT INTO customer (id, name, ssn) VALUES (1, 'n\\', 'it\'s \x41')")
        # Prepared while the setting was off, and executed while it is on.
        app.pgconn.prepare(b"p", rb"INSERT INTO customer (id, name, ssn) VALUES (2, 'n\\', '\'')")
        app.execute("RESET standard_conforming_strings")
        assert app.pgconn.exec_prepared(b"p", []).status == pq.ExecStatus.COMMAND_OK
        rows = app.execute("SELECT name, ssn FROM customer ORDER BY id").fetchall()
    assert rows == [("n\\", "it's A"), ("n\\", "'")]


@pytest.mark.parametrize("change", [OFF, "SELECT set_config('standard_conforming_strings', 'off', false)"])
def test_a_string_behind_a_change_of_the_setting_is_not_misread(shop: Stack, change: str) -> None:
    """In a pipeline the server tells of the change only at its end."""
    canary = "078-05-1120"
    # With the setting off it is one string; with it on, two statements of which the second is protected.
    texts = [change, rf"SELECT 'a\', ssn FROM customer WHERE ssn = '{canary}' -- '"]
    sent = b""
    for text in texts:
        sent += wire.message(b"P", b"\0" + text.encode() + b"\0\0\0")
        sent += wire.message(b"B", b"\0\0" + bytes(6)) + wire.message(b"E", b"\0" + bytes(4))
    with shop.connect("app") as app:
        raw = wire.of_session(app)
        raw.sendall(sent + wire.message(b"S") + wire.message(b"X"))
        errors = wire.errors(wire.read_to_end(raw))
        raw.close()
    assert [error["C"] for error in errors] == ["0A000"]
    assert canary.encode() not in shop.relay.to_server()
