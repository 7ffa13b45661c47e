"""What differs between two texts, in hunks that don't say at which lines they are."""

import difflib
import hashlib
import re
from dataclasses import dataclass

# Enough for a reader to see which statement it was.
CONTEXT = 2
# Unchanged lines stand behind this, like those of a unified diff; of the changed ones, `-` is the straight run's.
UNCHANGED, STRAIGHT, THROUGH = " ", "-", "+"
# Of what is longer the beginning is kept, and a digest of the whole.
LONGEST_LINE = 200
MOST_LINES = 120
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
            hunks[-1].append(_short(line))
    return [Hunk(_few(hunk)) for hunk in hunks]


def _short(line: str) -> str:
    if len(line) <= LONGEST_LINE:
        return line
    return f"{line[:LONGEST_LINE]}… {len(line)} characters, {_digest(line)}"


def _few(lines: list[str]) -> tuple[str, ...]:
    if len(lines) <= MOST_LINES:
        return tuple(lines)
    more = lines[MOST_LINES:]
    return (*lines[:MOST_LINES], f"{THROUGH}… {len(more)} more lines, {_digest(chr(10).join(more))}")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:16]
