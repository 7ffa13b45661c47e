"""Figures as text, for tables that stand theirs beside ours."""

from loadtests.summary import Figure, ScenarioSummary

NONE = "-"


def spread(figure: Figure | None, factor: float = 1) -> str:
    """The median, with the least and the greatest in parentheses: "42.8 (41.9 to 43.6)"."""
    if figure is None:
        return NONE
    median, least, most = (number(value * factor) for value in (figure.median, figure.least, figure.most))
    return f"{median} ({least} to {most})"


def number(value: float) -> str:
    """Three digits or so, and all of a large one; two of what is less than 0.1."""
    size = abs(value)
    if 0 < size < 0.0995:
        return f"{value:.2g}"
    return f"{value:,.0f}" if size >= 100 else f"{value:.1f}" if size >= 10 else f"{value:.2f}"


def plural(unit: str) -> str:
    """Of a scenario's unit: "rows", "bodies"."""
    return f"{unit[:-1]}ies" if unit.endswith("dy") else f"{unit}s"


def added(scenario: ScenarioSummary, measure: str, target: str, base: str) -> str:
    """What `target` takes more than `base`, in the measure's unit."""
    return spread(scenario.added(measure, target, base))


def percent(scenario: ScenarioSummary, measure: str, target: str, base: str) -> str:
    """The same in per cent of `base`."""
    ratio = scenario.ratio(measure, target, base)
    more = ratio and Figure(*(100 * (value - 1) for value in (ratio.median, ratio.least, ratio.most)))
    return spread(more)
