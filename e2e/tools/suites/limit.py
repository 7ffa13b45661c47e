"""A step that hangs ends: what a run is for is its report."""

import contextlib
import signal
import subprocess
import threading
from collections.abc import Iterator

# Several times what the longest takes, cold, on two cores.
MINUTES = 35
# To end what it has started, and to say how far it came.
GRACE_SECONDS = 60.0


@contextlib.contextmanager
def within(process: subprocess.Popen, seconds: float = MINUTES * 60, grace: float = GRACE_SECONDS) -> Iterator[None]:
    """Interrupts the process when its time is over, as Ctrl-C would, and kills it when that does not help."""

    def interrupt() -> None:
        print(f"   FAILED: it hangs: nothing ended it in {seconds / 60:.0f} minutes", flush=True)
        process.send_signal(signal.SIGINT)

    timers = (threading.Timer(seconds, interrupt), threading.Timer(seconds + grace, process.kill))
    for timer in timers:
        timer.daemon = True
        timer.start()
    try:
        yield
    finally:
        for timer in timers:
            timer.cancel()
