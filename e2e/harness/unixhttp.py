"""HTTP over a Unix socket, with the standard library."""

import http.client
import socket
from pathlib import Path

from harness.waiting import patience

# What answers later hangs.
TIMEOUT_SECONDS = 20.0


class _Connection(http.client.HTTPConnection):
    def __init__(self, path: Path, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


def request(
    path: Path,
    method: str,
    target: str,
    body: bytes | None = None,
    headers: dict[str, str] | None = None,
    *,
    timeout: float | None = None,
) -> tuple[int, dict[str, str], bytes]:
    """Status, headers (lower-case names) and body of one exchange."""
    connection = _Connection(path, timeout or patience(TIMEOUT_SECONDS))
    try:
        connection.request(method, target, body=body, headers=headers or {})
        response = connection.getresponse()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
    finally:
        connection.close()


def is_ok(path: Path, target: str) -> bool:
    """Whether `GET target` answers 200 now; any failure to connect is a no."""
    try:
        return request(path, "GET", target)[0] == 200
    except (OSError, http.client.HTTPException):
        return False
