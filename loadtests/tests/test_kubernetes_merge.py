"""One measurement of several runners: exact where sums are exact, and within the histogram's error where it is not."""

import json
import math
import random
from dataclasses import asdict

import pytest

from dev.layout import ROOT
from loadtests.kubernetes import merge
from loadtests.kubernetes.histogram import RELATIVE_ERROR, Histogram, UnequalHistograms, add, latencies
from loadtests.kubernetes.merge import RunnerResult, Sample, UnmergeableResults
from loadtests.results import PERCENTILES, Usage

ERROR = RELATIVE_ERROR


def histogram(values: list[float]) -> Histogram:
    """As a runner counts them."""
    gamma = (1 + ERROR) / (1 - ERROR)
    counts: dict[str, int] = {}
    for value in values:
        bucket = str(math.ceil(math.log(value) / math.log(gamma)))
        counts[bucket] = counts.get(bucket, 0) + 1
    return Histogram(ERROR, counts)


def runner(values: list[float], *, began: float = 100.0, ended: float = 110.0, **more: object) -> RunnerResult:
    found = {
        "operations": len(values),
        "seconds": ended - began,
        "began": began,
        "ended": ended,
        "latency_us": {"min": min(values), "max": max(values)} if values else {},
        "histogram": histogram(values),
        "usage": {"client": Usage(1.5, 1000, 10)},
        "answers": len(values),
        "wrong_answers": 0,
        "errors": 0,
        "sql_us": {},
        "sql_histogram": histogram([]),
    }
    return RunnerResult(**{**found, **more})


def meter(*points: tuple[float, float], name: str = "proxy") -> list[Sample]:
    return [Sample(at, {name: Usage(cpu, int(at), int(cpu * 100))}) for at, cpu in points]


def test_percentiles_of_all_runners_are_within_the_stated_error_of_those_of_all_values():
    pseudo = random.Random(7)
    # One runner far slower than the other: the mean of their percentiles would be nowhere near.
    fast = [pseudo.lognormvariate(4, 0.5) for _ in range(9000)]
    slow = [pseudo.lognormvariate(8, 1.0) for _ in range(1000)]
    found = latencies(add([histogram(fast), histogram(slow)]), min(fast + slow), max(fast + slow))
    exact = sorted(fast + slow)
    for name in PERCENTILES:
        rank = math.ceil(len(exact) * float(name) / 100 - 1e-9)
        assert found[name] == pytest.approx(exact[rank - 1], rel=ERROR * 1.0001), name
    assert (found["min"], found["max"]) == (exact[0], exact[-1])


def test_a_bucket_stands_for_values_within_the_error():
    for value in (0.001, 0.5, 1.0, 17.3, 1e3, 123456.789, 6e7):
        (bucket,) = histogram([value]).counts
        assert histogram([value]).value(int(bucket)) == pytest.approx(value, rel=ERROR * 1.0001)


def test_histograms_with_other_buckets_are_not_added():
    for other in ([0.001, 0.01], [0.01, 0.01]):
        with pytest.raises(UnequalHistograms):
            add([Histogram(error, {"1": 1}) for error in other])


def test_the_runners_count_in_the_same_buckets():
    source = (ROOT / "loadtests" / "k6" / "run" / "histogram.go").read_text()
    assert f"const relativeError = {ERROR}\n" in source


def test_counts_are_sums_and_rates_are_added():
    runners = [
        runner([10.0] * 400, wrong_answers=1, errors=2, dropped=3),
        runner([20.0] * 200, began=100.2, ended=110.2, wrong_answers=4, errors=5, dropped=6),
    ]
    found = merge.measurement("fieldveil", 1, "closed", runners, [])
    assert (found.operations, found.answers, found.calls) == (600, 600, 600)
    assert (found.wrong_answers, found.errors, found.dropped) == (5, 7, 9)
    assert found.operations / found.seconds == pytest.approx(40 + 20)
    assert found.usage == {"client": Usage(3.0, 2000, 20)}


def test_statements_of_all_runners_are_put_together():
    one, other = [5.0] * 60, [8.0] * 40
    runners = [
        runner([10.0], sql_us={"min": 5.0, "max": 5.0}, sql_histogram=histogram(one)),
        runner([10.0], sql_us={"min": 8.0, "max": 8.0}, sql_histogram=histogram(other)),
        runner([10.0]),
    ]
    found = merge.measurement("fieldveil", 1, "closed", runners, []).sql_us
    assert set(found) == {"min", *PERCENTILES, "max"}
    assert (found["min"], found["max"]) == (5, 8)
    assert (found["50"], found["75"]) == (pytest.approx(5, rel=ERROR), pytest.approx(8, rel=ERROR))
    assert merge.measurement("fieldveil", 1, "closed", runners[2:], []).sql_us == {}


