"""What differs between two texts, in hunks that don't say at which lines they are."""

import difflib
import hashlib
import re
from dataclasses import dataclass

# Enough for a reader to see which statement it was.
CONTEXT = 2
# Unchanged lines stand behind this, like those of a unified diff; of the changed ones, `-` is the straight run's.
UNCHANGED, STRAIGHT, THROUGH = " ", "-", "+"
# The sidecar's own names on the server are other ones in each session.
OWN_NAME = re.compile(r"fieldveil_[0-9a-f]{24}")
SAME_NAME = "fieldveil_" + "x" * 24


@dataclass(frozen=True)
class Hunk:
    """Lines that differ, with those around them, each behind its sign."""

    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines)

    @property
    def digest(self) -> str:
        return hashlib.sha256(str(self).encode(errors="surrogateescape")).hexdigest()[:16]

    @property
    def changed(self) -> tuple[str, ...]:
        return tuple(line for line in self.lines if line[0] != UNCHANGED)


def between(straight: str, through: str) -> list[Hunk]:
    """The hunks in which the second text differs from the first."""
    # Not splitlines(), which would split lines at the odd characters that suites print.
    texts = [OWN_NAME.sub(SAME_NAME, text).split("\n") for text in (straight, through)]
    hunks: list[list[str]] = []
    for number, line in enumerate(difflib.unified_diff(*texts, lineterm="", n=CONTEXT)):
        if number < 2:
            # The names of the files, of which there are none.
            continue
        if line.startswith("@@"):
            hunks.append([])
        else:
            hunks[-1].append(line)
    return [Hunk(tuple(hunk)) for hunk in hunks]
