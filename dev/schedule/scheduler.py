"""Runs each task as soon as what it comes after is done and its lane has a place."""

import signal
import threading
import time
from collections.abc import Callable, Iterable

from dev.schedule import commands
from dev.schedule.task import Run, Task

# A long run says this often what it is at, in seconds.
HEARTBEAT = 60.0
# What was asked to end has as long to stop what it started, in seconds.
GRACE = 60.0


def run_all(tasks: Iterable[Task], say: Callable[[str], None]) -> list[Run]:
    """Runs the tasks, the first ones first where several could begin. A task whose needs failed does not run."""
    return _Schedule(list(tasks), say).run()


class _Schedule:
    def __init__(self, tasks: list[Task], say: Callable[[str], None]) -> None:
        self._runs = {task.name: Run(task) for task in tasks}
        if len(self._runs) < len(tasks):
            raise ValueError("two tasks have one name")
        self._say = say
        self._changed = threading.Condition()
        self._began = time.monotonic()

    def run(self) -> list[Run]:
        runs = list(self._runs.values())
        heard = self._now()
        try:
            with self._changed:
                while not all(run.is_settled for run in runs):
                    self._begin_what_can()
                    self._changed.wait(1.0)
                    if self._now() - heard > HEARTBEAT:
                        heard = self._now()
                        self._say(f"  {minutes(heard)} running: {', '.join(run.task.name for run in self._running())}")
        except KeyboardInterrupt:
            self._stop()
            raise
        return runs

    def _begin_what_can(self) -> None:
        progress = True
        while progress:
            progress = False
            for run in self._runs.values():
                if run.began is None and not run.is_settled and self._is_ready(run):
                    progress |= self._begin(run)

    def _is_ready(self, run: Run) -> bool:
        needed = [self._runs[name] for name in run.task.after if name in self._runs]
        if not all(other.is_settled for other in needed):
            return False
        if run.ready is None:
            last = max(needed, key=lambda other: other.ended, default=None)
            run.ready, run.waited_for = (last.ended, last.task.name) if last else (0.0, "")
        return True

    def _begin(self, run: Run) -> bool:
        """Whether something changed."""
        failed = [name for name in sorted(run.task.after) if name in self._runs and not self._runs[name].ok]
        if failed:
            run.lacks, run.ok, run.ended = tuple(failed), False, self._now()
            return True
        lane = run.task.lane
        if sum(other.task.lane is lane for other in self._running()) >= lane.width:
            return False
        run.began = self._now()
        run.thread = threading.Thread(target=self._work, args=(run,), name=run.task.name, daemon=True)
        run.thread.start()
        return True

    def _work(self, run: Run) -> None:
        ok = False
        try:
            ok = run.task.run()
        except InterruptedError:
            pass
        except Exception as error:
            run.fault = error
        with self._changed:
            run.ok, run.ended = ok, self._now()
            self._changed.notify_all()

    def _running(self) -> list[Run]:
        return [run for run in self._runs.values() if run.began is not None and not run.is_settled]

    def _stop(self) -> None:
        """Each command ends what it started, and is waited for."""
        commands.stop_all(signal.SIGTERM)
        if not commands.have_ended(GRACE):
            commands.stop_all(signal.SIGKILL)

    def _now(self) -> float:
        return time.monotonic() - self._began


def minutes(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 60}:{whole % 60:02d}"
