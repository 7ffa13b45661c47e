"""Ends what a harness started when the harness itself dies without having had the time to.

One small process a harness reads process ids from a pipe that only the harness holds open. The end
of the pipe is the end of the harness, however it came, and whatever is still registered is killed.
"""

import contextlib
import os
import signal
import subprocess
import sys


class Leash:
    """Registers and releases process groups; cheap enough to be made at the first use."""

    def __init__(self) -> None:
        self._watcher: subprocess.Popen | None = None

    def add(self, group: int) -> None:
        self._say(f"+{group}\n")

    def remove(self, group: int) -> None:
        self._say(f"-{group}\n")

    def _say(self, line: str) -> None:
        if self._watcher is None:
            self._watcher = subprocess.Popen(
                [sys.executable, "-S", __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                # Ctrl-C goes to the harness, which stops things in order; the watcher outlives it.
                start_new_session=True,
            )
        self._watcher.stdin.write(line.encode())
        self._watcher.stdin.flush()


def watch() -> None:
    groups: set[int] = set()
    for line in sys.stdin:
        group = int(line[1:])
        (groups.add if line[0] == "+" else groups.discard)(group)
    for group in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    watch()
