"""Open Policy Agent on a Unix socket, with the project's policies."""

from pathlib import Path

from harness import unixhttp
from harness.process import Process
from harness.workdir import WorkDir
from tools.layout import OPA, POLICIES


class Opa:
    def __init__(self, work: WorkDir, extra: tuple[Path, ...] = ()) -> None:
        self._extra = extra
        self.socket = work.socket("opa.sock")
        self.process = Process("opa", work.log("opa"))

    def start(self) -> None:
        # A stopped OPA may leave its socket, and refuses to bind where one is.
        self.socket.unlink(missing_ok=True)
        command = [
            OPA, "run", "--server", "--addr", f"unix://{self.socket}", "--log-format", "json",
            "--set", "decision_logs.console=true", "--ignore", "*_test.rego", "--disable-telemetry",
            POLICIES, *self._extra,
        ]  # fmt: skip
        self.process.start(command)
        self.process.wait_until(lambda: unixhttp.is_ok(self.socket, "/health"))

    def stop(self) -> None:
        self.process.stop()