def test_fixed_work_lasts_from_the_first_runner_to_the_last():
    runners = [runner([10.0] * 5, began=100, ended=103), runner([10.0] * 5, began=101, ended=109)]
    found = merge.measurement("direct", 1, "fixed", runners, [meter((99, 1), (100, 2), (109, 11), (110, 50))])
    assert (found.operations, found.seconds) == (10, 9)
    assert found.usage["proxy"].cpu_seconds == pytest.approx(9)


def test_a_containers_cpu_is_read_once_over_the_window_that_all_runners_share():
    # Half a second of CPU each second from 100 on; none before 100 and after 110.
    counters = [(float(at), 7 + 0.5 * min(max(at - 100, 0), 10)) for at in range(95, 116)]
    runners = [runner([10.0] * 1000), runner([10.0] * 1000, began=100.5, ended=110.5)]
    found = merge.measurement("fieldveil", 1, "closed", runners, [meter(*counters)])
    # Read from 100.5 to 110, where it is busy, and put as for the ten seconds that the operations are of.
    assert found.seconds == pytest.approx(10)
    assert found.usage["proxy"].cpu_seconds == pytest.approx(5)
    assert found.usage["proxy"].context_switches == 500


def test_counters_are_read_between_two_samples():
    found = merge.between(meter((0.0, 0.0), (1.0, 10.0), (2.0, 10.0)), 0.25, 1.5, 1.25)
    assert found["proxy"].cpu_seconds == pytest.approx(7.5)
    # Of memory, the last that was read.
    assert found["proxy"].resident_bytes == 1


def test_meters_of_several_nodes_are_put_together():
    meters = [meter((90, 0), (120, 30)), meter((90, 0), (120, 60), name="server")]
    found = merge.measurement("fieldveil", 1, "closed", [runner([10.0])], meters)
    assert found.usage["proxy"].cpu_seconds == pytest.approx(10)
    assert found.usage["server"].cpu_seconds == pytest.approx(20)


@pytest.mark.parametrize(
    ("runners", "meters", "says"),
    [
        ([], [], "no runner"),
        ([runner([1.0]), runner([1.0], began=105, ended=115)], [], "measured together for 50% of their time"),
        ([runner([1.0])], [meter((101, 0), (120, 1))], "a meter read its counters from 101.00"),
        ([runner([1.0])], [meter((90, 0), (109, 1))], "a meter read its counters from 90.00 to 109.00"),
        ([runner([1.0])], [[]], "never"),
        ([runner([1.0])], [meter((90, 5), (105, 0), (120, 1))], "its counters fell"),
    ],
)
def test_what_is_no_one_measurement_is_refused(runners, meters, says):
    with pytest.raises(UnmergeableResults, match=says):
        merge.measurement("fieldveil", 1, "closed", runners, meters)


def test_a_runner_that_found_nothing_counts_with_its_errors():
    silent = runner([], errors=1, usage=None)
    found = merge.measurement("fieldveil", 1, "closed", [runner([10.0] * 3), silent], [])
    assert (found.operations, found.errors) == (3, 1)
    assert found.latency_us["50"] == pytest.approx(10, rel=ERROR)
    none = merge.measurement("fieldveil", 1, "closed", [silent], [])
    assert (none.operations, none.errors, none.latency_us) == (0, 1, {})


def test_a_runners_result_is_the_one_line_of_its_log():
    line = json.dumps(asdict(runner([10.0])))
    log = f'level=info msg="something"\n{line}\nlevel=error msg="thresholds"\n'
    assert merge.runner_result(log, "pod") == runner([10.0])
    for other in ("", f"{line}\n{line}\n"):
        with pytest.raises(UnmergeableResults, match="results in its log"):
            merge.runner_result(other, "pod")
    with pytest.raises(UnmergeableResults, match="histogram"):
        merge.runner_result(line.replace('"histogram"', '"other"'), "pod")


def test_a_line_that_a_meter_is_writing_is_left_out():
    lines = [json.dumps({"at": at, "usage": {}}) + "\n" for at in (2.0, 1.0)]
    assert [sample.at for sample in merge.samples("text\n" + "".join(lines) + lines[0][:9])] == [1.0, 2.0]
