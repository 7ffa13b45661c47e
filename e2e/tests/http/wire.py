"""HTTP/1.1 by hand: requests in pieces, answers in pieces, and what a client's library would hide."""

import http.client
import json
import socket
from dataclasses import dataclass, field
from types import TracebackType

from harness.ports import LOOPBACK
from harness.waiting import patience
from tests.http.clients import Answer, content, joined

TIMEOUT_SECONDS = 30.0
END = b"\r\n\r\n"


class Broken(Exception):
    """The connection ended before the answer did."""


@dataclass
class Head:
    status: int
    headers: dict[str, str] = field(default_factory=dict)


class Wire:
    """One connection."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection((LOOPBACK, port), patience(TIMEOUT_SECONDS))
        self._came = b""
        # Of the last answer that was read whole.
        self.trailers: dict[str, str] = {}

    def __enter__(self) -> "Wire":
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.socket.close()

    def head(self, method: str, target: str, headers: dict[str, str] | list | None = None) -> None:
        """Request line and headers. A list may name one twice."""
        pairs = headers if isinstance(headers, list) else list((headers or {}).items())
        lines = [f"{method} {target} HTTP/1.1", "host: shop", *(f"{name}: {value}" for name, value in pairs)]
        self.send("\r\n".join(lines).encode() + END)

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def chunk(self, data: bytes | str) -> None:
        raw = data.encode() if isinstance(data, str) else data
        self.send(b"%x\r\n%s\r\n" % (len(raw), raw))

    def last_chunk(self, trailers: dict[str, str] | None = None) -> None:
        lines = "".join(f"{name}: {value}\r\n" for name, value in (trailers or {}).items())
        self.send(b"0\r\n" + lines.encode() + b"\r\n")

    def read_head(self) -> Head:
        while END not in self._came:
            self._more()
        raw, _, self._came = self._came.partition(END)
        status_line, *lines = raw.decode("latin-1").split("\r\n")
        return Head(int(status_line.split()[1]), joined([line.partition(": ")[::2] for line in lines]))

    def read_chunk(self) -> bytes:
        """The next chunk; empty for the last."""
        while b"\r\n" not in self._came:
            self._more()
        size, _, self._came = self._came.partition(b"\r\n")
        return self.read_exactly(int(size, 16) + 2)[:-2] if int(size, 16) else b""

    def read_exactly(self, size: int) -> bytes:
        while len(self._came) < size:
            self._more()
        data, self._came = self._came[:size], self._came[size:]
        return data

    def read_until(self, marks: bytes) -> bytes:
        """All chunks so far, until these bytes stand in them."""
        seen = b""
        while marks not in seen:
            chunk = self.read_chunk()
            if not chunk:
                raise Broken(seen)
            seen += chunk
        return seen

    def read_body(self, head: Head) -> bytes:
        """As the head says how long it is."""
        if "content-length" in head.headers:
            return self.read_exactly(int(head.headers["content-length"]))
        body = b""
        while chunk := self.read_chunk():
            body += chunk
        self.trailers = self._read_trailers()
        return body

    def _read_trailers(self) -> dict[str, str]:
        """What stands behind the last chunk."""
        while not (self._came.startswith(b"\r\n") or END in self._came):
            self._more()
        if self._came.startswith(b"\r\n"):
            self._came = self._came[2:]
            return {}
        raw, _, self._came = self._came.partition(END)
        return joined([line.partition(": ")[::2] for line in raw.decode("latin-1").split("\r\n")])

    def is_closed(self) -> bool:
        """Waits for the other side to end it."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def _more(self) -> None:
        try:
            data = self.socket.recv(1 << 16)
        except ConnectionResetError as reset:
            raise Broken(self._came) from reset
        if not data:
            raise Broken(self._came)
        self._came += data


def ask(
    port: int, method: str, target: str, body: object = None, headers: dict[str, str] | list | None = None
) -> Answer:
    """One exchange on a connection of its own; the target goes as it is, and nothing is added to the headers but what
    a body needs."""
    raw = content(body)
    pairs = list(headers.items()) if isinstance(headers, dict) else list(headers or [])
    names = {name.lower() for name, _ in pairs}
    if raw is not None and "content-type" not in names:
        pairs.append(("content-type", "application/json"))
    if raw is not None and "transfer-encoding" not in names:
        pairs.append(("content-length", str(len(raw))))
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=patience(TIMEOUT_SECONDS))
    try:
        connection.putrequest(method, target, skip_accept_encoding=True)
        for name, value in pairs:
            connection.putheader(name, value)
        connection.endheaders()
        if raw is not None:
            connection.send(raw)
        came = connection.getresponse()
        try:
            read, error = came.read(), ""
        except (http.client.HTTPException, OSError) as broke:
            read, error = getattr(broke, "partial", b""), repr(broke)
        return Answer(came.status, joined(came.getheaders()), read, error)
    finally:
        connection.close()


def dumped(what: object) -> str:
    """JSON without space, as a service would write it."""
    return json.dumps(what, separators=(",", ":"))
