"""One session that would fill the filter's memory waits or is refused, and another user's goes on being served."""

import struct
import threading
from collections.abc import Iterator

import psycopg
import pytest

from harness import Stack
from tests import wire
from tests.rows import ADA, INSERT

OUT_OF_MEMORY = "53200"
MIB = 1 << 20
# What stands in docs/reference/limits.md: what one connection keeps, and what of it is in flight.
KEPT_BYTES = 128 * MIB
IN_FLIGHT_BYTES = 16 * MIB
# Analyses that are kept for all, and what a worker has anyway.
OTHERS_BYTES = 32 * MIB
GAUGE = "wasmcustom.fieldveil.memory.in_use_bytes"


@pytest.fixture
def other(shop: Stack) -> Iterator[psycopg.Connection]:
    """Another user's session, and a row for it."""
    with shop.connect("app") as app:
        app.execute(INSERT, ADA)
    with shop.connect("support") as other:
        yield other


def is_served(other: psycopg.Connection) -> bool:
    return other.execute("SELECT count(*) FROM customer WHERE ssn IS NOT NULL").fetchone() == (1,)


def in_use(shop: Stack) -> int:
    return shop.envoy.stats(GAUGE).get(GAUGE, 0)


def read_until_ready(raw, times: int = 1) -> bytes:
    """Whole messages, up to so many ReadyForQuery."""
    received = bytearray()
    while times > 0:
        header = wire.read_exactly(raw, 5)
        body = wire.read_exactly(raw, struct.unpack("!i", header[1:])[0] - 4)
        if header[:1] in b"EZ":
            received += header + body
        times -= header[:1] == b"Z"
    return bytes(received)


def test_texts_that_are_sent_ahead_wait_for_answers(shop: Stack, other: psycopg.Connection) -> None:
    ahead = 60
    with shop.connect("app") as app:
        app.execute("SET client_min_messages = error")
        raw = wire.of_session(app)
        # Of each some 9 MiB are known.
        texts = wire.message(b"Q", b"SELECT 1;" + b"END;" * 16_000 + b"\0") * ahead
        sends = threading.Thread(target=raw.sendall, args=(wire.message(b"Q", b"SELECT pg_sleep(3)\0") + texts,))
        reads = threading.Thread(target=read_until_ready, args=(raw, ahead + 1))
        sends.start()
        reads.start()
        most = 0
        while reads.is_alive():
            assert is_served(other)
            most = max(most, in_use(shop))
            reads.join(0.2)
        sends.join()
        raw.close()
    assert 0 < most < IN_FLIGHT_BYTES * 2 + OTHERS_BYTES


def test_prepared_statements_are_refused_past_what_a_session_keeps(shop: Stack, other: psycopg.Connection) -> None:
    columns = ",".join(["ssn"] * 1600)
    with shop.connect("app") as app:
        raw = wire.of_session(app)
        refused = None
        for number in range(4000):
            text = f"SELECT {number},{columns} FROM customer"
            raw.sendall(wire.message(b"P", f"s{number}\0{text}\0".encode() + b"\0\0") + wire.message(b"S"))
            refused = wire.errors(read_until_ready(raw))
            if refused:
                break
        assert [error["C"] for error in refused] == [OUT_OF_MEMORY]
        assert in_use(shop) < KEPT_BYTES + OTHERS_BYTES
        assert is_served(other)
        # What is no longer used makes room.
        raw.sendall(wire.message(b"Q", b"DEALLOCATE ALL\0"))
        assert wire.errors(read_until_ready(raw)) == []
        raw.sendall(wire.message(b"P", b"again\0SELECT ssn FROM customer\0\0\0") + wire.message(b"S"))
        assert wire.errors(read_until_ready(raw)) == []
        raw.close()
    assert is_served(other)


def test_temporary_views_of_one_session_are_no_matter_of_others(shop: Stack, other: psycopg.Connection) -> None:
    """More columns than are read of all protected tables and their views, and longer texts than a session may keep."""
    columns = ", ".join(f"ssn AS c{number}" for number in range(1600))
    with shop.direct() as direct:
        for number in range(126):
            direct.execute(f"CREATE TEMP VIEW wide{number} AS SELECT {columns} FROM customer")
        for number in range(20):
            direct.execute(
                f"CREATE TEMP VIEW long{number} AS SELECT ssn, repeat('x', 8) || '{'x' * 8_000_000}' FROM customer"
            )
        with shop.connect("app") as app:
            assert app.execute("SELECT ssn FROM customer").fetchall() == [(ADA[3],)]
        assert is_served(other)
