"""Gives the load generator a core of its own: k6 runs there, and everything that it measures runs on the others.

Latency by a generator that waits for a core holds that wait. A process keeps to cores with all its threads, and what
it starts inherits them.
"""

import contextlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import psutil

UNDIVIDED = "The load generator shares its cores with everything that it measures"
WHY_ONE = "there is one core"
WHY_SYSTEM = "the system gives no process a core of its own"
# Passes over the threads of a process: more than enough for those that are started meanwhile.
PASSES = 10


@dataclass(frozen=True)
class Division:
    generator: frozenset[int]
    others: frozenset[int]

    def __str__(self) -> str:
        return (
            f"The load generator runs on {_named(self.generator)}, everything that it measures on {_named(self.others)}"
        )


def division() -> Division | None:
    """The last of the cores that this process may use is the generator's; None where they can't be divided."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    *others, last = sorted(os.sched_getaffinity(0))
    return Division(frozenset({last}), frozenset(others)) if others else None


def described(divided: Division | None) -> str:
    """For the results: how the cores were divided, or why they were not."""
    if divided:
        return f"{divided}."
    return f"{UNDIVIDED}: {WHY_ONE if hasattr(os, 'sched_setaffinity') else WHY_SYSTEM}."


@contextlib.contextmanager
def confined(processes: Iterable[int], cores: frozenset[int]) -> Iterator[None]:
    """Keeps processes, and all that they started, on these cores; afterwards they may use those of this process."""
    pids = list(processes)
    try:
        for pid in pids:
            _move(pid, cores)
        yield
    finally:
        for pid in pids:
            _move(pid, os.sched_getaffinity(0))


@contextlib.contextmanager
def inherited(cores: frozenset[int]) -> Iterator[None]:
    """What this thread starts meanwhile runs on these cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _move(pid: int, cores: Iterable[int]) -> None:
    """Every thread of the process, of its children and of theirs. One that ends meanwhile needs no core."""
    wanted = set(cores)
    # A thread that was started during a pass has the old cores, where the one that started it was not moved yet.
    for _ in range(PASSES):
        strays = [thread for thread in _threads(pid) if _cores(thread) not in (None, wanted)]
        if not strays:
            return
        for thread in strays:
            with contextlib.suppress(ProcessLookupError):
                os.sched_setaffinity(thread, wanted)


def _cores(thread: int) -> set[int] | None:
    try:
        return os.sched_getaffinity(thread)
    except ProcessLookupError:
        return None


def _threads(pid: int) -> Iterator[int]:
    try:
        root = psutil.Process(pid)
        family = [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return
    for process in family:
        with contextlib.suppress(psutil.NoSuchProcess):
            yield from (thread.id for thread in process.threads())


def _named(cores: frozenset[int]) -> str:
    numbers = ", ".join(map(str, sorted(cores)))
    return f"core {numbers}" if len(cores) == 1 else f"cores {numbers}"
