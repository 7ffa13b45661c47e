"""Building a program, and putting it where it is run from."""

import filecmp
import os
import shutil
from pathlib import Path

from tools.setup.runner import ATTEMPTS, Shell

GO = frozenset({"go", "cc"})


def go_build(
    shell: Shell, module: Path, package: str, out: Path, *options: str, env: dict[str, str] | None = None
) -> None:
    """Builds one program of a Go module to `out`."""
    fresh = out.with_name(f".{out.name}.new")
    shell.run(["go", "build", "-trimpath", *options, "-o", fresh, package], cwd=module, env=env, attempts=ATTEMPTS)
    put(fresh, out)
    fresh.unlink()


def put(source: Path, target: Path) -> None:
    """Replaces `target` in one step, so that a running copy keeps its file."""
    if target.exists() and filecmp.cmp(source, target, shallow=False):
        return
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.copy2(source, beside)
    beside.replace(target)
