"""Open Policy Agent on a Unix socket: with the project's policies as a folder, or with bundles that it polls."""

import json
from pathlib import Path

from dev.layout import OPA, POLICIES
from harness import unixhttp
from harness.bundles import Bundles
from harness.process import Process
from harness.workdir import WorkDir


class Opa:
    def __init__(self, work: WorkDir, extra: tuple[Path, ...] = (), bundles: Bundles | None = None) -> None:
        self._extra = extra
        self._bundles = bundles
        # Where it keeps the last good bundle.
        self.state = work.path / "opa"
        self.socket = work.socket("opa.sock")
        self.process = Process("opa", work.log("opa"))

    def start(self, *options: str, until: str = "/health?bundles") -> None:
        """With more options of OPA; until `until` answers 200."""
        # A stopped OPA may leave its socket, and refuses to bind where one is.
        self.socket.unlink(missing_ok=True)
        command = [
            OPA, "run", "--server", "--addr", f"unix://{self.socket}", "--log-format", "json",
            "--ignore", "*_test.rego", "--ignore", "contract", "--ignore", "starter", "--disable-telemetry",
            *self._policies(), *options,
        ]  # fmt: skip
        self.process.start(command)
        self.process.wait_until(lambda: unixhttp.is_ok(self.socket, until))

    def stop(self) -> None:
        self.process.stop()

    def data(self, path: str, document: dict | None = None) -> object:
        """What `data.<path>` is for an input; None where it is undefined."""
        body = json.dumps({} if document is None else {"input": document}).encode()
        answer = unixhttp.request(self.socket, "POST", f"/v1/data/{path}", body)[2]
        return json.loads(answer).get("result")

    def metrics(self, name: str) -> dict[str, float]:
        """All series of a metric: what stands between the braces, and the value."""
        lines = unixhttp.request(self.socket, "GET", "/metrics")[2].decode().splitlines()
        series = (line.removeprefix(name).rpartition(" ") for line in lines if line.startswith(f"{name}{{"))
        return {labels.strip("{}"): float(value) for labels, _, value in series}

    def log(self) -> list[dict]:
        """Every line so far. The last may be one that it is writing now."""
        lines = self.process.log.read_text(errors="replace").splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("\n")]

    def decisions(self) -> list[dict]:
        """The decision logs on its console."""
        return [line for line in self.log() if line.get("msg") == "Decision Log"]

    def _policies(self) -> list[str | Path]:
        if self._bundles is not None:
            return self._bundles.opa_options(self.state)
        return ["--set", "decision_logs.console=true", POLICIES, *self._extra]
