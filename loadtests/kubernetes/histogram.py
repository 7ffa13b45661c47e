"""Latencies that can be added up: counts in buckets whose bounds grow by a fixed factor.

Percentiles of several runners can not be averaged. Their histograms can be added, and a percentile of the sum is
off by no more than `relative_error`, as that of each runner would be (the mapping is that of DDSketch:
Masson, Rim, Lee, VLDB 2019). Bucket `i` holds what is above gamma^(i-1) and not above gamma^i.
"""

import math
from collections import Counter
from dataclasses import dataclass

from loadtests.results import PERCENTILES

# Of the runners' histograms, as `loadtests/k6/run/histogram.go` has it.
RELATIVE_ERROR = 0.001


class UnequalHistograms(Exception):
    """Histograms with other buckets can't be added."""


@dataclass(frozen=True)
class Histogram:
    """In microseconds, as a runner writes it."""

    relative_error: float
    # By the bucket's number as text: JSON has no other keys.
    counts: dict[str, int]

    @property
    def gamma(self) -> float:
        return (1 + self.relative_error) / (1 - self.relative_error)

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def value(self, bucket: int) -> float:
        """What stands for all in a bucket: no value there is further from it than the relative error."""
        return 2 * self.gamma**bucket / (self.gamma + 1)

    def percentile(self, percent: float) -> float:
        """The value of the smallest bucket that so many percent lie in or below (nearest rank)."""
        rank = max(1, math.ceil(self.total * percent / 100 - 1e-9))
        seen = 0
        for bucket, count in sorted((int(number), count) for number, count in self.counts.items()):
            seen += count
            if seen >= rank:
                return self.value(bucket)
        raise ValueError("a percentile of no values")


def add(histograms: list[Histogram]) -> Histogram:
    errors = {histogram.relative_error for histogram in histograms}
    if errors != {RELATIVE_ERROR}:
        raise UnequalHistograms(f"histograms of relative errors {sorted(errors)}: build the image anew, of this commit")
    counts: Counter[str] = Counter()
    for histogram in histograms:
        counts.update(histogram.counts)
    return Histogram(RELATIVE_ERROR, dict(counts))


def latencies(histogram: Histogram, least: float, most: float) -> dict[str, float]:
    """As in a measurement. The least and the greatest are exact, and bound the rest."""
    if not histogram.total:
        return {}
    inner = {name: min(max(histogram.percentile(float(name)), least), most) for name in PERCENTILES}
    return {"min": least, **inner, "max": most}
