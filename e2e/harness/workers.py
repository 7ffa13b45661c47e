"""Sessions of every worker of an Envoy.

Each worker has its own filter, with its own plans and keys, and takes up a change by itself. Which worker a connection
falls to is the kernel's choice; Envoy counts the connections of each, and so tells afterwards.
"""

import contextlib
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from typing import TypeVar

from harness import waiting
from harness.envoy import Envoy

ACCEPTED = re.compile(r"listener\..*\.worker_(\d+)\.downstream_cx_total")

Session = TypeVar("Session")


def accepted(envoy: Envoy) -> dict[int, int]:
    """By worker, the connections that its listeners have accepted."""
    counts: dict[int, int] = {}
    for name, count in envoy.stats("listener.").items():
        if found := ACCEPTED.fullmatch(name):
            counts[int(found[1])] = counts.get(int(found[1]), 0) + count
    return counts


@contextlib.contextmanager
def of_every_worker(envoy: Envoy, connect: Callable[[], AbstractContextManager[Session]]) -> Iterator[list[Session]]:
    """One session of each worker, in the order of their numbers. Nobody else may connect while these are made.

    `connect` makes a connection on which something has been received: by then a worker has accepted it.
    """
    with of_each(lambda: accepted(envoy), connect) as sessions:
        yield sessions


@contextlib.contextmanager
def of_each(
    counts: Callable[[], dict[int, int]], connect: Callable[[], AbstractContextManager[Session]]
) -> Iterator[list[Session]]:
    """The same where `counts` says how many connections each worker has accepted so far."""
    found: dict[int, Session] = {}
    with ExitStack() as kept:

        def are_complete() -> bool:
            before = counts()
            with ExitStack() as made:
                session = made.enter_context(connect())
                after = counts()
                workers = [worker for worker, count in after.items() if count != before.get(worker, 0)]
                assert len(workers) == 1, f"others connected at the same time: {before}, then {after}"
                if workers[0] not in found:
                    found[workers[0]] = session
                    kept.push(made.pop_all())
            return found.keys() == after.keys()

        waiting.until(are_complete, "a connection to every worker", poll=0)
        yield [found[worker] for worker in sorted(found)]
