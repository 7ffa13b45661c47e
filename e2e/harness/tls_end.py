"""Ends TLS before a server that takes none from the first byte: what stands on the server's machine for that."""

import contextlib
import socket
import ssl
import threading
from pathlib import Path

from harness.certificates import Certificates
from harness.ports import LOOPBACK

CHUNK = 65536


class TlsEnd:
    """Listens on a loopback port of the system's choice, and passes what was said in TLS to a Unix socket."""

    def __init__(self, certificates: Certificates, server: Path) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        # Of PostgreSQL; who asks for none gets none.
        self._context.set_alpn_protocols(["postgresql"])
        self._context.load_cert_chain(certificates.server, certificates.server_key)
        self._server = server
        self._listener = socket.create_server((LOOPBACK, 0))
        self.port = self._listener.getsockname()[1]
        # How many came in by TLS.
        self.accepted = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def stop(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                raw, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(raw,), daemon=True).start()

    def _serve(self, raw: socket.socket) -> None:
        with contextlib.suppress(OSError), self._context.wrap_socket(raw, server_side=True) as client:
            self.accepted += 1
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
                server.connect(str(self._server))
                threading.Thread(target=_pass, args=(server, client), daemon=True).start()
                _pass(client, server)


def _pass(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while chunk := source.recv(CHUNK):
            target.sendall(chunk)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)
