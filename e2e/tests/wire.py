"""As much of the protocol as a rude client needs: raw messages out, raw messages in."""

import os
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import psycopg

from harness.waiting import patience

# Longer than any answer takes, shorter than a test's patience; on a machine that does nothing else.
TIMEOUT_SECONDS = 20.0
PROTOCOL_3_0 = 3 << 16


def timeout() -> float:
    return patience(TIMEOUT_SECONDS)


def open_socket(path: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(timeout())
    connection.connect(str(path))
    return connection


def of_session(connection: psycopg.Connection) -> socket.socket:
    """The socket of a session that a driver has authenticated; the driver must not use it any more."""
    raw = socket.socket(fileno=os.dup(connection.pgconn.socket))
    raw.settimeout(timeout())
    return raw


def startup(user: str, database: str, **parameters: str) -> bytes:
    pairs = {"user": user, "database": database, **parameters}
    body = b"".join(name.encode() + b"\0" + value.encode() + b"\0" for name, value in pairs.items()) + b"\0"
    return struct.pack("!ii", 8 + len(body), PROTOCOL_3_0) + body


def message(tag: bytes, body: bytes = b"") -> bytes:
    return tag + struct.pack("!i", 4 + len(body)) + body


def query(text: str) -> bytes:
    return message(b"Q", text.encode() + b"\0")


def messages(stream: bytes, *, startup_first: bool = False) -> Iterator[bytes]:
    """Cuts recorded bytes into whole messages, each with its tag and length."""
    position = 0
    if startup_first:
        position = struct.unpack_from("!i", stream)[0]
        yield stream[:position]
    while position < len(stream):
        end = position + 1 + struct.unpack_from("!i", stream, position + 1)[0]
        yield stream[position:end]
        position = end


def read_exactly(connection: socket.socket, size: int) -> bytes:
    received = bytearray()
    while len(received) < size:
        chunk = connection.recv(size - len(received))
        if not chunk:
            raise EOFError(f"{len(received)} of {size} bytes")
        received += chunk
    return bytes(received)


def read_to_end(connection: socket.socket) -> bytes:
    """Everything until the peer closes."""
    received = bytearray()
    try:
        while chunk := connection.recv(65536):
            received += chunk
    except ConnectionResetError:
        pass
    return bytes(received)


def errors(stream: bytes) -> list[dict[str, str]]:
    """The fields of each ErrorResponse, by their one-letter codes."""
    found = []
    for one in messages(stream):
        if one[:1] == b"E":
            fields = [field for field in one[5:].split(b"\0") if field]
            found.append({chr(field[0]): field[1:].decode() for field in fields})
    return found
