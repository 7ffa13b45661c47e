"""What a packaged chart brings, and says of itself."""

import subprocess
import tarfile
from pathlib import Path

import pytest
import yaml

from dev.layout import HELM, HELM_3
from tests.charts.rendering import CHART, LIBRARY


@pytest.mark.parametrize("helm", [HELM, HELM_3], ids=lambda helm: helm.name)
def test_package_has_all_of_the_chart_and_nothing_of_its_tests(helm: Path, tmp_path: Path) -> None:
    subprocess.run([helm, "package", CHART, "--destination", tmp_path], check=True, capture_output=True)
    (package,) = tmp_path.glob("*.tgz")
    with tarfile.open(package) as archive:
        names = {Path(name).relative_to(CHART.name) for name in archive.getnames()}
    there = {file.relative_to(CHART) for file in CHART.rglob("*") if file.is_file()}
    for_tests = {file for file in there if file.parts[0] == "tests" or file.name == "README.md.gotmpl"}
    ignores = {file for file in there if file.name == ".helmignore"}
    assert names - ignores == there - for_tests - ignores


@pytest.mark.parametrize("chart", [CHART, LIBRARY], ids=lambda chart: chart.name)
def test_chart_says_what_it_is(chart: Path) -> None:
    told = yaml.safe_load((chart / "Chart.yaml").read_text())
    assert told["name"] == chart.name
    assert told["apiVersion"] == "v2"
    assert told["type"] == ("application" if chart == CHART else "library")
    # The oldest that everything is rendered for.
    assert told["kubeVersion"] == ">=1.30.0-0"
    assert told["annotations"]["artifacthub.io/license"] == "Apache-2.0"
    assert told["home"] in told["sources"]


def test_both_charts_are_of_one_version() -> None:
    chart, library = (yaml.safe_load((folder / "Chart.yaml").read_text()) for folder in (CHART, LIBRARY))
    assert chart["version"] == library["version"] == chart["dependencies"][0]["version"]
    assert chart["appVersion"] == library["appVersion"]
