"""Compares what two runs of a suite printed, and both with the list of known differences."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from compat import hunks, texts
from compat.hunks import Hunk
from compat.known import Known

# Of a hunk that has no reason, as many lines as tell what it is about.
SHOWN_LINES = 12
LONGEST_LINE = 200


@dataclass
class Comparison:
    """What came of it."""

    compared: int = 0
    differences: dict[str, list[Hunk]] = field(default_factory=dict)
    # In words, each with the file that it is about: whatever makes the comparison fail.
    problems: list[str] = field(default_factory=list)

    @property
    def lines(self) -> int:
        return sum(len(hunk.changed) for found in self.differences.values() for hunk in found)


def folders(straight: Path, through: Path, known: Known, suffix: str) -> Comparison:
    """Compares the files of two folders with this suffix, each known by its name without it."""
    printed = [
        {path.name.removesuffix(suffix): texts.read(path) for path in folder.glob(f"*{suffix}")}
        for folder in (straight, through)
    ]
    return files(*printed, known)


def files(straight: dict[str, str], through: dict[str, str], known: Known) -> Comparison:
    """Compares texts by the names of their files."""
    result = Comparison()
    for name in sorted(straight.keys() | through.keys()):
        if name not in through or name not in straight:
            way = "through the sidecar" if name in straight else "straight"
            result.problems.append(f"{name}: there is no result of the run {way}")
            continue
        result.compared += 1
        if found := hunks.between(straight[name], through[name]):
            result.differences[name] = found
        result.problems += _unexplained(name, found, known)
    result.problems += _obsolete(result.differences, known)
    return result


def _unexplained(name: str, found: list[Hunk], known: Known) -> list[str]:
    more = Counter(hunk.digest for hunk in found) - known.count(name)
    by_digest = {hunk.digest: hunk for hunk in found}
    return [f"{name}: differs without a listed reason\n{_beginning(by_digest[digest])}" for digest in more]


def _obsolete(differences: dict[str, list[Hunk]], known: Known) -> list[str]:
    """What the list says and is not so any longer."""
    problems = []
    for name, listed in known.hunks.items():
        found = Counter(hunk.digest for hunk in differences.get(name, []))
        gone = Counter(digest for _, digest in listed) - found
        causes = known.causes_of(name)
        problems += [f"{name}: a listed difference is no longer there: {causes[digest]} {digest}" for digest in gone]
        unknown = {cause for cause, _ in listed} - known.causes.keys()
        problems += [f"{name}: the cause {cause} has no reason" for cause in sorted(unknown)]
    used = {cause for listed in known.hunks.values() for cause, _ in listed}
    problems += [f"{cause}: a listed cause without a difference" for cause in known.causes if cause not in used]
    return problems


def _beginning(hunk: Hunk) -> str:
    lines = [line[:LONGEST_LINE] for line in hunk.lines[:SHOWN_LINES]]
    more = len(hunk.lines) - len(lines)
    return "\n".join([*(f"    {line}" for line in lines), *([f"    … and {more} more lines"] if more else [])])
