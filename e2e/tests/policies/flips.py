"""A policy that changes to and fro under readers, whichever database they read."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from harness.waiting import patience, until
from tests.policies.readers import Reader
from tests.policies.shipping import MASKED, REVEALED, Shipping

FLIPS = 4


def flip_under(shipping: Shipping, readers: list[Reader]) -> None:
    """Each reader is one session from the first to the last flip."""
    with running(readers):
        everybody(readers, "masked")
        for flip in range(1, FLIPS + 1):
            shipping.support, now = (REVEALED, "revealed") if flip % 2 else (MASKED, "masked")
            shipping.activate(f"{now}-{flip}")
            everybody(readers, now)
    for reader in readers:
        # Between two flips nobody goes back.
        assert reader.turns() == ["masked", "revealed", "masked", "revealed", "masked"], reader.name


def everybody(readers: list[Reader], treatment: str) -> None:
    """Waits until every reader sees it."""
    until(lambda: all(reader.check() == treatment for reader in readers))


@contextmanager
def running(readers: list[Reader]) -> Iterator[None]:
    """Each in a thread of its own, until the block ends."""
    stop = threading.Event()
    threads = [threading.Thread(target=reader.run, args=[stop], daemon=True) for reader in readers]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join(patience())
    for reader in readers:
        reader.check()
