"""Every value is in its chart's schema, and every value of the schema is in values.yaml."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.charts.rendering import CHART, LIBRARY

# Of Helm's own, and of the library chart, whose schema is its own.
OTHERS = {CHART: {"global", "sidecar"}, LIBRARY: {"global"}}


@pytest.mark.parametrize("chart", [CHART, LIBRARY], ids=lambda chart: chart.name)
def test_schema_and_values_name_the_same(chart: Path) -> None:
    schema = json.loads((chart / "values.schema.json").read_text())
    values = yaml.safe_load((chart / "values.yaml").read_text())
    named = {path for path in of_schema(schema, schema) if path.split(".")[0] not in OTHERS[chart]}
    assert {path for path in of_values(values, named) if path.split(".")[0] not in OTHERS[chart]} == named


@pytest.mark.parametrize("chart", [CHART, LIBRARY], ids=lambda chart: chart.name)
def test_schema_refuses_what_it_does_not_name(chart: Path) -> None:
    schema = json.loads((chart / "values.schema.json").read_text())
    assert [path for path in open_objects(schema) if not path.startswith("properties.global")] == []


def of_schema(node: dict, root: dict, path: str = "") -> Iterator[str]:
    """The paths of all values that hold no others by name."""
    if "$ref" in node:
        node = root["definitions"][node["$ref"].rsplit("/", 1)[-1]]
    if "properties" not in node:
        yield path
    for name, below in node.get("properties", {}).items():
        yield from of_schema(below, root, f"{path}.{name}".lstrip("."))


def of_values(node: object, named: set[str], path: str = "") -> Iterator[str]:
    """As `of_schema`: what is below a value that the schema takes as a whole is the user's."""
    if not isinstance(node, dict) or path in named:
        yield path
        return
    for name, below in node.items():
        yield from of_values(below, named, f"{path}.{name}".lstrip("."))


def open_objects(node: object, path: str = "") -> Iterator[str]:
    """Objects with named members that take others too."""
    if isinstance(node, dict):
        if isinstance(node.get("properties"), dict) and node.get("additionalProperties") is not False:
            yield path
        for name, below in node.items():
            yield from open_objects(below, f"{path}.{name}".lstrip("."))
    elif isinstance(node, list):
        for number, below in enumerate(node):
            yield from open_objects(below, f"{path}.{number}")
