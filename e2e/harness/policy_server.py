"""Where OPA gets its bundle and sends its decisions: one file over HTTP with an ETag, and what was asked and sent."""

import contextlib
import gzip
import hashlib
import json
import socket
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from harness.ports import LOOPBACK

RESOURCE = "/fieldveil.tar.gz"


@dataclass
class Served:
    """How often the bundle was sent, and how often OPA had it already."""

    whole: int = 0
    unchanged: int = 0


class PolicyServer:
    """Keeps its port while it is away, so that nobody else comes by it."""

    def __init__(self) -> None:
        self.bundle: bytes | Path | None = None
        self.served = Served()
        # What OPA sent to /logs: one decision each.
        self.decisions: list[dict] = []
        self._held = _bound(0)
        self.port = self._held.getsockname()[1]
        self._server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    def start(self) -> None:
        """Harmless when it is there already."""
        if self._server is not None:
            return
        self._server = ThreadingHTTPServer((LOOPBACK, self.port), _handler(self), bind_and_activate=False)
        self._server.daemon_threads = True
        self._server.socket.close()
        self._server.socket = self._held
        self._server.server_activate()
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def stop(self) -> None:
        """From now on every connection is refused."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None
            with contextlib.suppress(OSError):
                self._held = _bound(self.port)


def _bound(port: int) -> socket.socket:
    """Not listening: the system refuses who connects, and gives the port to nobody."""
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind((LOOPBACK, port))
    return held


def _handler(server: PolicyServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            bundle = server.bundle.read_bytes() if isinstance(server.bundle, Path) else server.bundle
            if self.path != RESOURCE or bundle is None:
                self._answer(404)
                return
            etag = f'"{hashlib.sha256(bundle).hexdigest()}"'
            if etag in self.headers.get("If-None-Match", ""):
                server.served.unchanged += 1
                self._answer(304, etag=etag)
            else:
                server.served.whole += 1
                self._answer(200, bundle, etag)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            if self.path == "/logs":
                server.decisions += json.loads(body)
            self._answer(200 if self.path in ("/logs", "/status") else 404)

        def _answer(self, status: int, body: bytes = b"", etag: str | None = None) -> None:
            self.send_response(status)
            if etag is not None:
                self.send_header("ETag", etag)
            self.send_header("Content-Length", str(len(body)))
            # A connection that stays would be answered though the server is away.
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler
