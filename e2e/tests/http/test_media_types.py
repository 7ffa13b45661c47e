"""Each media type: looked into, or passed where nothing is named, or refused. Never passed where something is."""

import json
from collections.abc import Iterator

import pytest

from tests.http import shop
from tests.http.api import SEALED, Api
from tests.http.clients import Answer

ONE = {"ssn": shop.SSN, "n": 1}
DOCUMENTS = ["application/json", "application/json; charset=utf-8", "Application/JSON", "application/vnd.api+json"]
LINES = ["application/x-ndjson", "application/jsonl", "application/x-jsonlines", "application/json-lines"]
BOUNDARY = "multipart/form-data; boundary=x"
PART_HEAD = 'content-disposition: form-data; name="a"\r\ncontent-type: application/json'
PART = f"--x\r\n{PART_HEAD}\r\n\r\n{json.dumps(ONE)}\r\n--x--\r\n"
OTHERS = {
    # Events are for answers: a service that does not look at the media type would take the rest of them.
    "text/event-stream": json.dumps(ONE),
    "text/plain": json.dumps(ONE),
    "application/x-www-form-urlencoded": f"ssn={shop.SSN}",
    BOUNDARY: PART,
    "application/octet-stream": json.dumps(ONE),
    "application/xml": f"<ssn>{shop.SSN}</ssn>",
    "application/grpc": "\0\0\0\0\1x",
    "application/grpc+json": json.dumps(ONE),
    "application/json; charset=iso-8859-1": json.dumps(ONE),
    "application/json, text/plain": json.dumps(ONE),
}


def lines() -> str:
    return "".join(json.dumps({**ONE, "n": n}) + "\n" for n in range(3))


def sequence() -> str:
    return "".join("\x1e" + json.dumps({**ONE, "n": n}) + "\n" for n in range(3))


def events() -> str:
    first = f": hi\r\n\r\nevent: a\nid: 7\ndata: {json.dumps(ONE)}\n\n"
    return f'{first}data: {{"ssn":\ndata: "{shop.SSN}"}}\n\ndata: [DONE]\n\n'


def through(api: Api, media_type: str, text: str) -> Answer:
    """Sealed on the way in, and the same on the way out; what the service saw held nothing."""
    answer = api.post("/echo/sealed", text, {"content-type": media_type})
    for got in api.service.got():
        assert shop.SSN not in got.body.decode("latin-1")
        assert SEALED in got.body.decode("latin-1")
    return answer


@pytest.mark.parametrize("media_type", DOCUMENTS)
def test_document_is_sealed_and_opened(api: Api, media_type: str) -> None:
    answer = through(api, media_type, json.dumps(ONE))
    assert (answer.status, answer.json) == (200, ONE)


@pytest.mark.parametrize("media_type", LINES)
def test_each_line_is_a_document(api: Api, media_type: str) -> None:
    answer = through(api, media_type, lines())
    assert (answer.status, answer.body.decode()) == (200, lines())
    assert api.service.got()[0].body.count(SEALED.encode()) == 3


def test_each_text_of_a_sequence_is_a_document(api: Api) -> None:
    answer = through(api, "application/json-seq", sequence())
    assert (answer.status, answer.body.decode()) == (200, sequence())


def test_data_of_each_event_is_a_document(api: Api) -> None:
    sealed = json.dumps(api.sealed("ssn", shop.SSN)).strip('"')
    told = events().replace(shop.SSN, sealed)
    api.service.answer("/told/events", told, headers={"content-type": "text/event-stream"})
    answer = api.get("/told/events")
    assert answer.status == 200
    assert values(answer.body.decode()) == values(events())
    assert ": hi" in answer.body.decode()
    assert "id: 7" in answer.body.decode()


def values(stream: str) -> list[object]:
    """What the events' data are."""

    def found() -> Iterator[object]:
        for event in stream.replace("\r\n", "\n").split("\n\n"):
            data = [line.removeprefix("data:").lstrip() for line in event.split("\n") if line.startswith("data:")]
            if data:
                text = "\n".join(data)
                yield text if text == "[DONE]" else json.loads(text)

    return list(found())


@pytest.mark.parametrize("media_type", OTHERS)
def test_request_that_is_not_looked_into_is_refused_where_something_is_named(api: Api, media_type: str) -> None:
    answer = api.post("/echo/sealed", OTHERS[media_type], {"content-type": media_type})
    if media_type.startswith("application/grpc"):
        # A client of gRPC looks into the trailers; the filter's own answer is a problem all the same, or Envoy's.
        assert answer.status in (200, 415)
        assert answer.status == 415 or answer.headers["grpc-status"] != "0"
    else:
        assert answer.status == 415
        assert answer.problem
        assert answer.json["remedy"]
        assert shop.SSN not in answer.body.decode()
    assert api.nothing_arrived()


def test_multipart_is_refused_with_a_reason_of_its_own(api: Api) -> None:
    multipart, other = (
        api.post("/echo/sealed", OTHERS[media_type], {"content-type": media_type}).json["reason"]
        for media_type in (BOUNDARY, "text/plain")
    )
    assert "multipart" in multipart
    assert multipart != other


def test_body_without_a_media_type_is_refused_where_something_is_named(api: Api) -> None:
    answer = api.post("/echo/sealed", json.dumps(ONE), {"content-type": ""})
    assert answer.status == 415
    assert api.nothing_arrived()


@pytest.mark.parametrize("media_type", OTHERS)
def test_any_media_type_passes_byte_for_byte_where_nothing_is_named(api: Api, media_type: str) -> None:
    answer = api.post("/echo/plain", OTHERS[media_type], {"content-type": media_type})
    assert answer.body.decode() == OTHERS[media_type]
    assert api.service.got()[0].body.decode() == OTHERS[media_type]


def test_request_is_free_where_only_the_answer_is_named(api: Api) -> None:
    api.service.answer("/told/form", json.dumps(ONE | {"ssn": None}))
    assert api.post("/told/form", "ssn=1", {"content-type": "application/x-www-form-urlencoded"}).status == 200


@pytest.mark.parametrize("media_type", ["text/html", "application/octet-stream", BOUNDARY])
def test_answer_that_is_not_looked_into_is_refused_where_something_is_named(api: Api, media_type: str) -> None:
    path = "/told/others"
    api.service.answer(path, f"a page about {shop.SSN}", headers={"content-type": media_type})
    answer = api.get(path)
    assert answer.status == 502
    assert answer.problem
    assert shop.SSN not in answer.body.decode()


def test_error_of_another_media_type_keeps_its_status_and_loses_its_body(api: Api) -> None:
    api.service.answer(
        "/told/missing", f"no {shop.SSN} here", status=404, headers={"content-type": "text/plain", "x-trace": "7"}
    )
    answer = api.get("/told/missing")
    assert answer.status == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert shop.SSN not in answer.body.decode()


def test_error_in_json_is_treated_as_any_other_answer(api: Api) -> None:
    sealed = api.sealed("ssn", shop.SSN)
    api.service.answer("/told/conflict", json.dumps({"ssn": sealed}), status=409)
    answer = api.get("/told/conflict")
    assert (answer.status, answer.json) == (409, {"ssn": shop.SSN})


def test_empty_bodies_pass_whatever_they_say_they_are(api: Api) -> None:
    assert api.post("/echo/sealed", b"", {"content-type": "text/plain"}).status == 200
    api.service.answer("/told/empty", headers={"content-type": "text/plain", "content-length": "0"})
    assert api.get("/told/empty").status == 200
