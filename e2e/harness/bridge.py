"""`fieldveil bridge`: what begins TLS within a database's protocol, with a server or with clients."""

from pathlib import Path
from typing import Protocol, Self

from dev.layout import FIELDVEIL
from harness.certificates import SERVER_NAME, Certificates
from harness.envoy import LOOPBACK, Upstream
from harness.ports import free_port
from harness.process import Process
from harness.sidecar import Sidecar
from harness.workdir import WorkDir


class Bridge:
    """To a server at a loopback port, whose certificate is for `SERVER_NAME`."""

    def __init__(self, work: WorkDir, name: str, protocol: str, port: int, ca: Path, *options: str | Path) -> None:
        self.socket = work.socket(f"{name}.sock")
        self.process = Process(name, work.log(name))
        self._command = [
            FIELDVEIL, "bridge", "--protocol", protocol, "--listen", self.socket, "--server", f"{LOOPBACK}:{port}",
            "--server-name", SERVER_NAME, "--ca", ca, *options,
        ]  # fmt: skip

    @property
    def upstream(self) -> Upstream:
        """As Envoy reaches it."""
        return Upstream(self.socket)

    def start(self) -> None:
        self.process.start(self._command)
        # The socket is there a moment before anybody listens on it.
        self.process.wait_until(lambda: '"serving"' in self.process.log.read_text())

    def stop(self) -> None:
        self.process.stop()


class ClientBridge:
    """From clients, who reach it as `localhost` at its port, to the Unix socket of Envoy's listener."""

    def __init__(
        self, work: WorkDir, name: str, protocol: str, envoy: Path, shown: Certificates, *options: str | Path
    ) -> None:
        self.port = free_port()
        self.process = Process(name, work.log(name))
        self._command = [
            FIELDVEIL, "bridge", "from-clients", "--protocol", protocol, "--listen", f"{LOOPBACK}:{self.port}",
            "--envoy", envoy, "--certificate", shown.gateway, "--key", shown.gateway_key, *options,
        ]  # fmt: skip

    def start(self) -> None:
        self.process.start(self._command)
        self.process.wait_until(lambda: '"serving"' in self.process.log.read_text())

    def stop(self) -> None:
        self.process.stop()


class Part(Protocol):
    """What runs beside a stack."""

    def start(self) -> None: ...
    def stop(self) -> None: ...


class Bridged:
    """A stack, and the bridges and relays on its ways, which start and stop with it."""

    def __init__(self, stack: Sidecar, *parts: Part) -> None:
        self.stack = stack
        self.parts = parts

    def start(self) -> Self:
        try:
            for part in self.parts:
                part.start()
            self.stack.start()
            self.prepare()
        except BaseException:
            self.stop()
            raise
        return self

    def prepare(self) -> None:
        """What has to be done when all of it runs."""

    def stop(self) -> None:
        for part in self.parts:
            part.stop()
        self.stack.stop()
