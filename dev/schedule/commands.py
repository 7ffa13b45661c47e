"""Commands that tasks start: each in a session of its own, all of them ended together when the schedule is stopped."""

import contextlib
import os
import subprocess
import threading
import time
from collections.abc import Iterator

_running: dict[int, subprocess.Popen] = {}
_guard = threading.Lock()
_stopping = threading.Event()


def is_stopping() -> bool:
    return _stopping.is_set()


@contextlib.contextmanager
def started(command: list[str], **options: object) -> Iterator[subprocess.Popen]:
    """The command while it runs; it has ended when the block has."""
    with _guard:
        if _stopping.is_set():
            raise InterruptedError("the run is being stopped")
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, **options)
        _running[process.pid] = process
    try:
        yield process
        process.wait()
    finally:
        with _guard:
            del _running[process.pid]


def stop_all(number: int) -> None:
    """Sends the signal to every running command and to what it started, and lets no new one begin."""
    _stopping.set()
    for process in _now():
        signal_to(process, number)


def signal_to(process: subprocess.Popen, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def have_ended(seconds: float) -> bool:
    """True when all commands end within so many seconds."""
    end = time.monotonic() + seconds
    while _now():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def _now() -> list[subprocess.Popen]:
    with _guard:
        return list(_running.values())
