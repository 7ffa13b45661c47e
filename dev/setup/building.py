"""Building a program, and putting it where it is run from."""

import filecmp
import os
import shutil
from pathlib import Path

from dev.setup.runner import ATTEMPTS, Shell

GO = frozenset({"go", "cc"})
# Go compiles a package anew for each set of flags, so there are two. This one leaves out what a debugger reads,
# a sixth of the compiler's work.
GO_COMPILES = ("-trimpath", "-gcflags=all=-dwarf=false")
# The other is for programs that only serve tests, in e2e/kubernetes/node too: without inlining it is four tenths less.
QUICKER = ("-gcflags=all=-dwarf=false -l",)
# Git is not asked for the commit: it refuses root in another user's clone, and the build fails.
GO_FLAGS = (*GO_COMPILES, "-buildvcs=false", "-ldflags=-s -w")
GO_ENVIRONMENT = {"CGO_ENABLED": "0"}


def go_build(
    shell: Shell, module: Path, package: str, out: Path, *options: str, env: dict[str, str] | None = None
) -> None:
    """Builds one program of a Go module to `out`."""
    fresh = out.with_name(f".{out.name}.new")
    shell.run(
        ["go", "build", *GO_FLAGS, *options, "-o", fresh, package],
        cwd=module,
        env=GO_ENVIRONMENT | (env or {}),
        attempts=ATTEMPTS,
    )
    put(fresh, out)
    fresh.unlink()


def go_build_all(shell: Shell, module: Path, programs: dict[str, Path]) -> None:
    """Builds programs of a Go module, by package, in one run that compiles what they share once."""
    first = next(iter(programs.values()))
    fresh = first.with_name(f".{first.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    shell.run(
        ["go", "build", *GO_FLAGS, "-o", f"{fresh}/", *programs], cwd=module, env=GO_ENVIRONMENT, attempts=ATTEMPTS
    )
    for package, program in programs.items():
        # Go names a program as its package, and one in the module's own folder as the module.
        put(fresh / (Path(package).name or module.name), program)
    shutil.rmtree(fresh)


def put(source: Path, target: Path) -> None:
    """Replaces `target` in one step, so that a running copy keeps its file."""
    if target.exists() and filecmp.cmp(source, target, shallow=False):
        return
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.copy2(source, beside)
    beside.replace(target)
