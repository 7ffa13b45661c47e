"""What came of several suites: a table, each failed test, then one closing line."""

import json
import sys
from dataclasses import asdict
from pathlib import Path

from dev.layout import LOGS, ROOT
from dev.suites.outcome import Outcome

# Of one suite. One fixture that fails fails many tests.
MOST_FAILURES, MOST_LEFT_OUT = 20, 5


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
    name = max(len(outcome.name) for outcome in outcomes)
    for outcome in outcomes:
        print(f"   {outcome.name:<{name}} {outcome}")
        for line in list(dict.fromkeys(outcome.left_out))[:MOST_LEFT_OUT]:
            print(f"      {line}")
    if any(outcome.failed for outcome in outcomes):
        print("\n== what failed, and how it runs alone")
    for outcome in outcomes:
        _explain(outcome)
    passed, failed = (sum(getattr(outcome, name) for outcome in outcomes) for name in ("passed", "failed"))
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


def _explain(outcome: Outcome) -> None:
    if not outcome.failed:
        return
    for name, why, alone in outcome.failures[:MOST_FAILURES]:
        print(f"   {outcome.name}: {name}".rstrip(": "), why, alone, sep="\n      ")
    more = outcome.failed - len(outcome.failures[:MOST_FAILURES])
    if more > 0:
        print(f"   {outcome.name}: {more} more")
    log = LOGS / f"suite-{outcome.name}.log"
    if log.exists():
        print(f"   {outcome.name}: the whole output is in {log.relative_to(ROOT)}")
