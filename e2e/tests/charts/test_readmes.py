"""The charts' READMEs are what `make charts-readme` makes of their values."""

from pathlib import Path

import pytest

from dev.charts_readme import DOCUMENTED, readme


@pytest.mark.parametrize("chart", DOCUMENTED, ids=lambda chart: chart.name)
def test_readme_is_of_these_values(chart: Path) -> None:
    assert (chart / "README.md").read_text() == readme(chart), "run make charts-readme"
