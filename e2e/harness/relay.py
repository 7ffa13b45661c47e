"""Passes bytes between Envoy and PostgreSQL and keeps a copy: what the server really gets to see."""

import contextlib
import socket
import threading
from dataclasses import dataclass, field
from pathlib import Path

from harness.ports import LOOPBACK, free_port

CHUNK = 65536


@dataclass
class Recording:
    """One connection's bytes, in the order they passed."""

    to_server: bytearray = field(default_factory=bytearray)
    to_client: bytearray = field(default_factory=bytearray)


class Relay:
    def __init__(self, listen: Path, server: Path) -> None:
        self.socket = listen
        self._server = server
        self._listener: socket.socket | None = None
        self._open: list[socket.socket] = []
        # Of connections since the last forget(), and of those that were open then.
        self.recordings: list[Recording] = []
        self._older: list[Recording] = []

    def start(self) -> None:
        self._listener = self._listen()
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def stop(self) -> None:
        if self._listener is None:
            return
        for end in (self._listener, *self._open):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        self._listener = None
        self._open.clear()

    def forget(self) -> None:
        """Drops what was recorded. Connections that are open go on being recorded."""
        self._older += self.recordings
        self.recordings = []
        for recording in self._older:
            recording.to_server.clear()
            recording.to_client.clear()

    def to_server(self) -> bytes:
        """What all connections, older ones too, sent to the server since the last forget()."""
        return b"".join(bytes(recording.to_server) for recording in (*self._older, *self.recordings))

    def _listen(self) -> socket.socket:
        self.socket.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(self.socket))
        listener.listen(64)
        return listener

    def _connect(self) -> socket.socket:
        server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        server.connect(str(self._server))
        return server

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            try:
                server = self._connect()
            except OSError:
                client.close()
                continue
            recording = Recording()
            self.recordings.append(recording)
            self._open += [client, server]
            threading.Thread(target=self._serve, args=(client, server, recording), daemon=True).start()

    def _serve(self, client: socket.socket, server: socket.socket, recording: Recording) -> None:
        other = threading.Thread(target=_pass, args=(server, client, recording.to_client), daemon=True)
        other.start()
        _pass(client, server, recording.to_server)
        other.join()
        for end in (client, server):
            end.close()
            with contextlib.suppress(ValueError):  # stopped meanwhile
                self._open.remove(end)


class TcpRelay(Relay):
    """The same between two loopback ports; its own is one of the system's choice."""

    def __init__(self, server_port: int) -> None:
        super().__init__(Path(), Path())
        self.port = free_port()
        self._server_port = server_port

    def _listen(self) -> socket.socket:
        return socket.create_server((LOOPBACK, self.port))

    def _connect(self) -> socket.socket:
        return socket.create_connection((LOOPBACK, self._server_port))


def _pass(source: socket.socket, target: socket.socket, copy: bytearray) -> None:
    # A close on either side reaches the other as one.
    with contextlib.suppress(OSError):
        while chunk := source.recv(CHUNK):
            copy += chunk
            target.sendall(chunk)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
