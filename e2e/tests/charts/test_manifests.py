"""Every manifest is one that its API takes: no unknown field, no wrong type, none missing."""

import json
import subprocess

import pytest

from dev.layout import KUBECONFORM, SCHEMAS
from tests.charts.rendering import NEWEST, OLDEST, RENDERINGS, release_of, rendered

FILE = "{{ .ResourceKind }}{{ .KindSuffix }}.json"


def refusals(text: str, release: str) -> list[str]:
    """What the schemas of a release say against manifests."""
    places = [f"{SCHEMAS / release}/{FILE}", f"{SCHEMAS / 'operators'}/{FILE}"]
    command = [KUBECONFORM, "-strict", "-output", "json", "-summary", "-verbose"]
    command += [word for place in places for word in ("-schema-location", place)]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    told = json.loads(done.stdout)
    assert len(told["resources"]) == text.count("\nkind: "), done.stderr
    wrong = (resource for resource in told["resources"] if resource["status"] != "statusValid")
    return [f"{resource['kind']} {resource['name']}: {resource['msg']}" for resource in wrong]


@pytest.mark.parametrize("rendering", RENDERINGS)
def test_manifests_satisfy_the_schemas_of_their_kubernetes(rendering: str) -> None:
    assert refusals(rendered(rendering), release_of(rendering)) == []


@pytest.mark.parametrize("release", [NEWEST, OLDEST])
@pytest.mark.parametrize("wrong", ["readOnlyRoot: true", "readOnlyRootFilesystem: surely"])
def test_a_wrong_field_would_be_found(wrong: str, release: str) -> None:
    text = rendered("own-deployment/kubernetes-1.30")
    assert refusals(text.replace("readOnlyRootFilesystem: true", wrong, 1), release) != []
