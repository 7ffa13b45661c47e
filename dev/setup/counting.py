"""What counts instructions: Valgrind of Debian's, and the programs that it counts, for users who are not root.

A program holds its own C library, so that the machine's has no part in the counts. Valgrind shows it a processor of
Valgrind's own, which is the same on every machine whose processor has AVX2.
"""

import platform
import sys
from pathlib import Path

from dev.layout import CARGO_TARGET, COUNT_INSTRUCTIONS, FUZZ, GROWTH, VALGRIND
from dev.setup import debian
from dev.setup.building import put
from dev.setup.runner import ATTEMPTS, Part, Shell, say

VERSION = "1:3.19.0-1"
TARGET = "x86_64-unknown-linux-musl"


def is_possible() -> bool:
    """Whether instructions can be counted here, and come to the same as elsewhere."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return False
    return " avx2 " in Path("/proc/cpuinfo").read_text()


def _valgrind(shell: Shell) -> None:
    if debian.source() is None:
        say(f"  {shell.name}: skipped: this machine has no Debian package source")
        return
    debian.unpack(shell, "bookworm", (), (f"valgrind={VERSION}",), VALGRIND)


def _program(shell: Shell, program: Path, *options: str | Path) -> None:
    shell.run(["rustup", "target", "add", TARGET], attempts=ATTEMPTS)
    built = ["--profile", "counts", "--target", TARGET, "--bin", program.name, *options]
    shell.run(["cargo", "build", "--locked", *built])
    put(CARGO_TARGET / TARGET / "counts" / program.name, program)


def _count_instructions(shell: Shell) -> None:
    _program(shell, COUNT_INSTRUCTIONS, "-p", "fieldveil-bench")


def _growth(shell: Shell) -> None:
    _program(shell, GROWTH, "--manifest-path", FUZZ / "Cargo.toml", "--target-dir", CARGO_TARGET)


def _nothing(shell: Shell) -> None:
    """Instructions are not counted on this machine."""


PARTS = (
    Part(
        "valgrind",
        f"Valgrind {VERSION} of Debian, where the machine has its packages",
        _valgrind if is_possible() else _nothing,
        (),
        frozenset(),
        (VERSION,),
    ),
    Part(
        "count-instructions",
        "what instructions are counted of, as a program",
        _count_instructions if is_possible() else _nothing,
        (),
        frozenset({"cargo", "rustup", "cc"}) if is_possible() else frozenset(),
        after=("toolchain",),
    ),
    Part(
        "count-growth",
        "what runs inputs of growing sizes, as a program",
        _growth if is_possible() else _nothing,
        (),
        frozenset({"cargo", "rustup", "cc"}) if is_possible() else frozenset(),
        after=("toolchain",),
    ),
)
