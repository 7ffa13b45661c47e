"""The known differences of a suite: a list of causes, each with what a user sees, and each file's hunks by cause.

`known/SUITE.toml` has both. A hunk is known by a digest of its lines, for these are the suite's own:

    [causes]
    cause-of-it = "What a user sees, and why."

    [files]
    "file of the suite" = ["cause-of-it 0123456789abcdef"]
"""

import json
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from compat.hunks import Hunk

# The cause of what nobody has explained yet. It is none, so that it counts as a difference without a reason.
UNEXPLAINED = "unexplained"


class Unreadable(Exception):
    """The list is not as it has to be."""


@dataclass(frozen=True)
class Known:
    """What the list says of all files."""

    # By name, what a user of the sidecar sees, and why.
    causes: dict[str, str] = field(default_factory=dict)
    # Of each file, its hunks' digests with the names of their causes, in the order of the file.
    hunks: dict[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)

    def causes_of(self, file: str) -> dict[str, str]:
        return {digest: cause for cause, digest in self.hunks.get(file, ())}

    def count(self, file: str) -> Counter[str]:
        """How often each hunk with a reason may occur in the file."""
        return Counter(digest for cause, digest in self.hunks.get(file, ()) if cause in self.causes)


def read(path: Path) -> Known:
    listed = tomllib.loads(path.read_text()) if path.exists() else {}
    causes = {name: " ".join(reason.split()) for name, reason in listed.get("causes", {}).items()}
    if lacking := [name for name, reason in causes.items() if not reason]:
        raise Unreadable(f"{path}: no reason: {', '.join(lacking)}")
    return Known(causes, {file: tuple(map(_pair, hunks)) for file, hunks in listed.get("files", {}).items()})


def _pair(hunk: str) -> tuple[str, str]:
    cause, _, digest = hunk.rpartition(" ")
    return cause, digest


def write(path: Path, differences: dict[str, list[Hunk]], known: Known) -> None:
    """Writes the hunks of every file anew, each with the cause that it had; a hunk that is new has none yet."""
    lines = ["[causes]", *(f"{_quoted(name)} = {_quoted(reason)}" for name, reason in known.causes.items())]
    lines += ["", "[files]"]
    for file, hunks in differences.items():
        causes = known.causes_of(file)
        listed = (_quoted(f"{causes.get(hunk.digest, UNEXPLAINED)} {hunk.digest}") for hunk in hunks)
        lines += [f"{_quoted(file)} = [", *(f"    {hunk}," for hunk in listed), "]"]
    path.write_text("\n".join([*lines, ""]))


def _quoted(text: str) -> str:
    """As a string of TOML, which reads JSON's."""
    return json.dumps(text, ensure_ascii=False)
