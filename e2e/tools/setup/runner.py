"""Runs parts side by side: one lock a part, a stamp for what is done, a line of progress while it lasts."""

import contextlib
import fcntl
import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tools.layout import LOCKS, LOGS, ROOT, STAMPS, TOOLS

# Linking two of the big binaries at once takes about 4 GB; more at once would not be faster on a laptop.
AT_ONCE = 2
# A long step says that it is alive this often, in seconds.
HEARTBEAT = 15
# Package registries fail now and then; a build error fails the same way twice, quickly.
ATTEMPTS = 2

_say_lock = threading.Lock()
_running: set[subprocess.Popen] = set()
_stopping = threading.Event()


class StepFailed(Exception):
    """A command failed; its output is in the part's log."""


@dataclass(frozen=True)
class Part:
    """One thing in `.tools/`: how it is made, and what tells that it is there already."""

    name: str
    what: str
    build: Callable[["Shell"], None]
    outputs: tuple[Path, ...]
    needs: frozenset[str] = frozenset()
    # Texts and files that the result depends on; None: `build` is incremental itself and always runs.
    inputs: tuple[str | Path, ...] | None = None
    after: tuple[str, ...] = field(default=())
    # Made when it is named alone: what few targets need.
    on_demand: bool = False

    def fingerprint(self) -> str:
        digest = hashlib.sha256()
        for item in self.inputs or ():
            digest.update(item.read_bytes() if isinstance(item, Path) else item.encode())
            digest.update(b"\0")
        return digest.hexdigest()


def say(text: str) -> None:
    """One line on standard output, whole even when several threads speak."""
    with _say_lock:
        print(text, flush=True)


@dataclass
class Shell:
    """Runs commands of one part, their output into that part's log."""

    name: str
    log: Path
    started: float

    def run(
        self, command: list[str | Path], *, cwd: Path = ROOT, env: dict[str, str] | None = None, attempts: int = 1
    ) -> None:
        for attempt in range(1, attempts + 1):
            if self._once([str(word) for word in command], cwd, env):
                return
            if _stopping.is_set():
                break
            if attempt < attempts:
                say(f"  {self.name}: failed, trying once more")
        raise StepFailed(f"{' '.join(map(str, command))} failed")

    def _once(self, command: list[str], cwd: Path, env: dict[str, str] | None) -> bool:
        with self.log.open("ab") as log:
            log.write(f"$ {' '.join(command)}\n".encode())
            log.flush()
            process = subprocess.Popen(
                command,
                cwd=cwd,
                env={**os.environ, **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            _running.add(process)
            try:
                while True:
                    try:
                        return process.wait(timeout=HEARTBEAT) == 0
                    except subprocess.TimeoutExpired:
                        say(f"  {self.name}: still at it, {time.monotonic() - self.started:.0f} s")
            finally:
                _running.discard(process)


def run_all(parts: list[Part]) -> bool:
    """Makes every part that is not there yet; False when one failed."""
    for folder in (TOOLS, LOCKS, LOGS, STAMPS, TOOLS / "bin"):
        folder.mkdir(parents=True, exist_ok=True)
    done = {part.name: threading.Event() for part in parts}
    failed: list[str] = []

    def work(part: Part) -> None:
        for other in part.after:
            if other in done:
                done[other].wait()
        try:
            _make(part)
        except (StepFailed, OSError) as error:
            failed.append(part.name)
            if not _stopping.is_set():
                _explain(part, error)
        finally:
            done[part.name].set()

    # In the order given, so a part that waits is always behind the one it waits for.
    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        futures = [pool.submit(work, part) for part in parts]
        try:
            for future in futures:
                future.result()
        except KeyboardInterrupt:
            _stop_all(futures)
            raise
    return not failed


def _make(part: Part) -> None:
    with _locked(part):
        stamp = STAMPS / part.name
        fingerprint = part.fingerprint()
        if part.inputs is not None and _is_fresh(part, stamp, fingerprint):
            return
        started = time.monotonic()
        log = LOGS / f"setup-{part.name}.log"
        log.write_bytes(b"")
        if part.inputs is not None:
            stamp.unlink(missing_ok=True)
            say(f"  {part.name}: {part.what} …")
        part.build(Shell(part.name, log, started))
        if part.inputs is not None:
            stamp.write_text(fingerprint)
        took = time.monotonic() - started
        # Warm incremental builds are not worth a line.
        if part.inputs is not None or took > 5:
            say(f"  {part.name}: ready after {took:.0f} s")


def _is_fresh(part: Part, stamp: Path, fingerprint: str) -> bool:
    return stamp.exists() and stamp.read_text() == fingerprint and all(path.exists() for path in part.outputs)


@contextlib.contextmanager
def _locked(part: Part) -> Iterator[None]:
    with (LOCKS / part.name).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"  {part.name}: waiting for another set-up that is at it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _explain(part: Part, error: Exception) -> None:
    log = LOGS / f"setup-{part.name}.log"
    say(f"  {part.name}: FAILED: {error}")
    if log.exists():
        for line in log.read_text(errors="replace").splitlines()[-25:]:
            say(f"    | {line}")
        say(f"    whole output: {log.relative_to(ROOT)}")


def _stop_all(futures: list) -> None:
    _stopping.set()
    for future in futures:
        future.cancel()
    for process in list(_running):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
    sys.stdout.flush()
