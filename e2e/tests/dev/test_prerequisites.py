"""What set-up takes for a Go that can build everything."""

import os
from pathlib import Path

import pytest

from dev.setup import prerequisites


@pytest.mark.parametrize(
    ("version", "toolchain", "is_enough"),
    [
        ("go1.26.7", "local", True),
        ("go1.27rc1", "local", True),
        ("devel go1.28-0123abc", "local", True),
        ("go1.26.6", "local", False),
        ("go1.26.6", "auto", True),
        ("go1.21.0", "local+auto", True),
        ("go1.25.3", "path", False),
        ("go1.20.3", "", False),
    ],
)
def test_go_must_be_new_or_allowed_to_fetch_a_newer_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, toolchain: str, is_enough: bool
) -> None:
    go = tmp_path / "go"
    go.write_text(f"#!/bin/sh\necho '{version}'\necho '{toolchain}'\n")
    go.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    missing = prerequisites.missing(["go"])
    assert missing == ([] if is_enough else [f"missing: {prerequisites.HOW['go']}"])
