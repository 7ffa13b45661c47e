"""Messages around a COPY, in every order that a client may send them: the session goes on as the server's does."""

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
import pytest

from harness import Stack
from tests import wire

CANARY = b"078-05-1120"
UNPROTECTED = "copied"
PROTECTED = "customer"
# Behind every sequence: whatever state the session is in, it then says this, or is at its end. The statement before it
# is for what a sequence leaves behind: after a COPY with a Query behind it the server says XX000 to the next one.
MARK = b"the end of the sequence"
TAIL = (
    wire.message(b"f", b"given up\0")
    + wire.message(b"S")
    + wire.message(b"Q", b"SELECT 2\0")
    + wire.message(b"Q", b"SELECT '" + MARK + b"'\0")
)


def extended(text: str) -> bytes:
    parse = wire.message(b"P", b"\0" + text.encode() + b"\0\0\0")
    return parse + wire.message(b"B", b"\0\0\0\0\0\0\0\0") + wire.message(b"E", b"\0\0\0\0\0")


def steps(table: str) -> dict[str, bytes]:
    copy = f"COPY {table} (id, ssn) FROM STDIN"
    return {
        "COPY": wire.query(copy),
        "extended COPY": extended(copy),
        # The server doesn't take it, and says so before it asks for data.
        "read-only COPY": wire.query("SET transaction_read_only = on; SET default_transaction_read_only = on")
        + wire.query(copy)
        + wire.query("RESET default_transaction_read_only"),
        "row": wire.message(b"d", b"1\t" + CANARY + b"\n"),
        "broken row": wire.message(b"d", b"x\n"),
        "CopyDone": wire.message(b"c"),
        "CopyFail": wire.message(b"f", b"no more\0"),
        "Sync": wire.message(b"S"),
        "SELECT": wire.query("SELECT 1"),
    }


def sequences() -> list[tuple[str, ...]]:
    names = list(steps(UNPROTECTED))
    chosen = random.Random(1)
    longer = [tuple(chosen.choices(names, k=chosen.randint(4, 8))) for _ in range(150)]
    # The server ignores the first Sync, and keeps the answer to the COPY until the last one.
    asked = itertools.product(("row", "Sync", "CopyDone"), repeat=4)
    synced = [("extended COPY", "Sync", *messages, "Sync") for messages in asked]
    return [*itertools.product(names, repeat=2), *itertools.product(names[:2], names, names), *synced, *longer]


@dataclass
class Said:
    """What a client got for a sequence."""

    messages: list[bytes]
    ended: bool

    def of_kind(self) -> list[object]:
        """What must be alike for a protected table too: an error may be the filter's own, of the same class."""
        return [wire.errors(message)[0]["C"][:2] if message[:1] == b"E" else message for message in self.messages]


class Session:
    """A session that a driver has opened, and this test goes on with; another one when it is ended."""

    def __init__(self, connect) -> None:
        self._connect = connect
        self._open()

    def _open(self) -> None:
        # The driver's connection is kept, for it would say farewell when it is collected.
        self._driver = self._connect("app")
        self._socket = wire.of_session(self._driver)

    def say(self, sequence: bytes) -> Said:
        self._socket.sendall(sequence + TAIL)
        received = bytearray()
        while True:
            try:
                chunk = self._socket.recv(65536)
            except ConnectionResetError:
                chunk = b""
            received += chunk
            if not chunk:
                self.close()
                self._open()
                return Said(list(wire.messages(bytes(received))), ended=True)
            if MARK in received and received[-6:-1] == b"Z\0\0\0\5":
                return Said(list(wire.messages(bytes(received))), ended=False)

    def close(self) -> None:
        self._socket.close()
        self._driver.close()


@pytest.fixture
def emptied(shop: Stack) -> Iterator[psycopg.Connection]:
    with shop.direct() as direct:
        direct.execute(f"CREATE TABLE {UNPROTECTED} (id bigint PRIMARY KEY, ssn text)")
        direct.execute(f"GRANT ALL ON {UNPROTECTED} TO app")
        yield direct
        direct.execute(f"DROP TABLE {UNPROTECTED}")


@pytest.mark.parametrize("table", [UNPROTECTED, PROTECTED])
def test_session_goes_on_as_the_servers(shop: Stack, emptied: psycopg.Connection, table: str) -> None:
    of_step = steps(table)
    through, direct = Session(shop.connect), Session(shop.direct)
    compared = 0
    for sequence in sequences():
        sent = b"".join(of_step[name] for name in sequence)
        said, rows = [], []
        for session in (direct, through):
            emptied.execute(f"DELETE FROM {table}")
            said.append(session.say(sent))
            rows.append(emptied.execute(f"SELECT count(*) FROM {table}").fetchone())
        assert said[0].ended == said[1].ended, sequence
        if not said[0].ended:
            same = [answer.messages if table == UNPROTECTED else answer.of_kind() for answer in said]
            assert same[0] == same[1], sequence
            compared += 1
        assert rows[0] == rows[1], sequence
    assert compared > 200
    assert table == UNPROTECTED or CANARY not in shop.relay.to_server()
    through.close()
    direct.close()
