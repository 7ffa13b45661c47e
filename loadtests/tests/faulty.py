"""A proxy that seals and opens without keys, as the filter would: and does so wrongly where a test says so."""

import base64
import re
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from harness import unixhttp
from loadtests.bodies import VALUE

ENVELOPE = re.compile(rb'"fv1\.[A-Za-z0-9_-]+"')
Change = Callable[[bytes], bytes]


def seal(body: bytes) -> bytes:
    return VALUE.sub(lambda found: b'"fv1.' + base64.urlsafe_b64encode(found[0]).rstrip(b"=") + b'"', body)


def open_(body: bytes) -> bytes:
    def opened(found: re.Match[bytes]) -> bytes:
        text = found[0][len(b'"fv1.') : -1]
        return base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4))

    return ENVELOPE.sub(opened, body)


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


@contextmanager
def proxy(
    socket: Path,
    service: Path,
    *,
    request: Change = seal,
    response: Change = open_,
    twice: bool = False,
    status: int | None = None,
) -> Iterator[Path]:
    """`twice`: what is sent is sent on two times. `status`: that of every answer to GET, whatever the service says."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Head and body would wait for each other.
        wbufsize = -1

        def do_GET(self) -> None:
            told, headers, body = unixhttp.request(service, "GET", self.path)
            self._answer(status or told, headers, body, response)

        def do_POST(self) -> None:
            body = request(self.rfile.read(int(self.headers["content-length"])))
            for _ in range(2 if twice else 1):
                answer = unixhttp.request(service, "POST", self.path, body)
            self._answer(*answer, lambda look: look)

        def _answer(self, status: int, headers: dict[str, str], body: bytes, change: Change) -> None:
            changed = change(body)
            self.send_response(status)
            self.send_header("content-length", str(len(changed)))
            self.end_headers()
            self.wfile.write(changed)

        def address_string(self) -> str:
            return "client"

        def log_message(self, *_: object) -> None:
            pass

    server = _Server(str(socket), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield socket
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        socket.unlink()
