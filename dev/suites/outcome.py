"""Runs one suite: shows what it says as it comes, and keeps all of it in a log."""

import contextlib
import re
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from dev.layout import LOGS, ROOT
from dev.schedule import commands
from dev.setup.runner import say
from dev.suites.formats import Counts, Failed
from dev.suites.limit import within
from dev.suites.suite import EVERYTHING, Step, Suite

# What a suite says in a line about why it, or a part of it, did not run.
LEFT_OUT = re.compile(r"^SKIPPED(?:: | ?\[).*", re.M)
LONGEST_LINE = 300
# Of a step that shows nothing as it runs, when it fails.
LAST_LINES = 60


@dataclass(frozen=True)
class Outcome:
    name: str
    passed: int
    failed: int
    skipped: int
    seconds: float
    left_out: list[str] = field(default_factory=list)
    # Of each test that failed: its name, why, and how it runs alone.
    failures: list[tuple[str, str, str]] = field(default_factory=list)

    def __str__(self) -> str:
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped} ({self.seconds:.0f} s)"


def run(suite: Suite) -> Outcome:
    say(f"== {suite.name}: {suite.what}")
    began = time.monotonic()
    total = Counts()
    left_out: list[str] = []
    failures: list[tuple[str, str, str]] = []
    log = LOGS / f"suite-{suite.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_bytes(b"")
    for step in suite.steps():
        output, code = _run(suite, step)
        with log.open("a") as kept:
            kept.write(f"$ {' '.join(map(str, step.command))}\n{output}")
        counts = step.format.counts(output, code)
        failed = list(step.format.failed(output))
        # A tool that fails without naming a failure (it did not compile, say) is a failure too.
        if code != 0 and counts.failed == 0:
            counts = Counts(counts.passed, 1, counts.skipped)
        if counts.failed and not failed:
            failed = [Failed("", _last_line(output))]
        if counts.failed and step.show != EVERYTHING:
            say("\n".join(f"   {suite.name}: {line}" for line in output.splitlines()[-LAST_LINES:]))
        total += counts
        left_out += [line[:LONGEST_LINE] for line in LEFT_OUT.findall(output)]
        failures += [(test.name, test.why, _alone(suite, step, test)) for test in failed]
    seconds = time.monotonic() - began
    outcome = Outcome(suite.name, total.passed, total.failed, total.skipped, seconds, left_out, failures)
    say(f"   {suite.name}: {outcome}")
    return outcome


def _run(suite: Suite, step: Step) -> tuple[str, int]:
    """What the command said, shown as it came, and its exit status."""
    lines: list[str] = []
    words = [str(word) for word in step.command]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "errors": "replace"}
    with commands.started(words, cwd=step.cwd or ROOT, **options) as process, within(process):
        for line in _lines(process):
            lines.append(line)
            if step.shows(line) and line.strip():
                say(f"   {suite.name}: {line.rstrip()}")
        return "".join(lines), process.wait()


def _lines(process: subprocess.Popen) -> Iterator[str]:
    with contextlib.closing(process.stdout):
        yield from process.stdout


def _alone(suite: Suite, step: Step, test: Failed) -> str:
    if step.alone and test.name:
        return step.alone.format(name=test.name)
    return run_alone(suite)


def run_alone(suite: Suite) -> str:
    """The command that runs the whole suite, and nothing else."""
    return f"python3 dev/suites {suite.name}"


def _last_line(output: str) -> str:
    lines = [line for line in output.splitlines() if line.strip()]
    return lines[-1].strip()[:LONGEST_LINE] if lines else "it said nothing"
