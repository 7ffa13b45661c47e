"""The schedule of set-up and suites: what comes first, how many at once, and what a failure keeps from running."""

import threading
import time

import pytest

from dev.schedule import scheduler, timeline
from dev.schedule.task import Lane, Run, Task


class Recorder:
    """Tasks that say when they began and ended, in one list."""

    def __init__(self) -> None:
        self.events: list[tuple[str, str]] = []
        self.at_once = 0
        self.most_at_once = 0
        self._guard = threading.Lock()

    def task(self, name: str, lane: Lane = Lane.TEST, after: tuple[str, ...] = (), *, ok: bool = True) -> Task:
        def run() -> bool:
            with self._guard:
                self.events.append((name, "began"))
                self.at_once += 1
                self.most_at_once = max(self.most_at_once, self.at_once)
            time.sleep(0.02)
            with self._guard:
                self.events.append((name, "ended"))
                self.at_once -= 1
            return ok

        return Task(name, run, lane, frozenset(after))


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


def run(*tasks: Task) -> dict[str, Run]:
    return {run.task.name: run for run in scheduler.run_all(tasks, lambda _: None)}


def test_task_begins_when_all_that_it_comes_after_has_ended(recorder: Recorder) -> None:
    tests = recorder.task("tests", after=("filter", "keys"))
    runs = run(tests, recorder.task("filter", Lane.CARGO), recorder.task("keys", Lane.GO))
    began = recorder.events.index(("tests", "began"))
    assert recorder.events.index(("filter", "ended")) < began
    assert recorder.events.index(("keys", "ended")) < began
    assert all(done.ok for done in runs.values())


@pytest.mark.parametrize(("lane", "width"), [(Lane.CARGO, 1), (Lane.TEST, 2)])
def test_lane_runs_no_more_tasks_at_once_than_it_has_places(recorder: Recorder, lane: Lane, width: int) -> None:
    run(*(recorder.task(str(number), lane) for number in range(5)))
    assert recorder.most_at_once == width


def test_task_whose_need_failed_does_not_run_and_others_do(recorder: Recorder) -> None:
    lacking = recorder.task("keys-e2e", after=("vault",))
    runs = run(recorder.task("vault", Lane.GO, ok=False), lacking, recorder.task("rego"))
    assert ("keys-e2e", "began") not in recorder.events
    assert runs["keys-e2e"].lacks == ("vault",)
    assert not runs["keys-e2e"].ok
    assert runs["rego"].ok


def test_fault_in_a_task_is_kept_and_others_run(recorder: Recorder) -> None:
    def broken() -> bool:
        raise KeyError("keyset")

    runs = run(Task("keys", broken, Lane.GO), recorder.task("rego"))
    assert (runs["keys"].ok, runs["rego"].ok) == (False, True)
    assert isinstance(runs["keys"].fault, KeyError)


def test_two_tasks_of_one_name_are_refused(recorder: Recorder) -> None:
    with pytest.raises(ValueError, match="one name"):
        run(recorder.task("growth"), recorder.task("growth"))


def test_timeline_says_what_each_task_waited_for(recorder: Recorder) -> None:
    filters = Run(recorder.task("filter", Lane.CARGO), ready=0.0, began=0.0, ended=120.0, ok=True)
    tests = Run(
        recorder.task("rust", Lane.CARGO), ready=60.0, waited_for="toolchain", began=120.0, ended=180.0, ok=True
    )
    first, second = timeline.lines([tests, filters])
    assert first.split()[:4] == ["0:00", "to", "2:00", "filter"]
    assert second.endswith("waited for toolchain until 1:00 and for a place in the lane cargo until 2:00")
    assert (first.count("#"), second.count("."), second.count("#")) == (32, 16, 16)
