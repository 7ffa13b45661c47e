"""Memory of `fieldveil bridge` for sessions that do nothing: thousands of them, behind or before a peer within TLS."""

import contextlib
import resource
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

from harness.bridge import Bridge, ClientBridge
from harness.certificates import Certificates
from harness.envoy import LOOPBACK
from harness.workdir import WorkDir
from loadtests.figures import number
from loadtests.results import Table

KIB = 1 << 10
MIB = 1 << 20
MOST = 10_000
# Descriptors beside those of the sessions, of which each has two here and two in the bridge.
SPARE = 200
PROTOCOL = struct.pack("!I", 3 << 16)
SSL_REQUEST = struct.pack("!II", 8, 80_877_103)
STARTUP = struct.pack("!I", 8 + len(b"user\0app\0\0")) + PROTOCOL + b"user\0app\0\0"
# AuthenticationOk, from where a bridge moves bytes.
ADMITTED = b"R" + struct.pack("!II", 8, 0)
TITLE = "Memory of a bridge with idle sessions"
NOTE = (
    "Sessions of PostgreSQL's protocol within TLS 1.3 that have begun and do nothing. KiB are those that the process "
    "has more than before the first of them, divided by their number."
)


def table(work: WorkDir, most: int = MOST) -> Table:
    """A line a leg."""
    count = min(most, (_raise_limit() - SPARE) // 2)
    certificates = Certificates(work.path / "idle-certificates")
    rows, values = [], {}
    for leg, measure in (("to the server", _to_server), ("from clients", _from_clients)):
        before, after = measure(work, certificates, count)
        each = (after - before) / count / KIB
        rows.append([leg, f"{count:,}", number(before / MIB), number(after / MIB), number(each)])
        values[leg] = {"KiB": each}
    columns = ["leg", "sessions", "MiB before", "MiB with them", "KiB a session"]
    return Table(TITLE, columns, rows, NOTE, values, "KiB a session")


def _raise_limit() -> int:
    """Descriptors that this process and what it starts may have."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def _to_server(work: WorkDir, certificates: Certificates, count: int) -> tuple[int, int]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificates.server, certificates.server_key)
    context.num_tickets = 0  # as PostgreSQL's

    def server(accepted: socket.socket) -> socket.socket:
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _expect(accepted, SSL_REQUEST)
        accepted.sendall(b"S")
        return _admit(context.wrap_socket(accepted, server_side=True))

    with socket.create_server((LOOPBACK, 0), backlog=64) as listener:
        port = listener.getsockname()[1]
        bridge = Bridge(work, "idle-to-server", "postgres", port, certificates.ca, *_options(count))
        with _answering(listener, server, count):
            return _measured(bridge, count, lambda: _unix(bridge.socket))


def _from_clients(work: WorkDir, certificates: Certificates, count: int) -> tuple[int, int]:
    context = ssl.create_default_context(cafile=certificates.ca)

    def client(port: int) -> socket.socket:
        plain = socket.create_connection((LOOPBACK, port))
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        plain.sendall(SSL_REQUEST)
        _expect(plain, b"S")
        return context.wrap_socket(plain, server_hostname="localhost")

    path = work.socket("idle-envoy.sock")
    options = ("--proxy-protocol=false", *_options(count))
    bridge = ClientBridge(work, "idle-from-clients", "postgres", path, certificates, *options)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(64)
        with _answering(listener, _admit, count):
            return _measured(bridge, count, lambda: client(bridge.port))


def _options(count: int) -> tuple[str, ...]:
    return "--max-connections", str(count), "--drain-timeout", "100ms"


def _measured(bridge: Bridge | ClientBridge, count: int, connect: Callable[[], socket.socket]) -> tuple[int, int]:
    """What a bridge has before it has a session, and with so many."""
    bridge.start()
    try:
        process = psutil.Process(bridge.process.pid)
        before = process.memory_info().rss
        with contextlib.ExitStack() as held:
            for _ in range(count):
                session = held.enter_context(connect())
                session.sendall(STARTUP)
                _expect(session, ADMITTED)
            return before, process.memory_info().rss
    finally:
        bridge.stop()


@contextlib.contextmanager
def _answering(listener: socket.socket, answer: Callable[[socket.socket], socket.socket], count: int) -> Iterator[None]:
    """What stands behind the bridge: it lets so many sessions in, one by one, and holds them."""
    held: list[socket.socket] = []

    def run() -> None:
        with contextlib.suppress(OSError):
            held.extend(answer(listener.accept()[0]) for _ in range(count))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
        for session in held:
            session.close()


def _admit(session: socket.socket) -> socket.socket:
    _expect(session, STARTUP)
    session.sendall(ADMITTED)
    return session


def _unix(path: Path) -> socket.socket:
    client = socket.socket(socket.AF_UNIX)
    client.connect(str(path))
    return client


def _expect(session: socket.socket, wanted: bytes) -> None:
    found = b""
    while len(found) < len(wanted) and (more := session.recv(len(wanted) - len(found))):
        found += more
    if found != wanted:
        raise ConnectionError(f"{len(found)} bytes came that are not the protocol's")
