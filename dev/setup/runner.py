"""How a part is made: one lock a part, a stamp for what is done, a log of what its commands said."""

import contextlib
import fcntl
import functools
import hashlib
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dev.layout import LOCKS, LOGS, ROOT, STAMPS, TOOLS
from dev.schedule import commands
from dev.schedule.task import Lane, Task

# Package registries fail now and then; a build error fails the same way twice, quickly.
ATTEMPTS = 2

_say_lock = threading.Lock()


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

    @property
    def lane(self) -> Lane:
        """Which compiler it keeps busy; a part that fetches ready-made things keeps none."""
        if "cargo" in self.needs:
            return Lane.CARGO
        return Lane.GO if "go" in self.needs else Lane.FETCH

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

    def run(
        self, command: list[str | Path], *, cwd: Path = ROOT, env: dict[str, str] | None = None, attempts: int = 1
    ) -> None:
        for attempt in range(1, attempts + 1):
            if self._once([str(word) for word in command], cwd, env):
                return
            if commands.is_stopping():
                break
            if attempt < attempts:
                say(f"  {self.name}: failed, trying once more")
        raise StepFailed(f"{' '.join(map(str, command))} failed")

    def _once(self, command: list[str], cwd: Path, env: dict[str, str] | None) -> bool:
        with self.log.open("ab") as log:
            log.write(f"$ {' '.join(command)}\n".encode())
            log.flush()
            options = {"cwd": cwd, "env": {**os.environ, **(env or {})}, "stdout": log, "stderr": subprocess.STDOUT}
            with commands.started(command, **options) as process:
                return process.wait() == 0


def tasks(parts: list[Part]) -> list[Task]:
    """What makes each part that is not there yet."""
    for folder in (TOOLS, LOCKS, LOGS, STAMPS, TOOLS / "bin"):
        folder.mkdir(parents=True, exist_ok=True)
    return [Task(part.name, functools.partial(_try, part), part.lane, frozenset(part.after)) for part in parts]


def _try(part: Part) -> bool:
    try:
        _make(part)
    except (StepFailed, OSError) as error:
        if not commands.is_stopping():
            _explain(part, error)
        return False
    return True


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
        part.build(Shell(part.name, log))
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
            say(f"  {part.name}: waiting for another set-up that builds it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _explain(part: Part, error: Exception) -> None:
    log = LOGS / f"setup-{part.name}.log"
    say(f"  {part.name}: FAILED: {error}")
    if log.exists():
        for line in log.read_text(errors="replace").splitlines()[-25:]:
            say(f"    | {line}")
        say(f"    whole output: {log.relative_to(ROOT)}")
