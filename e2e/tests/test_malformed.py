"""Broken bytes end their own connection with 08P01, and nobody else's."""

import struct

import psycopg
import pytest

from harness import Stack
from tests import wire
from tests.rows import ADA, INSERT


@pytest.fixture
def other(shop: Stack):
    """A session that lives through whatever the rude one does."""
    with shop.connect("app") as app:
        app.execute(INSERT, ADA)
        pid = shop.envoy.process.pid
        yield app
        assert app.execute("SELECT ssn FROM customer").fetchone() == (ADA[3],)
        assert shop.envoy.process.running
        assert shop.envoy.process.pid == pid


HUGE = 0x7FFFFFFF
IN_SESSION = {
    "a length below its own size": b"Q" + struct.pack("!i", 3),
    "a negative length": b"Q" + struct.pack("!i", -1),
    "a length beyond the limit": b"Q" + struct.pack("!i", HUGE) + b"x" * 100,
    "a tag that does not exist": wire.message(b"\xff", b"what"),
    "a query without its NUL": wire.message(b"Q", b"SELECT 1"),
    "a query with bytes behind its NUL": wire.message(b"Q", b"SELECT 1\0more"),
    "a Parse that ends in its counts": wire.message(b"P", b"\0SELECT 1\0\0"),
    "a Parse with more types than bytes": wire.message(b"P", b"\0SELECT 1\0" + struct.pack("!h", 99)),
    "a Bind with a value longer than itself": wire.message(
        b"B", b"\0\0" + struct.pack("!hhi", 0, 1, HUGE) + b"short" + struct.pack("!h", 0)
    ),
    "a Bind with a negative count": wire.message(b"B", b"\0\0" + struct.pack("!hh", 0, -1)),
    "a Bind with a format of its own": wire.message(b"B", b"\0\0" + struct.pack("!hhhh", 1, 7, 0, 0)),
    "a Describe of neither": wire.message(b"D", b"Xname\0"),
    "a Close without a name": wire.message(b"C", b"S"),
    "an Execute cut short": wire.message(b"E", b"\0\0"),
}


@pytest.mark.parametrize("what", IN_SESSION)
def test_malformed_message_ends_its_connection(shop: Stack, other, what: str) -> None:
    rude = shop.connect("app")
    raw = wire.of_session(rude)
    raw.sendall(IN_SESSION[what])
    answered = wire.errors(wire.read_to_end(raw))
    assert [error["C"] for error in answered] == ["08P01"]
    raw.close()
    rude.close()


def test_sync_with_a_body_is_the_servers_to_refuse(shop: Stack, other) -> None:
    """It carries nothing to protect, so it passes as it is; the server answers it and goes on."""
    rude = shop.connect("app")
    raw = wire.of_session(rude)
    raw.sendall(wire.message(b"S", b"body") + wire.message(b"Q", b"SELECT ssn FROM customer\0"))
    received = b""
    while received.count(wire.message(b"Z", b"I")) < 2:
        received += raw.recv(4096)
    assert [error["C"] for error in wire.errors(received)] == ["08P01"]
    assert ADA[3].encode() in received
    raw.close()
    rude.close()


BEFORE_SESSION = {
    "a length of nothing": struct.pack("!i", 0),
    "a length beyond the limit": struct.pack("!ii", 100_000, wire.PROTOCOL_3_0),
    "parameters without an end": struct.pack("!ii", 13, wire.PROTOCOL_3_0) + b"user\0",
    "a name without a value": struct.pack("!ii", 14, wire.PROTOCOL_3_0) + b"user\0\0",
    "HTTP": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "names that are no UTF-8": wire.startup("app", "shop").replace(b"shop", b"s\xffop"),
}


@pytest.mark.parametrize("what", BEFORE_SESSION)
def test_malformed_startup_ends_its_connection(shop: Stack, other, what: str) -> None:
    with wire.open_socket(shop.envoy_socket) as raw:
        raw.sendall(BEFORE_SESSION[what])
        answer = wire.read_to_end(raw)
    # The server may close without a word on what is not its protocol at all.
    assert all(error["C"] == "08P01" for error in wire.errors(answer))


def test_truncated_message_and_a_close_leave_nothing_behind(shop: Stack, other) -> None:
    whole = wire.message(b"Q", b"INSERT INTO customer (id, ssn) VALUES (99, 'half')\0")
    for cut in range(1, len(whole), 7):
        rude = shop.connect("app")
        raw = wire.of_session(rude)
        raw.sendall(whole[:cut])
        raw.close()
        rude.close()
    assert other.execute("SELECT count(*) FROM customer").fetchone() == (1,)
    assert b"half" not in shop.relay.to_server()


def test_message_split_at_every_byte_is_whole(shop: Stack, other) -> None:
    rude = shop.connect("app")
    raw = wire.of_session(rude)
    for byte in wire.message(b"Q", b"SELECT ssn FROM customer WHERE ssn = '078-05-1120'\0"):
        raw.sendall(bytes([byte]))
    received = b""
    while not received.endswith(wire.message(b"Z", b"I")):
        received += raw.recv(4096)
    assert ADA[3].encode() in received
    raw.close()
    rude.close()


def test_many_sessions_live_at_once(shop: Stack, other) -> None:
    sessions = [shop.connect("app") for _ in range(30)]
    cursors = [session.execute("SELECT ssn FROM customer WHERE ssn = %s", [ADA[3]]) for session in sessions]
    assert all(cursor.fetchone() == (ADA[3],) for cursor in cursors)
    for session in sessions:
        session.close()
    with pytest.raises(psycopg.OperationalError):
        sessions[0].execute("SELECT 1")
