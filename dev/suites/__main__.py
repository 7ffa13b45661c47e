"""Entry point. Makes the parts that the suites need, and begins each suite as soon as its own are there.

Records counts into $FIELDVEIL_RESULTS when that names a folder.
"""

import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from dev.schedule import scheduler, timeline
from dev.schedule.task import Run, Task
from dev.setup import needed, runner
from dev.suites import outcome, report
from dev.suites.definitions import GROUPS, SUITES
from dev.suites.outcome import Outcome
from dev.suites.suite import Suite


def main(words: list[str]) -> int:
    if words[:1] == ["--sum"]:
        return report.add_up(Path(words[1]))
    names = [name for word in words for name in GROUPS.get(word, (word,))]
    unknown = [name for name in names if name not in SUITES]
    if unknown or not names:
        print(f"name at least one suite or group: {', '.join([*GROUPS, *SUITES])}", file=sys.stderr)
        return 2
    suites = [SUITES[name] for name in dict.fromkeys(names)]
    parts = needed.parts({name for suite in suites for name in suite.needs}, everything=True)
    if parts is None:
        return 1
    outcomes = _run(suites, {task.name: task for task in runner.tasks(parts)})
    if folder := os.environ.get("FIELDVEIL_RESULTS"):
        report.record(Path(folder), outcomes)
    return report.close(outcomes)


def _run(suites: list[Suite], parts: dict[str, Task]) -> list[Outcome]:
    """In the order of the suites, whatever order they ran in."""
    outcomes: dict[str, Outcome] = {}
    tasks: dict[str, Task] = {}
    for suite in suites:
        # What an earlier suite needs is made earlier.
        needs = needed.with_what_they_come_after(suite.needs)
        tasks |= {name: task for name, task in parts.items() if name in needs and name not in tasks}
        tasks[suite.name] = _task(suite, outcomes)
    runs = scheduler.run_all(tasks.values(), runner.say)
    if lines := timeline.lines(runs):
        print("\n== what ran when", *lines, sep="\n")
    by_name = {run.task.name: run for run in runs}
    return [outcomes.get(suite.name) or _did_not_run(suite, by_name[suite.name]) for suite in suites]


def _task(suite: Suite, outcomes: dict[str, Outcome]) -> Task:
    def run() -> bool:
        outcomes[suite.name] = outcome.run(suite)
        return not outcomes[suite.name].failed

    return Task(suite.name, run, suite.lane, frozenset(suite.needs))


def _did_not_run(suite: Suite, run: Run) -> Outcome:
    why = f"set-up failed: {', '.join(run.lacks)}" if run.lacks else f"{type(run.fault).__name__}: {run.fault}"
    failure = ("", f"it did not run to its end, for {why}", outcome.run_alone(suite))
    return Outcome(suite.name, 0, 1, 0, 0.0, failures=[failure])


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        print("\ninterrupted: what ran is stopped", file=sys.stderr)
        sys.exit(130)
