"""The key agent, and the keysets it opens, wrapped by a development key-encryption key or by a KMS's."""

import json
import os
import subprocess
from pathlib import Path

from dev.layout import FIELDVEIL
from harness import unixhttp
from harness.kms import Kms
from harness.process import PartFailed, Process
from harness.workdir import WorkDir

# Tests wait for a refresh.
REFRESH = "1s"


class Agent:
    def __init__(self, work: WorkDir, kms: Kms | None = None) -> None:
        self.keysets = work.path / "keysets"
        self.kek = work.path / "kek.json"
        self._kms = kms
        self.socket = work.socket("agent.sock")
        self.process = Process("agent", work.log("agent"))

    @property
    def kek_uri(self) -> str:
        return self._kms.kek_uri if self._kms else f"insecure-dev-kek://{self.kek}"

    @property
    def environment(self) -> dict[str, str]:
        """What the commands find the KMS with."""
        return self._kms.environment if self._kms else {}

    def create_kek(self) -> None:
        if self._kms is None:
            self._fieldveil("keys", "create-insecure-dev-kek", "--out", self.kek)
        self.keysets.mkdir(exist_ok=True)

    def create_keyset(self, name: str) -> None:
        self.keys("create", name)

    def keys(self, command: str, *words: str | Path) -> str:
        """`fieldveil keys COMMAND …` on these keysets."""
        return self._fieldveil("keys", command, *words, "--keysets", self.keysets, "--kek-uri", self.kek_uri)

    def start(self, *options: str, until: str = "/readyz") -> None:
        """With more options of the agent; until `until` answers 200."""
        self.launch(*options)
        self.process.wait_until(lambda: unixhttp.is_ok(self.socket, until))

    def launch(self, *options: str) -> None:
        """Starts it, and waits for nothing."""
        command = [
            FIELDVEIL, "agent", "--keysets", self.keysets, "--socket", self.socket,
            "--kek-uri", self.kek_uri, "--refresh", REFRESH, *options,
        ]  # fmt: skip
        self.process.start(command, env=self.environment)

    def readiness(self) -> tuple[int, dict]:
        """What `/readyz` answers now."""
        status, _, body = unixhttp.request(self.socket, "GET", "/readyz")
        return status, json.loads(body)

    def metric(self, series: str) -> float:
        """A metric's value now; its labels, if any, as Prometheus writes them."""
        lines = unixhttp.request(self.socket, "GET", "/metrics")[2].decode().splitlines()
        (value,) = [line.rpartition(" ")[2] for line in lines if line.rpartition(" ")[0] == f"fieldveil_agent_{series}"]
        return float(value)

    def stop(self) -> None:
        self.process.stop()

    def _fieldveil(self, *words: str | Path) -> str:
        environment = {**os.environ, **self.environment}
        done = subprocess.run([FIELDVEIL, *words], capture_output=True, text=True, check=False, env=environment)
        if done.returncode != 0:
            raise PartFailed(f"fieldveil {' '.join(map(str, words))} failed\n{done.stdout}{done.stderr}")
        return done.stdout
