"""Bodies that a suite sends and asks for."""

import json
from collections.abc import Iterator

import pytest

from harness.workdir import WorkDir
from loadtests import bodies
from loadtests.rig import HTTP_TARGETS, Service
from loadtests.suites import json_bodies

KINDS = [kind for kind in json_bodies.KINDS if kind.size != "10MB"]


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    work = WorkDir()
    service = Service(work, None, None)
    service.start()
    try:
        yield service
    finally:
        service.stop()
        work.remove()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_body_is_json_of_that_size_with_that_many_fields(kind: json_bodies.Kind) -> None:
    text = kind.body(1)
    assert len(text) == json_bodies.SIZES[kind.size]
    records = json.loads(text)["records"]
    fields = [value for record in records for name, value in record.items() if name in bodies.NAMES]
    assert len(fields) == len(set(fields)) == kind.fields
    assert all(value.startswith("CLEAR-") for value in fields)
    assert len(records) > kind.fields


def test_bodies_are_the_same_each_time_and_others_by_their_seed() -> None:
    assert bodies.body(10_000, 10, 3) == bodies.body(10_000, 10, 3)
    assert bodies.look(bodies.body(10_000, 10, 3)).values != bodies.look(bodies.body(10_000, 10, 4)).values


def test_hundred_fields_do_not_go_into_a_kilobyte() -> None:
    with pytest.raises(bodies.TooSmall):
        bodies.body(1000, 100, 1)


def test_service_sees_what_is_known_of_a_body(service: Service) -> None:
    live = service.live(HTTP_TARGETS["direct-http"], None)
    for kind in KINDS:
        text = kind.body(0)
        assert live.send("clear", kind.name, text) == service.look("clear", kind.name) == bodies.look(text)
        assert live.get("clear", kind.name) == text
