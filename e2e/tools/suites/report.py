"""Runs one suite, and says what came of several: a table, then one closing line."""

import json
import re
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tools.layout import ROOT
from tools.suites.limit import within
from tools.suites.suite import Counts, Suite

# What a suite says in a line about why it did not run, or what failed in it.
REASON = re.compile(r"^(?:SKIPPED: |ERROR |FAILED ).*", re.M)
MAX_REASONS, MAX_REASON = 5, 500


@dataclass(frozen=True)
class Outcome:
    name: str
    passed: int
    failed: int
    skipped: int
    seconds: float
    reasons: list[str] = field(default_factory=list)


def run(suite: Suite) -> Outcome:
    """Shows the suite's output as it comes, then its counts."""
    print(f"== {suite.name}: {suite.what}", flush=True)
    started = time.monotonic()
    total = Counts()
    reasons: list[str] = []
    for step in suite.steps():
        output: list[str] = []
        process = subprocess.Popen(
            [str(word) for word in step.command],
            cwd=step.cwd or ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        try:
            with within(process):
                for line in process.stdout:
                    output.append(line)
                    if step.shows(line):
                        print(f"   {line}", end="", flush=True)
                code = process.wait()
        except KeyboardInterrupt:
            # The terminal told the child as well; it gets the time to end its own parts.
            process.wait()
            raise
        counts = step.count("".join(output), code)
        # A tool that fails without naming a failure (it did not compile, say) is a failure too.
        if code != 0 and counts.failed == 0:
            counts = Counts(counts.passed, 1, counts.skipped)
        if counts.failed and not step.shows(""):
            print("".join(f"   {line}" for line in output[-60:]), end="")
        total = total + counts
        reasons += [line for line in REASON.findall("".join(output)) if counts.failed or line.startswith("SKIPPED")]
    seconds = time.monotonic() - started
    # One fixture that fails fails many tests.
    different = list({line.rpartition(" - ")[2]: line[:MAX_REASON] for line in reversed(reasons)}.values())
    shown = different[::-1][:MAX_REASONS]
    outcome = Outcome(suite.name, total.passed, total.failed, total.skipped, seconds, shown)
    print(f"   {_line(outcome)}", flush=True)
    return outcome


def record(folder: Path, outcomes: list[Outcome]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for outcome in outcomes:
        (folder / f"{outcome.name}.json").write_text(json.dumps(asdict(outcome)))


def add_up(folder: Path) -> int:
    """The closing lines over everything that was recorded in `folder`."""
    files = sorted(folder.glob("*.json"), key=lambda file: file.stat().st_mtime_ns)
    outcomes = [Outcome(**json.loads(file.read_text())) for file in files]
    if not outcomes:
        print("nothing ran", file=sys.stderr)
        return 1
    return close(outcomes)


def close(outcomes: list[Outcome]) -> int:
    print("\n== what ran")
    for outcome in outcomes:
        print(f"   {outcome.name:<12} {_line(outcome)}")
        for reason in outcome.reasons:
            print(f"      {reason}")
    passed, failed = (sum(getattr(outcome, name) for outcome in outcomes) for name in ("passed", "failed"))
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


def _line(outcome: Outcome) -> str:
    skipped = f", {outcome.skipped} skipped" if outcome.skipped else ""
    return f"{outcome.passed} passed, {outcome.failed} failed{skipped} ({outcome.seconds:.0f} s)"
