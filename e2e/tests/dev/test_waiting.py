"""What tests wait with: it says what was awaited and what was seen, and a busy machine is given more time."""

import itertools
import os
import socket

import pytest

from harness import waiting
from harness.ports import LOOPBACK, free_port


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0))


def test_what_was_awaited_is_returned() -> None:
    numbers = itertools.count()
    assert waiting.until(lambda: max(0, next(numbers) - 1), poll=0) == 1
    waiting.until_equal(lambda: next(numbers), 5)
    assert waiting.until_done(lambda: 1 / (next(numbers) - 6), ZeroDivisionError) == 1


@pytest.mark.usefixtures("idle")
def test_error_says_what_was_awaited_and_what_was_seen_last() -> None:
    with pytest.raises(waiting.NotReached, match=r"^not within 0 s: a key; last seen: \[\]$"):
        waiting.until(list, "a key", seconds=0)
    with pytest.raises(waiting.NotReached, match=r"until\(lambda: 1 == 2, seconds=0\); last seen: False"):
        waiting.until(lambda: 1 == 2, seconds=0)
    with pytest.raises(waiting.NotReached, match=r"int to be 7; last seen: 0"):
        waiting.until_equal(int, 7, seconds=0)
    with pytest.raises(waiting.NotReached, match=r"last seen: ZeroDivisionError"):
        waiting.until_done(lambda: 1 / 0, ZeroDivisionError, seconds=0)


def test_patience_grows_with_what_waits_for_each_core(monkeypatch: pytest.MonkeyPatch) -> None:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    for load, scale in ((0, 1), (0.5, 1), (3, 3), (1000, waiting.LARGEST_SCALE)):
        monkeypatch.setattr(os, "getloadavg", lambda load=load: (load * cores, 0.0, 0.0))
        assert waiting.patience(10) == 10 * scale


def test_port_that_was_given_out_is_held_though_its_server_is_not_there_yet() -> None:
    port = free_port()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as another, pytest.raises(OSError):  # noqa: PT011
        another.bind((LOOPBACK, port))
    with socket.socket() as server:
        server.bind((LOOPBACK, port))
