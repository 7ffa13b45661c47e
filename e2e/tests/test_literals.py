"""Strings of a session in which standard_conforming_strings is off, and those that are written in several ways."""

import random
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


# Parts of strings: what begins, continues and ends them, in all styles, and what is odd.
PARTS = [
    *("'", "''", "'\n'", "' \t\r\n '", "' -- c\n'", "' /* c */\n'", "' '", "\\", r"\\", r"\'", r"\n", r"\x41"),
    *(r"\101", r"\u00e9", r"\0061", r"\+000062", "!0061", "!!", "a", "b ", "\u00e9", "--", "/*", "$$", '"', "\n"),
]
BEGINS = ["'", "'", "'", "E'", "e'", "U&'", "u&'", "N'", "$$", "$t$"]
ENDS = ["'", "'", "'", "' UESCAPE '!'", "'\nuescape '!'", "' /* c */ UESCAPE '!'", "' UESCAPE '+'"]


def literals(seed: int, count: int) -> list[str]:
    choose = random.Random(seed)
    found = []
    for _ in range(count):
        begin = choose.choice(BEGINS)
        end = begin if begin.startswith("$") else choose.choice(ENDS) if "&" in begin else "'"
        found.append(begin + "".join(choose.choices(PARTS, k=choose.randint(0, 5))) + end)
    return found


@pytest.mark.parametrize("setting", ["on", "off"])
def test_whatever_string_is_sealed_is_the_one_that_the_server_reads(pair, setting: str) -> None:
    """Random ones, beside a table in clear, in a place that is sealed and where nothing is."""
    sessions = pair("UTF8")
    sessions.same(b"SET standard_conforming_strings = %s" % setting.encode())
    sealed = 0
    for literal in literals(20261126, 500):
        sessions.same(f"SELECT {literal} AS a, 'b'".encode())
        sessions.same(b"DELETE FROM customer")
        got, wanted = sessions.both(f"INSERT INTO customer (id, name, ssn) VALUES (1, 'n', {literal})".encode())
        assert got in (wanted, b"0A000"), literal
        if not isinstance(got, bytes):
            sealed += 1
            sessions.same(b"SELECT id, name, ssn FROM customer")
            assert sessions.same(f"SELECT id FROM customer WHERE ssn = {literal}".encode())[1]
    assert sealed > 80


@pytest.mark.parametrize(
    "literal",
    [
        "'078'\n'-05'",
        "'078'\r\n  \t'-''05'",
        "E'078'\n'-05'",
        r"U&'\0030\+00007805'",
        "U&'!003078' UESCAPE '!'",
        "U&'!0030'\n'78'\nuescape\n'!'",
        "u&'078-05'",
    ],
)
def test_strings_in_several_parts_and_of_code_points_are_sealed(pair, literal: str) -> None:
    sessions = pair("UTF8")
    sessions.same(f"INSERT INTO customer (id, ssn) VALUES (1, {literal})".encode())
    assert sessions.same(f"SELECT ssn, id FROM customer WHERE ssn = {literal}".encode())[1]
    sessions.same(f"UPDATE customer SET ssn = {literal} RETURNING ssn".encode())


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
