"""`fieldveil bridge`: what begins TLS with a server within its protocol."""

from pathlib import Path

from dev.layout import FIELDVEIL
from harness.certificates import SERVER_NAME
from harness.envoy import LOOPBACK, Upstream
from harness.process import Process
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
        self.process.wait_until(self.socket.exists)

    def stop(self) -> None:
        self.process.stop()
