"""One measurement of what several runners found, and of what the meters read meanwhile."""

import bisect
from dataclasses import dataclass

import msgspec

from loadtests.kubernetes.histogram import Histogram, add, latencies
from loadtests.results import Measurement, Usage

# Runners begin when the operator's starter has told each, one after the other. With less in common than this share of
# the longest window, rates of different times would be added.
COMMON_SHARE = 0.9
# What the runners themselves used; all else is read by meters.
CLIENT = "client"


class UnmergeableResults(Exception):
    """What the runners wrote is no one measurement; the text says why and what to do."""


@dataclass(frozen=True)
class RunnerResult:
    """What a runner writes, as far as it is needed here."""

    operations: int
    seconds: float
    # Unix time of the window.
    began: float
    ended: float
    latency_us: dict[str, float]
    histogram: Histogram
    # None: its window never closed.
    usage: dict[str, Usage] | None
    answers: int
    wrong_answers: int
    errors: int
    sql_us: dict[str, float]
    sql_histogram: Histogram
    dropped: int = 0
    failures: list[str] | None = None


@dataclass(frozen=True)
class Sample:
    """What a meter read at a time: counters since the containers began."""

    # Unix time.
    at: float
    usage: dict[str, Usage]


def runner_result(log: str, name: str) -> RunnerResult:
    """The one line of a runner's log that is its result."""
    found = [line for line in log.splitlines() if line.startswith("{") and '"latency_us"' in line]
    if len(found) != 1:
        raise UnmergeableResults(f"{name}: {len(found)} results in its log, not one: see there what ended it")
    try:
        return msgspec.json.decode(found[0], type=RunnerResult)
    except msgspec.DecodeError as error:
        raise UnmergeableResults(
            f"{name}: its result is not one: {error}: use the scripts and the binary of one commit"
        ) from error


def samples(log: str) -> list[Sample]:
    """A meter's log, in the order of time. A line that it is writing now is left out."""
    whole = [line for line in log.splitlines(keepends=True) if line.startswith('{"at"') and line.endswith("\n")]
    return sorted((msgspec.json.decode(line, type=Sample) for line in whole), key=lambda sample: sample.at)


def measurement(
    target: str, round_: int, kind: str, runners: list[RunnerResult], meters: list[list[Sample]]
) -> Measurement:
    """`kind` is the workload's. Of time, the runners' rates are added; fixed work lasts until the last runner ends."""
    if not runners:
        raise UnmergeableResults("no runner wrote a result: see the logs of the TestRun's pods")
    operations = sum(runner.operations for runner in runners)
    if kind == "fixed":
        begin, end = min(runner.began for runner in runners), max(runner.ended for runner in runners)
        seconds = end - begin
    else:
        begin, end = common_window(runners)
        rate = sum(runner.operations / runner.seconds for runner in runners)
        seconds = operations / rate if rate else max(runner.seconds for runner in runners)
    usage = {name: used for meter in meters for name, used in between(meter, begin, end, seconds).items()}
    clients = [runner.usage[CLIENT] for runner in runners if runner.usage and CLIENT in runner.usage]
    if clients:
        usage[CLIENT] = Usage(
            sum(used.cpu_seconds for used in clients),
            sum(used.resident_bytes for used in clients),
            sum(used.context_switches for used in clients),
        )
    return Measurement(
        target=target,
        round=round_,
        operations=operations,
        seconds=seconds,
        latency_us=_percentiles([(runner.latency_us, runner.histogram) for runner in runners]),
        sql_us=_percentiles([(runner.sql_us, runner.sql_histogram) for runner in runners]),
        usage=usage,
        answers=sum(runner.answers for runner in runners),
        wrong_answers=sum(runner.wrong_answers for runner in runners),
        errors=sum(runner.errors for runner in runners),
        dropped=sum(runner.dropped for runner in runners),
        calls=sum(runner.histogram.total for runner in runners),
    )


def _percentiles(found: list[tuple[dict[str, float], Histogram]]) -> dict[str, float]:
    """Of all runners, of which some may have none."""
    some = [(summary, histogram) for summary, histogram in found if histogram.total]
    if not some:
        return {}
    return latencies(
        add([histogram for _, histogram in some]),
        min(summary["min"] for summary, _ in some),
        max(summary["max"] for summary, _ in some),
    )


def common_window(runners: list[RunnerResult]) -> tuple[float, float]:
    """When all of them measured."""
    share = common_share(runners)
    if share < COMMON_SHARE:
        raise UnmergeableResults(
            f"the runners measured together for {share:.0%} of their time, {COMMON_SHARE:.0%} is the least: "
            "raise the scale, so that the windows are longer, and keep the nodes' clocks together"
        )
    return max(runner.began for runner in runners), min(runner.ended for runner in runners)


def common_share(runners: list[RunnerResult]) -> float:
    """For how much of the longest window all of them measured."""
    begin, end = max(runner.began for runner in runners), min(runner.ended for runner in runners)
    longest = max(runner.ended - runner.began for runner in runners)
    return max(0.0, end - begin) / longest if longest else 0.0


def between(meter: list[Sample], begin: float, end: float, seconds: float) -> dict[str, Usage]:
    """What was used from begin to end, as for so many seconds: the counters are read between two samples."""
    if not meter or meter[0].at > begin or meter[-1].at < end:
        known = f"from {meter[0].at:.2f} to {meter[-1].at:.2f}" if meter else "never"
        raise UnmergeableResults(
            f"a meter read its counters {known}, the runners measured from {begin:.2f} to {end:.2f}: "
            "see the meter's log, and keep the nodes' clocks together"
        )
    scale = seconds / (end - begin)
    found = {}
    for name, last in _at_or_before(meter, end).usage.items():
        cpu, switches = (
            _read(meter, name, counter, end) - _read(meter, name, counter, begin)
            for counter in ("cpu_seconds", "context_switches")
        )
        if cpu < 0:
            raise UnmergeableResults(
                f"{name}: its counters fell: a container started anew while it was measured; run it again"
            )
        # Those of threads that ended are no longer counted.
        found[name] = Usage(cpu * scale, last.resident_bytes, max(0, round(switches * scale)))
    return found


def _at_or_before(meter: list[Sample], at: float) -> Sample:
    return meter[bisect.bisect_right(meter, at, key=lambda sample: sample.at) - 1]


def _read(meter: list[Sample], name: str, counter: str, at: float) -> float:
    """A counter at that time, on the straight line between the samples around it."""
    index = bisect.bisect_right(meter, at, key=lambda sample: sample.at) - 1
    before, after = meter[index], meter[min(index + 1, len(meter) - 1)]
    first, second = (getattr(sample.usage[name], counter) for sample in (before, after))
    if after.at == before.at:
        return first
    return first + (second - first) * (at - before.at) / (after.at - before.at)
