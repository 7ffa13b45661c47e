"""One program that the harness runs: its log, its process group, its end."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from harness import waiting
from harness.leash import Leash

# Both on a machine that does nothing else.
READY_SECONDS = 60.0
STOP_SECONDS = 10.0
POLL_SECONDS = 0.01

_leash = Leash()


class PartFailed(Exception):
    """A part did not start, or ended early. The text carries the end of its log."""


def as_user(user: int | None) -> dict[str, object]:
    """What makes a program that is started another user's."""
    return {} if user is None else {"user": user, "group": user, "extra_groups": []}


def run(what: str, command: list[str | Path], *, user: int | None = None, **options: object) -> None:
    """Runs a program to its end, which has to be a good one; with more options of `subprocess.run`."""
    words = [str(word) for word in command]
    with told_if_not_startable(words):
        done = subprocess.run(words, capture_output=True, check=False, **as_user(user), **options)
    if done.returncode != 0:
        raise PartFailed(f"{what} failed\n{(done.stdout + done.stderr).decode(errors='replace')}")


@contextlib.contextmanager
def told_if_not_startable(words: list[str]) -> Iterator[None]:
    """An error of the system that keeps a program from being started becomes a PartFailed with the remedy."""
    try:
        yield
    except FileNotFoundError as error:
        remedy = "run `make clean-all`, and set-up makes all programs anew"
        raise PartFailed(f"{error.filename or words[0]} is not there; {remedy}") from error
    except PermissionError as error:
        remedy = "make the file executable, and its file system one that is not mounted noexec"
        raise PartFailed(f"{error.filename or words[0]} may not be run; {remedy}") from error
    except OSError as error:
        raise PartFailed(f"{words[0]} can't be run: {error.strerror}") from error


class Process:
    """A program in a process group of its own, with its output in a log file."""

    def __init__(self, name: str, log: Path, *, stop_signal: int = signal.SIGTERM) -> None:
        self.name = name
        self.log = log
        self._stop_signal = stop_signal
        self._popen: subprocess.Popen | None = None

    @property
    def pid(self) -> int:
        if self._popen is None:
            raise PartFailed(f"{self.name} is not running")
        return self._popen.pid

    @property
    def running(self) -> bool:
        return self._popen is not None and self._popen.poll() is None

    def start(
        self,
        command: list[str | Path],
        *,
        env: dict[str, str] | None = None,
        cwd: Path | None = None,
        user: int | None = None,
    ) -> None:
        if self.running:
            raise PartFailed(f"{self.name} is running already")
        words = [str(word) for word in command]
        with self.log.open("ab") as log, told_if_not_startable(words):
            self._popen = subprocess.Popen(
                words,
                env={**os.environ, **(env or {})},
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                **as_user(user),
            )
        _leash.add(self._popen.pid)

    def wait_until(self, ready: Callable[[], bool], seconds: float = READY_SECONDS) -> float:
        """Polls `ready` and returns the seconds it took; raises when the program ends or the time does."""
        started = time.monotonic()

        def is_ready() -> bool:
            if ready():
                return True
            if not self.running:
                raise PartFailed(f"{self.name} ended before it was ready\n{self.log_tail()}")
            return False

        try:
            waiting.until(is_ready, f"{self.name} to be ready", seconds=seconds, poll=POLL_SECONDS)
        except waiting.NotReached as error:
            raise PartFailed(f"{error}\n{self.log_tail()}") from None
        return time.monotonic() - started

    def stop(self) -> None:
        """Asks, waits, then kills the group. Harmless when nothing runs."""
        if self._popen is None:
            return
        self._signal(self._stop_signal)
        try:
            self._popen.wait(waiting.patience(STOP_SECONDS))
        except subprocess.TimeoutExpired:
            self._signal(signal.SIGKILL)
            self._popen.wait()
        self._forget()

    def kill(self) -> None:
        """Ends the group at once with SIGKILL, as the kernel does when memory is short."""
        self._signal(signal.SIGKILL)
        self._popen.wait()
        self._forget()

    def log_tail(self, lines: int = 20) -> str:
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return "\n".join(f"  {self.name} | {line}" for line in text.splitlines()[-lines:])

    def _forget(self) -> None:
        _leash.remove(self._popen.pid)
        self._popen = None

    def _signal(self, number: int) -> None:
        if self.running:
            os.killpg(self._popen.pid, number)
