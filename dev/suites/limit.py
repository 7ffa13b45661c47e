"""A step that hangs ends: what a run is for is its report."""

import contextlib
import signal
import subprocess
import threading
from collections.abc import Iterator

from dev.schedule import commands

# Several times what the longest takes, cold, on two cores, while other things are built beside it.
MINUTES = 45
# To end what it has started, and to say how far it came.
GRACE_SECONDS = 60.0


@contextlib.contextmanager
def within(process: subprocess.Popen, seconds: float = MINUTES * 60, grace: float = GRACE_SECONDS) -> Iterator[None]:
    """Asks the process and what it started to end when its time is over, and kills them when that does not help."""

    def interrupt() -> None:
        print(f"   FAILED: stopped after {seconds / 60:.0f} minutes without an end", flush=True)
        commands.signal_to(process, signal.SIGTERM)

    def kill() -> None:
        commands.signal_to(process, signal.SIGKILL)

    timers = (threading.Timer(seconds, interrupt), threading.Timer(seconds + grace, kill))
    for timer in timers:
        timer.daemon = True
        timer.start()
    try:
        yield
    finally:
        for timer in timers:
            timer.cancel()
