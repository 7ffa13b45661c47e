"""What each values file renders, whole. With UPDATE_GOLDENS=1 it is written anew, for the reviewer to read the diff."""

import os
import re

import pytest

from dev.layout import HELM_3
from tests.charts.rendering import CASES, CHART, GOLDEN, OWN, RENDERINGS, documents, manifests, of_kind, rendered


@pytest.mark.parametrize("rendering", RENDERINGS)
def test_rendering_is_the_golden_one(rendering: str) -> None:
    golden = GOLDEN / f"{rendering}.yaml"
    if os.environ.get("UPDATE_GOLDENS"):
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(kept(rendering))
    assert kept(rendering) == golden.read_text()


def kept(rendering: str) -> str:
    """All of it; of the chart of one's own what the other chart's golden does not show."""
    if rendering.startswith(CHART.name):
        return rendered(rendering)
    return "".join(
        part for part in re.split(r"^(?=---$)", rendered(rendering), flags=re.M) if "kind: ConfigMap" not in part
    )


@pytest.mark.parametrize("case", CASES)
def test_both_charts_make_the_same_configmaps(case: str) -> None:
    of_chart, of_own = (of_kind(manifests(f"{chart.name}/{case}"), "ConfigMap") for chart in (CHART, OWN))
    assert of_own
    assert all(config_map in of_chart for config_map in of_own)


def test_every_golden_has_its_values() -> None:
    there = (file.relative_to(GOLDEN).with_suffix("") for file in GOLDEN.glob("*/*.yaml"))
    assert {str(name) for name in there} == set(RENDERINGS)


@pytest.mark.parametrize("rendering", RENDERINGS)
def test_helm_3_renders_the_same(rendering: str) -> None:
    # As data: between manifests it leaves more empty lines.
    assert tuple(documents(rendered(rendering, HELM_3))) == manifests(rendering)
