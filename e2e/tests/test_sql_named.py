"""What SQL prepared or declared, named by messages of the protocol: answered as by the server itself."""

import struct
from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

from harness import Stack
from tests import wire
from tests.rows import ADA, ALAN, INSERT

SYNC = wire.message(b"S")
CANARY = b"123-45-6789-canary"
TEXT, BINARY = 0, 1


def bind(statement: bytes, *values: bytes, portal: bytes = b"", result: int = TEXT) -> bytes:
    parameters = b"".join(struct.pack("!i", len(value)) + value for value in values)
    body = struct.pack("!hh", 0, len(values)) + parameters + struct.pack("!hh", 1, result)
    return wire.message(b"B", portal + b"\0" + statement + b"\0" + body)


def describe(portal: bytes = b"") -> bytes:
    return wire.message(b"D", b"P" + portal + b"\0")


def execute(portal: bytes = b"", rows: int = 0) -> bytes:
    return wire.message(b"E", portal + b"\0" + struct.pack("!i", rows))


FAIL = wire.query("BEGIN; SELECT 1/0")
ROLLBACK = wire.query("ROLLBACK")
SCRIPT = (
    wire.query("PREPARE plus (int) AS SELECT $1 + 1 AS more"),
    bind(b"plus", b"1") + describe() + execute() + SYNC,
    bind(b"plus", b"2", result=BINARY) + execute() + bind(b"plus", b"3") + execute() + SYNC,
    bind(b"plus", b"no number") + execute() + SYNC,
    bind(b"plus") + execute() + SYNC,
    wire.query("PREPARE put AS INSERT INTO plain (id, ssn) VALUES ($1, $2) RETURNING *"),
    bind(b"put", b"1", CANARY, portal=b"named") + describe(b"named") + execute(b"named") + SYNC,
    FAIL,
    bind(b"plus", b"1") + execute() + SYNC,
    bind(b"nosuch", b"1") + execute() + SYNC,
    execute(b"nosuch") + SYNC,
    ROLLBACK,
    wire.query("DEALLOCATE plus"),
    bind(b"plus", b"1") + execute() + SYNC,
    wire.query("SELECT 1") + bind(b"plus", b"1") + SYNC,
    execute() + SYNC,
    execute(b"nosuch") + SYNC,
    wire.query("BEGIN"),
    wire.query("DECLARE numbers CURSOR FOR SELECT generate_series(1, 5) AS n"),
    execute(b"numbers", 2) + SYNC,
    execute(b"numbers", 2) + wire.query("FETCH numbers"),
    describe(b"numbers") + execute(b"numbers") + execute(b"numbers") + SYNC,
    wire.query('DECLARE "Odd ""name" BINARY CURSOR FOR SELECT 7 AS seven'),
    execute(b'Odd "name') + SYNC,
    wire.query("CLOSE numbers"),
    execute(b"numbers") + SYNC,
    bind(b"put", b"2", b"behind") + SYNC,
    ROLLBACK,
)


def answers(connection: psycopg.Connection, script: tuple[bytes, ...]) -> list[list[object]]:
    """What each step of the script is answered: whole messages, and of an error its code."""
    answered = []
    with closing(wire.of_session(connection)) as session:
        for step in script:
            session.sendall(step)
            asked = sum(one[:1] in b"QS" for one in wire.messages(step))
            received: list[bytes] = []
            while sum(one[:1] == b"Z" for one in received) < asked:
                head = wire.read_exactly(session, 5)
                received.append(head + wire.read_exactly(session, struct.unpack("!i", head[1:])[0] - 4))
            answered.append([wire.errors(one)[0]["C"] if one[:1] == b"E" else one for one in received])
    return answered


@pytest.fixture
def plain(shop: Stack) -> Iterator[None]:
    """A table of which nothing is protected."""
    with shop.direct() as direct:
        direct.execute("CREATE TABLE plain (id bigint, ssn text)")
        direct.execute("GRANT ALL ON plain TO app")
        yield
        direct.execute("DROP TABLE plain")


@pytest.mark.usefixtures("plain")
def test_what_concerns_nothing_protected_is_answered_as_by_the_server(shop: Stack) -> None:
    with shop.connect("app") as through, shop.direct("app") as direct:
        ours, theirs = answers(through, SCRIPT), answers(direct, SCRIPT)
    assert [(step, a, b) for step, a, b in zip(SCRIPT, ours, theirs, strict=True) if a != b] == []
    assert {"26000", "34000", "22P02", "08P01", "25P02"} <= {one for told in theirs for one in told if type(one) is str}


def test_statement_on_a_protected_table_is_not_found(shop: Stack) -> None:
    with shop.connect("app") as app:
        script = (
            wire.query("PREPARE put AS INSERT INTO customer (id, ssn) VALUES ($1, $2)"),
            bind(b"put", b"1", CANARY) + execute() + SYNC,
            wire.query("PREPARE path AS SELECT set_config('search_path', $1, false)"),
            bind(b"path", b"public") + execute() + SYNC,
        )
        told = answers(app, script)
    assert told[1] == told[3] == ["26000", wire.message(b"Z", b"I")]
    assert CANARY not in shop.relay.to_server()


@pytest.mark.parametrize("options", ["", "BINARY "])
def test_rows_of_a_cursor_on_a_protected_table_are_opened(shop: Stack, options: str) -> None:
    with shop.connect("app") as app:
        for row in (ADA, ALAN):
            app.execute(INSERT, row)
        script = (
            wire.query("BEGIN"),
            wire.query(f"DECLARE found {options}CURSOR FOR SELECT ssn, 'plain'::text FROM customer ORDER BY id"),
            execute(b"found", 1) + execute(b"found") + SYNC,
        )
        first, suspended, second, *_ = answers(app, script)[-1]
    assert (ADA[3].encode() in first, ALAN[3].encode() in second, suspended[:1]) == (True, True, b"s")
    with shop.connect("support") as support:
        shown = b"".join(answers(support, script)[-1][:3])
    assert ADA[3].encode() not in shown
    assert b"fv1." not in shown
