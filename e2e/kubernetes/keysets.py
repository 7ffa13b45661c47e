"""Encrypted keysets in a Secret, wrapped by a development key-encryption key or by a KMS's."""

import base64
import os
import subprocess
import tempfile
from pathlib import Path

from dev.layout import FIELDVEIL
from harness.process import PartFailed
from kubernetes.namespace import Namespace

KEK_FILE = "kek.json"


class Keysets:
    """The Secret is made of a folder, which is the operator's: `keys` works on it, `publish` puts it in the cluster."""

    def __init__(
        self,
        namespace: Namespace,
        name: str = "keysets",
        *,
        kek_uri: str | None = None,
        environment: dict[str, str] | None = None,
    ) -> None:
        """With a KMS: its key URI, and what the command finds it with from here."""
        self.name = name
        self.kek_name = f"{name}-dev-kek"
        self._namespace = namespace
        self._environment = environment or {}
        self._scratch = tempfile.TemporaryDirectory(prefix="fieldveil-keysets-")
        self.folder = Path(self._scratch.name) / "keysets"
        self.folder.mkdir()
        self._kek = Path(self._scratch.name) / KEK_FILE
        self._is_dev = kek_uri is None
        self.kek_uri = kek_uri or f"insecure-dev-kek://{self._kek}"
        if self._is_dev:
            self._fieldveil("keys", "create-insecure-dev-kek", "--out", self._kek)

    @property
    def values(self) -> dict:
        """Of the chart: `sidecar.keys`. A KMS's own come from what it is."""
        values = {"keysets": {"secret": self.name}, "refresh": "1s"}
        if self._is_dev:
            return {**values, "insecureDevKek": {"secret": self.kek_name, "key": KEK_FILE}}
        return {**values, "kekUri": self.kek_uri}

    def create(self, *names: str) -> None:
        """Makes keysets, and puts all of them into the cluster."""
        for name in names:
            self.keys("create", name)
        self.publish()

    def keys(self, command: str, *words: str | Path) -> str:
        """`fieldveil keys COMMAND …` on the folder alone: `publish` after it."""
        return self._fieldveil("keys", command, *words, "--keysets", self.folder, "--kek-uri", self.kek_uri)

    def publish(self) -> None:
        files = {file.name: file.read_bytes() for file in self.folder.iterdir() if file.suffix == ".json"}
        secrets = [_secret(self.name, files)]
        if self._is_dev:
            secrets.append(_secret(self.kek_name, {KEK_FILE: self._kek.read_bytes()}))
        self._namespace.apply(*secrets)

    def _fieldveil(self, *words: str | Path) -> str:
        environment = {**os.environ, **self._environment}
        done = subprocess.run([FIELDVEIL, *words], capture_output=True, text=True, check=False, env=environment)
        if done.returncode != 0:
            raise PartFailed(f"fieldveil {' '.join(map(str, words))} failed\n{done.stdout}{done.stderr}")
        return done.stdout


def _secret(name: str, files: dict[str, bytes]) -> dict:
    data = {file: base64.b64encode(content).decode() for file, content in files.items()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": data}
