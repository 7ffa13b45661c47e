"""The guide for newcomers, command by command, in a copy of the checkout."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from dev.layout import ROOT, TOOLS
from harness.workdir import WorkDir

GUIDE = ROOT / "docs" / "start" / "policy-guide.md"
BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What the demo and the commands are made of; nothing is built anew.
COPIED = ("Makefile", "deploy", "dev", "e2e", "policies")


@pytest.fixture
def checkout() -> Iterator[Path]:
    """A copy where PostgreSQL gets to as well, who runs as another user if need be."""
    work = WorkDir()
    copy = work.path / "fieldveil"
    copy.mkdir()
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", ".*_cache"))
        else:
            shutil.copy2(ROOT / name, copy / name)
    (copy / ".tools").symlink_to(TOOLS)
    yield copy
    work.remove()


def test_every_command_of_the_guide_works_and_says_what_the_guide_says(checkout: Path) -> None:
    blocks = BLOCK.findall(GUIDE.read_text())
    assert [kind for kind, _ in blocks].count("sh") >= 8
    said = ""
    # One shell's environment for all: what a block exports, the next ones have.
    before = ""
    for kind, text in blocks:
        if kind == "sh":
            said = run(before + text, checkout)
            before += "".join(line + "\n" for line in text.splitlines() if line.startswith("export "))
        else:
            missing = [line for line in text.splitlines() if squeezed(line) not in squeezed(said)]
            assert missing == [], said


def run(commands: str, checkout: Path) -> str:
    # The tools are there: set-up built them before the tests ran.
    environment = {**os.environ, "MAKEFLAGS": "SETUP=true", "NO_COLOR": "1"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=checkout,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, f"{commands}\n{done.stdout}"
    return done.stdout


def squeezed(text: str) -> str:
    """Columns are as wide as their widest cell."""
    return re.sub(r"\s+", " ", text).strip()
