"""A task: one thing to do, what has to be done before it, and which lane it takes a place in."""

import enum
import threading
from collections.abc import Callable
from dataclasses import dataclass


class Lane(enum.Enum):
    """What tasks compete for. The value is how many of its tasks run at once."""

    # A registry answers while the cores work at something else.
    FETCH = ("fetch", 2)
    # Each of these two compilers fills all cores by itself, and two runs of one would compile what they share twice.
    CARGO = ("cargo", 1)
    GO = ("go", 1)
    TEST = ("test", 2)

    @property
    def width(self) -> int:
        return self.value[1]


@dataclass(frozen=True)
class Task:
    name: str
    # False when it failed; it has said why by then.
    run: Callable[[], bool]
    lane: Lane
    after: frozenset[str] = frozenset()


@dataclass
class Run:
    """What became of one task. Times are seconds since the schedule began."""

    task: Task
    # When all that it comes after was done, and which of these was the last.
    ready: float | None = None
    waited_for: str = ""
    began: float | None = None
    ended: float | None = None
    ok: bool | None = None
    # Tasks that it needs and that failed: it did not run.
    lacks: tuple[str, ...] = ()
    # What it raised. A task tells its own failures, so this is a fault of its code.
    fault: Exception | None = None
    thread: threading.Thread | None = None

    @property
    def is_settled(self) -> bool:
        return self.ok is not None
