"""Figures as text."""

from loadtests import figures
from loadtests.summary import Figure
from loadtests.tests.test_summary import measured, summary


def test_spread_is_the_median_with_the_least_and_the_most() -> None:
    assert figures.spread(Figure(42.84, 41.9, 143.6)) == "42.8 (41.9 to 144)"
    assert figures.spread(Figure(0.5, -0.25, 12_345.6), factor=2) == "1.00 (-0.50 to 24,691)"
    assert figures.spread(None) == figures.NONE


def test_percent_is_what_is_more_than_the_base() -> None:
    rounds = summary(measured("direct", 1), measured("fieldveil", 1, cpu=0.02))
    assert figures.percent(rounds, "cpu_us.total", "fieldveil", "direct") == "110 (110 to 110)"
    assert figures.percent(rounds, "cpu_us.proxy", "fieldveil", "direct") == figures.NONE
    assert figures.added(rounds, "cpu_us.total", "fieldveil", "direct") == "220 (220 to 220)"
