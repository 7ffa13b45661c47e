"""What the suite json must notice: by proxies that seal and open without keys, each with a fault of its own."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.workdir import WorkDir
from loadtests.bodies import VALUE
from loadtests.results import Measurement
from loadtests.rig import HTTP_TARGETS, LiveHttp, Service, WrongBody
from loadtests.runner import Runner
from loadtests.suites import json_bodies
from loadtests.tests import faulty

SCALE = 0.001


@dataclass
class Alone:
    """What the suite uses of a rig."""

    work: WorkDir
    service: Service
    live: dict[str, LiveHttp]


def once(change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """A fault in one field only."""

    def changed(body: bytes) -> bytes:
        first = VALUE.search(body)
        return body if first is None else body[: first.start()] + change(first[0]) + faulty.seal(body[first.end() :])

    return changed


REQUESTS = {
    "one field in clear": once(lambda value: value),
    "one field of another alphabet": once(lambda value: b'"fv1.' + value.strip(b'"') + b'."'),
    "one field lost": once(lambda value: b'""'),
    "a number changed": lambda body: faulty.seal(body).replace(b'"id":0', b'"id":1', 1),
    "a space more": lambda body: faulty.seal(body) + b" ",
    "nothing": lambda body: body,
}
RESPONSES = {
    "one field not opened": lambda body: faulty.open_(body).replace(b'"CLEAR-', b'"fv1.LEAR-', 1),
    "another number": lambda body: faulty.open_(body).replace(b'"id":0', b'"id":1', 1),
    "cut short": lambda body: faulty.open_(body)[:-1],
    "nothing": lambda body: body,
}


@pytest.fixture(scope="module")
def rig() -> Iterator[Alone]:
    work = WorkDir()
    service = Service(work, None, None)
    service.start()
    try:
        with faulty.proxy(work.socket("right.sock"), service.socket) as socket:
            found = Alone(work, service, {})
            found.live["direct-http"] = service.live(HTTP_TARGETS["direct-http"], None)
            found.live["fieldveil-json"] = through(found, socket)
            json_bodies.prepare(found, SCALE)
            yield found
    finally:
        service.stop()
        work.remove()


def through(rig: Alone, socket: Path) -> LiveHttp:
    processes = {"server": [f"pid:{rig.service.process.pid}"], "client": ["self"]}
    return LiveHttp(HTTP_TARGETS["fieldveil-json"], socket, lambda: processes)


@pytest.fixture
def measure(rig: Alone, tmp_path: Path) -> Callable[[str, LiveHttp], Measurement]:
    scenarios = {scenario.name: scenario for scenario in json_bodies.scenarios(SCALE)}

    def measured(name: str, live: LiveHttp) -> Measurement:
        return Runner([], SCALE, 1, tmp_path).measure(rig, json_bodies.SUITE, scenarios[name], live, 1)

    return measured


@pytest.mark.parametrize("target", ["direct-http", "fieldveil-json"])
@pytest.mark.parametrize("scenario", ["open-10KB-10", "seal-10KB-10", "open-1MB-100", "seal-1MB-100"])
def test_right_answers_are_right(rig: Alone, measure: Callable, scenario: str, target: str) -> None:
    measurement = measure(scenario, rig.live[target])
    assert measurement.answers == measurement.operations > 0
    assert (measurement.wrong_answers, measurement.errors) == (0, 0)
    # Each call is one request, timed without the look at its answer.
    assert 0 < measurement.sql_us["50"] <= measurement.latency_us["50"]


@pytest.mark.parametrize("fault", REQUESTS)
def test_request_that_is_sealed_wrongly_is_noticed(
    rig: Alone, measure: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    with faulty.proxy(rig.work.socket("bad.sock"), rig.service.socket, request=REQUESTS[fault]) as socket:
        live = through(rig, socket)
        # What is stored is looked at as well.
        with pytest.raises(WrongBody):
            measure("seal-10KB-10", live)
        monkeypatch.setattr(json_bodies, "expect_stored", lambda *_: None)
        monkeypatch.setattr(LiveHttp, "get", lambda live, space, name: text_of(name))
        measurement = measure("seal-10KB-10", live)
    assert measurement.wrong_answers == measurement.answers > 0


def text_of(name: str) -> bytes:
    return json_bodies.Kind("10KB", 10).body(int(name.rpartition("-")[2]))


@pytest.mark.parametrize("fault", RESPONSES)
def test_response_that_is_opened_wrongly_is_noticed(rig: Alone, measure: Callable, fault: str) -> None:
    with faulty.proxy(rig.work.socket("bad.sock"), rig.service.socket, response=RESPONSES[fault]) as socket:
        measurement = measure("open-10KB-10", through(rig, socket))
    assert measurement.wrong_answers == measurement.answers > 0


def test_writes_that_nobody_acknowledged_are_noticed(rig: Alone, measure: Callable) -> None:
    with (
        faulty.proxy(rig.work.socket("bad.sock"), rig.service.socket, twice=True) as socket,
        pytest.raises(WrongBody, match="32 writes are there, 16 were acknowledged"),
    ):
        measure("seal-10KB-10", through(rig, socket))


def test_what_comes_back_otherwise_than_it_was_sent_is_noticed(rig: Alone, measure: Callable) -> None:
    with (
        faulty.proxy(rig.work.socket("bad.sock"), rig.service.socket, response=lambda body: body) as socket,
        pytest.raises(WrongBody, match="what comes back is not what was sent"),
    ):
        measure("seal-10KB-10", through(rig, socket))


def test_service_that_holds_values_in_clear_is_not_measured(rig: Alone) -> None:
    clear = rig.live["direct-http"]
    kind = json_bodies.Kind("10KB", 10)
    clear.send("guarded", "in-clear", kind.body(0))
    with pytest.raises(WrongBody, match="0 envelopes and 10 values in clear of 10 fields, other bytes as sent"):
        json_bodies.expect_stored(rig, rig.live["fieldveil-json"], "in-clear", json_bodies.bodies.look(kind.body(0)))


def test_target_that_does_not_answer_is_told_by_its_name(rig: Alone) -> None:
    with pytest.raises(WrongBody, match="through fieldveil-json: FileNotFoundError"):
        through(rig, rig.work.socket("none.sock")).get("clear", "any")


def test_requests_that_fail_are_errors(rig: Alone, measure: Callable) -> None:
    measurement = measure("open-10KB-10", through(rig, rig.work.socket("none.sock")))
    assert measurement.errors > 0
    assert measurement.answers == 0


def test_status_that_is_none_of_success_is_a_wrong_answer_told_by_its_problem(
    rig: Alone, measure: Callable, capsys: pytest.CaptureFixture[str]
) -> None:
    problem = b'{"type": "urn:fieldveil:problem:malformed", "detail": "CLEAR-1 is wrong"}'
    with faulty.proxy(
        rig.work.socket("bad.sock"), rig.service.socket, response=lambda _: problem, status=502
    ) as socket:
        measurement = measure("open-10KB-10", through(rig, socket))
    assert measurement.wrong_answers == measurement.answers > 0
    said = capsys.readouterr().err
    assert "a body that was asked for: status 502, urn:fieldveil:problem:malformed" in said
    assert "CLEAR-1" not in said
