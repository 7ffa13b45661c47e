"""A statement that is cancelled while the server runs it: a request that comes before that is for nothing."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg

from harness.waiting import until

# What cancels it comes sooner. If nothing does, a test fails by its timeout.
SLEEPS = "SELECT pg_sleep(600)"


def are_sleeping(direct: psycopg.Connection, count: int = 1) -> None:
    """Waits until so many sessions of the server are within `pg_sleep`."""
    running = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND wait_event = 'PgSleep'"
    until(lambda: direct.execute(running).fetchone() >= (count,), f"{count} sessions that sleep")


@contextmanager
def cancelling(direct: psycopg.Connection, cancel: Callable[[], None]) -> Iterator[None]:
    """Within the block, cancels as soon as the server, which `direct` leads to, runs a statement that sleeps."""

    def work() -> None:
        are_sleeping(direct)
        cancel()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        thread.join()
