"""What ran when, and what each task waited for, as lines of text."""

from dev.schedule.scheduler import minutes
from dev.schedule.task import Run

WIDTH = 48
# A wait that is not worth a word, in seconds.
SHORT = 2.0


def lines(runs: list[Run]) -> list[str]:
    """A line for each task that took a moment, in the order in which they began."""
    ran = sorted((run for run in runs if run.began is not None), key=lambda run: run.began)
    whole = max((run.ended for run in ran), default=0.0)
    shown = [run for run in ran if run.ended - run.began >= SHORT]
    if not shown:
        return []
    name = max(len(run.task.name) for run in shown)
    return [_line(run, name, whole).rstrip() for run in shown]


def _line(run: Run, width: int, whole: float) -> str:
    when = f"{minutes(run.began):>5} to {minutes(run.ended):>5}"
    return f"   {when}  {run.task.name:<{width}}  {_bar(run, whole)}  {_waits(run)}"


def _bar(run: Run, whole: float) -> str:
    """Dots while it waited for a place in its lane, and marks while it ran."""
    ready, began, ended = (round(moment / whole * WIDTH) for moment in (run.ready, run.began, run.ended))
    ended = max(ended, began + 1)
    return f"|{' ' * ready}{'.' * (began - ready)}{'#' * (ended - began)}".ljust(WIDTH + 1)[: WIDTH + 1] + "|"


def _waits(run: Run) -> str:
    waits = []
    if run.waited_for and run.ready >= SHORT:
        waits.append(f"for {run.waited_for} until {minutes(run.ready)}")
    if run.began - run.ready >= SHORT:
        waits.append(f"for a place in the lane {run.task.lane.value[0]} until {minutes(run.began)}")
    return f"waited {' and '.join(waits)}" if waits else ""
