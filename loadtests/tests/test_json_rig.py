"""The suite json through real proxies, with the filter and without."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from loadtests import bodies, body_costs
from loadtests.results import Measurement
from loadtests.rig import HTTP_TARGETS, Rig
from loadtests.rig.service import CLEAR, GUARDED
from loadtests.runner import Runner
from loadtests.suites import json_bodies

SCALE = 0.001
KIND = json_bodies.Kind("10KB", 10)
FILTERED = {"proxy", "opa", "agent"}
PROXIES = {
    "direct-http": set(),
    "envoy-http": {"proxy"},
    "fieldveil-json": FILTERED,
    "fieldveil-json-native": FILTERED,
}


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    with Rig([json_bodies.SUITE]) as rig:
        json_bodies.prepare(rig, SCALE)
        yield rig


@pytest.fixture
def measure(rig: Rig, tmp_path: Path) -> Callable[[str, str], Measurement]:
    scenarios = {scenario.name: scenario for scenario in json_bodies.scenarios(SCALE)}

    def measured(scenario: str, target: str) -> Measurement:
        return Runner([], SCALE, 1, tmp_path).measure(rig, json_bodies.SUITE, scenarios[scenario], rig.live[target], 1)

    return measured


@pytest.mark.parametrize("target", HTTP_TARGETS)
@pytest.mark.parametrize(
    "scenario", ["open-1KB-10", "open-1MB-100", "seal-1KB-10", "seal-1MB-100", "pass-response-1MB", "pass-request-1MB"]
)
def test_every_answer_is_right(measure: Callable, scenario: str, target: str) -> None:
    measurement = measure(scenario, target)
    assert measurement.answers == measurement.operations > 0
    assert (measurement.wrong_answers, measurement.errors) == (0, 0)
    assert measurement.usage.keys() == {"server", "client", *PROXIES[target]}


def test_what_lies_in_the_service_is_sealed_and_what_passes_is_not(rig: Rig) -> None:
    known = bodies.look(KIND.body(0))
    (name, *_) = KIND.names("open")
    guarded, clear = rig.service.look(GUARDED, name), rig.service.look(CLEAR, name)
    assert (guarded.envelopes, guarded.clear, guarded.outside) == (KIND.fields, 0, known.outside)
    assert clear == known
    # It is the filter that opens it, not the service.
    assert rig.live["envoy-http"].get(GUARDED, name) != KIND.body(0) == rig.live["fieldveil-json"].get(GUARDED, name)


def test_whom_no_rule_knows_sees_envelopes(rig: Rig) -> None:
    (name, *_) = KIND.names("open")
    seen = rig.live["fieldveil-json"].get(GUARDED, name, user="stranger")
    assert seen.count(b'"fv1.') == KIND.fields
    assert bodies.MARK not in seen


def test_policy_of_bodies_alone_has_no_problems(rig: Rig) -> None:
    assert rig.opa.data("fieldveil/problems/found") == []


def test_no_database_runs_for_bodies(rig: Rig) -> None:
    assert not rig.postgres.process.running
    assert {*rig.live} == {*HTTP_TARGETS}


def test_memory_is_of_new_proxies_and_grows_by_its_steps(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_costs, "AMOUNTS", {"1KB": 32, "1MB": 8})
    (table,) = body_costs.memory(rig, json_bodies.SUITE, SCALE, timed=True)
    assert [row[0] for row in table.rows] == ["start", "32 bodies of 1KB each way", "8 bodies of 1MB each way"]
    for name in (body_costs.ENVOY, body_costs.OURS):
        most = list(table.values[name].values())
        assert most == sorted(most)
        assert most[0] > 10
    assert table.values[body_costs.OURS]["start"] > table.values[body_costs.ENVOY]["start"]
