"""Which parts a target needs, and whether they can be made on this machine and in this place."""

import sys
from collections.abc import Iterable

from dev.setup import place, prerequisites
from dev.setup.parts import PARTS
from dev.setup.runner import Part


def parts(names: Iterable[str], *, everything: bool) -> list[Part] | None:
    """The named parts with those that they come after; `everything`: they are for all tests.

    None: one line for each fault is on standard error.
    """
    names = set(names)
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"no such part: {', '.join(unknown)}; there are: {', '.join(PARTS)}", file=sys.stderr)
        return None
    wanted = with_what_they_come_after(names)
    found = [part for part in PARTS.values() if part.name in wanted]
    missing = prerequisites.missing({tool for part in found for tool in part.needs})
    missing = missing or place.obstacles(found, everything=everything)
    for line in missing:
        print(line, file=sys.stderr)
    return None if missing else found


def with_what_they_come_after(names: Iterable[str]) -> set[str]:
    """The names of these parts, of the parts that they come after, and so on."""
    found: set[str] = set()
    waiting = set(names)
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= set(PARTS[name].after) - found
    return found
