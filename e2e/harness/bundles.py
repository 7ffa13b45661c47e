"""Signed bundles of policies: a key to sign with, a way to pack them unchecked, and the server that OPA asks."""

import io
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from dev.layout import FIELDVEIL, OPA, OPA_CONFIG, POLICIES
from harness.policy_server import PolicyServer
from harness.process import PartFailed

NAME = "fieldveil"
KEY_ID = "policy"
SCOPE = "fieldveil"
# What a bundle owns: nothing outside these is touched when one takes another's place.
ROOTS = ("catalog", "fieldveil", "rules", "schemas", "system/log", "tokens")
# The folders of the library and of the example.
TOP = frozenset({"catalog", "fieldveil", "rules", "schemas", "system", "tokens"})
# OPA takes whole seconds.
POLL_SECONDS = 1


class SigningKey:
    """A key pair in two files: the private one is for the build alone, the public one for OPA."""

    def __init__(self, folder: Path, name: str = KEY_ID) -> None:
        # Of the key in OPA's configuration.
        self.name = name
        self.private = folder / f"{name}.pem"
        self.public = folder / f"{name}.pub.pem"
        key = ec.generate_private_key(ec.SECP256R1())
        pem, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
        descriptor = os.open(self.private, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(key.private_bytes(pem, form, serialization.NoEncryption()))
        self.public.write_bytes(key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo))


class Bundles:
    """What OPA needs to poll signed bundles: give it to a stack, which starts and stops the server."""

    def __init__(self, folder: Path) -> None:
        self.key = SigningKey(folder)
        # What `build` writes.
        self.out = folder / "fieldveil.tar.gz"
        self.server = PolicyServer()
        # Of OPA.
        self.config = OPA_CONFIG

    def build(self, *folders: Path, revision: str, key: SigningKey | None = None) -> bytes:
        """A bundle of what the folders have, by the command; if they have no library, with the command's own."""
        key = key or self.key
        words = ["--out", self.out, "--signing-key", key.private, "--key-id", key.name, "--revision", revision]
        done = subprocess.run(
            [FIELDVEIL, "policy", "build", *folders, *words], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise PartFailed(f"fieldveil policy build failed\n{done.stdout}{done.stderr}")
        return self.out.read_bytes()

    def publish(self, bundle: bytes | Path) -> None:
        """From now on the server gives this one out; a file as it is when it is asked for."""
        self.server.bundle = bundle

    def opa_options(self, state: Path) -> list[str | Path]:
        """The example's configuration, with the places of this run and a quicker poll."""
        settings = {
            "services.policy.url": self.server.url,
            f"bundles.{NAME}.polling.min_delay_seconds": POLL_SECONDS,
            f"bundles.{NAME}.polling.max_delay_seconds": POLL_SECONDS,
            "persistence_directory": state,
            "decision_logs.service": "policy",
            "decision_logs.reporting.min_delay_seconds": POLL_SECONDS,
            "decision_logs.reporting.max_delay_seconds": POLL_SECONDS,
        }
        overlaid = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
        key = f"keys.{self.key.name}.key={self.key.public}"
        return ["--config-file", self.config, *overlaid, "--set-file", key, POLICIES / "system"]


def pack(*folders: Path, revision: str, key: SigningKey | None, scope: str = SCOPE, key_id: str = KEY_ID) -> bytes:
    """A bundle of what the folders have, whatever is wrong with it: `fieldveil policy build` would look first."""
    with tempfile.TemporaryDirectory() as scratch:
        bundle = Path(scratch) / "bundle"
        for folder in folders:
            shutil.copytree(folder, bundle, dirs_exist_ok=True, ignore=left_out)
        (bundle / ".manifest").write_text(json.dumps({"revision": revision, "roots": ROOTS, "rego_version": 1}))
        if key is not None:
            claims = Path(scratch) / "claims.json"
            claims.write_text(json.dumps({"scope": scope, "keyid": key_id}))
            _sign(bundle, key.private, claims)
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            for file in sorted(path for path in bundle.rglob("*") if path.is_file()):
                archive.add(file, arcname=str(file.relative_to(bundle)))
    return packed.getvalue()


def left_out(folder: str, names: list[str]) -> set[str]:
    tests = {name for name in names if name.endswith(("_test.rego", ".md"))}
    others = {name for name in names if name not in TOP} if Path(folder) == POLICIES else set()
    return tests | others


def _sign(folder: Path, key: Path, claims: Path) -> None:
    command = [OPA, "sign", "--bundle", "--signing-alg", "ES256", "--signing-key", key, "--claims-file", claims, "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise PartFailed(f"opa sign failed\n{done.stdout}{done.stderr}")
