"""Waits until something has come about: with patience scaled to the machine, and an error that says what was awaited.

Nothing is done again here because it failed: what is looked at repeatedly is a condition that other parts bring about
in their own time.
"""

import inspect
import os
import time
from collections.abc import Callable
from typing import TypeVar

# On a machine that does nothing else: long enough for whatever is awaited, short enough that a hang is noticed.
PATIENCE_SECONDS = 60.0
POLL_SECONDS = 0.05
# A hang on a machine that is hopelessly overloaded is to be noticed too.
LARGEST_SCALE = 10.0

Result = TypeVar("Result")


class NotReached(AssertionError):
    """What was awaited has not come about. The text says what it is and what was seen last."""


def load_scale() -> float:
    """How many times longer things take than on an idle machine: threads that want to run for each core, at least 1."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        cores = os.cpu_count() or 1
    return min(max(1.0, os.getloadavg()[0] / cores), LARGEST_SCALE)


def patience(seconds: float = PATIENCE_SECONDS) -> float:
    """Seconds to wait at most for what takes no longer than `seconds` on an idle machine."""
    return seconds * load_scale()


def until(
    condition: Callable[[], Result], awaited: str = "", *, seconds: float = PATIENCE_SECONDS, poll: float = POLL_SECONDS
) -> Result:
    """What `condition` returns as soon as that is true. Unless `awaited` says what is waited for, its source does."""

    def attempt() -> tuple[bool, Result]:
        seen = condition()
        return bool(seen), seen

    return _wait(attempt, awaited or _source(condition), seconds, poll)


def until_equal(
    read: Callable[[], Result], expected: Result, awaited: str = "", *, seconds: float = PATIENCE_SECONDS
) -> None:
    """Until `read` returns what is expected."""

    def attempt() -> tuple[bool, Result]:
        seen = read()
        return seen == expected, seen

    _wait(attempt, f"{awaited or _source(read)} to be {expected!r}", seconds, POLL_SECONDS)


def until_done(
    do: Callable[[], Result],
    refusal: type[Exception] | tuple[type[Exception], ...],
    awaited: str = "",
    *,
    seconds: float = PATIENCE_SECONDS,
) -> Result:
    """What `do` returns as soon as it raises no such refusal any more."""

    def attempt() -> tuple[bool, Result | Exception]:
        try:
            return True, do()
        except refusal as error:
            return False, error

    return _wait(attempt, awaited or _source(do), seconds, POLL_SECONDS)


def _wait(attempt: Callable[[], tuple[bool, Result]], awaited: str, seconds: float, poll: float) -> Result:
    """`attempt` returns whether it has come about, and what was seen."""
    started = time.monotonic()
    while True:
        is_reached, seen = attempt()
        if is_reached:
            return seen
        waited = time.monotonic() - started
        # Asked for each time: the machine may have become busy meanwhile.
        if waited > patience(seconds):
            raise NotReached(f"not within {waited:.0f} s: {awaited}; last seen: {seen!r}")
        time.sleep(poll)


def _source(condition: Callable) -> str:
    """The text of a lambda, the name of a function."""
    name = getattr(condition, "__name__", repr(condition))
    if name != "<lambda>":
        return name.replace("_", " ")
    try:
        return " ".join(inspect.getsource(condition).split())
    except OSError:
        return name
