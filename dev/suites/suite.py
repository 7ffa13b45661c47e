"""A suite is some commands; a step is one command and how its output is read."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dev.schedule.task import Lane
from dev.suites.formats import ONE_CHECK, Format

# As what a step shows: each of its lines as it comes.
EVERYTHING = "."


@dataclass(frozen=True)
class Step:
    command: list[str | Path]
    format: Format = ONE_CHECK
    cwd: Path | None = None
    # Which lines are worth showing as they come; none: the output shows only when the step fails.
    show: str | None = None
    # How one test of it runs alone, from the project's folder, with `{name}` for its name.
    alone: str = ""

    def shows(self, line: str) -> bool:
        return self.show is not None and re.search(self.show, line) is not None


@dataclass(frozen=True)
class Suite:
    name: str
    what: str
    # Called when the suite runs: some commands depend on what is in the tree by then.
    steps: Callable[[], list[Step]]
    # The parts of set-up that it uses.
    needs: tuple[str, ...] = ()
    # A suite that compiles most of its time waits for the compiler.
    lane: Lane = Lane.TEST
