"""The known differences of a suite: a list of causes, each with what a user sees, and each file's hunks by cause.

`causes.toml` has the causes. `FILE.diff` has the hunks of one file of the suite, each below the name of its cause:

    # cause-of-it
     a line around it
    -what the straight run printed
    +what the run through the sidecar printed
"""

import tomllib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from compat import texts
from compat.hunks import Hunk

CAUSES = "causes.toml"
SUFFIX = ".diff"
HEADING = "# "
# The cause of what nobody has explained yet. It is none, so that it counts as a difference without a reason.
UNEXPLAINED = "unexplained"


class Unreadable(Exception):
    """The list is not as it has to be."""


@dataclass(frozen=True)
class Cause:
    """Why the two runs may differ."""

    name: str
    # What a user of the sidecar sees, and why.
    reason: str


@dataclass(frozen=True)
class Known:
    """What the list says of all files."""

    causes: dict[str, Cause] = field(default_factory=dict)
    # Of each file, its hunks with the names of their causes, in the order of the file.
    hunks: dict[str, tuple[tuple[str, Hunk], ...]] = field(default_factory=dict)

    def causes_of(self, file: str) -> dict[Hunk, str]:
        return {hunk: cause for cause, hunk in self.hunks.get(file, ())}

    def count(self, file: str) -> Counter[Hunk]:
        """How often each hunk with a reason may occur in the file."""
        return Counter(hunk for cause, hunk in self.hunks.get(file, ()) if cause in self.causes)


def read(folder: Path) -> Known:
    path = folder / CAUSES
    listed = tomllib.loads(path.read_text()) if path.exists() else {}
    causes = {name: Cause(name, " ".join(reason.split())) for name, reason in listed.items()}
    if lacking := [name for name, cause in causes.items() if not cause.reason]:
        raise Unreadable(f"{path}: no reason: {', '.join(lacking)}")
    files = sorted(folder.glob(f"*{SUFFIX}"))
    return Known(causes, {file.name.removesuffix(SUFFIX): _hunks(file) for file in files})


def _hunks(file: Path) -> tuple[tuple[str, Hunk], ...]:
    found: list[tuple[str, list[str]]] = []
    for line in texts.read(file).split("\n"):
        if line.startswith(HEADING):
            found.append((line.removeprefix(HEADING), []))
        elif line and found:
            found[-1][1].append(line)
        elif line:
            raise Unreadable(f"{file}: a line before the first cause")
    return tuple((cause, Hunk(tuple(lines))) for cause, lines in found)


def write(folder: Path, differences: dict[str, list[Hunk]], known: Known) -> None:
    """Writes the hunks of every file anew, each with the cause that it had; a hunk that is new has none yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.glob(f"*{SUFFIX}"):
        file.unlink()
    for name, hunks in differences.items():
        causes = known.causes_of(name)
        # What changed and is not known as it is now most often has the cause of what was there.
        parts = (f"{HEADING}{causes.get(hunk, UNEXPLAINED)}\n{hunk}\n" for hunk in hunks)
        texts.write(folder / f"{name}{SUFFIX}", "\n".join(parts))
