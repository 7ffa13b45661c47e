"""What stands in heads is right for a body that is another one: lengths, tags, ranges, digests, caches."""

import json

import pytest

from tests.http import shop
from tests.http.api import SEALED, Api
from tests.http.wire import Wire, ask

ONE = {"ssn": shop.SSN, "name": "Ada"}
# Past what is held of a body before it goes on.
LONG = {"ssn": shop.SSN, "filling": "x" * 200_000}


def test_length_of_a_body_that_was_held_is_exact_both_ways(api: Api) -> None:
    answer = api.post("/echo/sealed", ONE)
    assert int(answer.headers["content-length"]) == len(answer.body)
    (got,) = api.service.got()
    assert got.content_length == len(got.body) > len(answer.body)


def test_body_that_is_too_long_to_be_held_has_no_length_and_comes_whole(api: Api) -> None:
    answer = api.post("/echo/sealed", LONG)
    assert (answer.status, answer.error) == (200, "")
    assert "content-length" not in answer.headers
    assert answer.json == LONG
    (got,) = api.service.got()
    assert got.complete
    # A worker that has no plan yet holds the whole while it waits for one, and knows the length then.
    assert got.content_length in (-1, len(got.body))
    assert got.json["ssn"].startswith(SEALED)
    assert got.json["filling"] == LONG["filling"]


def test_body_in_chunks_is_sealed_wherever_they_are_cut(api: Api) -> None:
    text = json.dumps(ONE).encode()
    with Wire(api.port) as wire:
        for size in (1, 2, 7, len(text)):
            wire.head("POST", "/echo/sealed", {
                **api.role("app"), "content-type": "application/json", "transfer-encoding": "chunked",
            })  # fmt: skip
            for start in range(0, len(text), size):
                wire.chunk(text[start : start + size])
            wire.last_chunk()
            head = wire.read_head()
            assert head.status == 200
            assert wire.read_body(head) == text
    for got in api.service.got():
        assert got.json["ssn"].startswith(SEALED)
        assert got.complete


def test_client_that_waits_to_be_told_to_go_on_is_told(api: Api) -> None:
    text = json.dumps(ONE).encode()
    with Wire(api.port) as wire:
        wire.head("POST", "/echo/sealed", {
            **api.role("app"), "content-type": "application/json", "content-length": str(len(text)),
            "expect": "100-continue",
        })  # fmt: skip
        assert wire.read_head().status == 100
        wire.send(text)
        head = wire.read_head()
        assert head.status == 200
        assert wire.read_body(head) == text


def test_head_speaks_of_the_body_that_a_get_would_bring(api: Api) -> None:
    assert api.post("/customers", {**ONE, "id": 20}).status == 201
    got, head = api.get("/customers/20"), api.ask("HEAD", "/customers/20")
    assert head.status == got.status == 200
    assert head.body == b""
    assert head.headers["etag"] == got.headers["etag"]
    # The service counted the envelope.
    assert head.headers.get("content-length", str(len(got.body))) == str(len(got.body))


def test_answers_without_a_body_pass(api: Api) -> None:
    api.post("/customers", {**ONE, "id": 21})
    tag = api.get("/customers/21").headers["etag"]
    same = api.get("/customers/21", {"if-none-match": tag})
    assert (same.status, same.body) == (304, b"")
    assert same.headers["etag"] == tag
    gone = api.ask("DELETE", "/customers/21")
    assert (gone.status, gone.body) == (204, b"")
    assert api.ask("OPTIONS", "/customers/21", headers={"origin": "https://shop"}).status == 405


def test_strong_tag_becomes_weak_and_is_strong_again_for_the_service(api: Api) -> None:
    api.post("/customers", {**ONE, "id": 22})
    tag = api.get("/customers/22").headers["etag"]
    assert tag.startswith('W/"')
    changed = api.ask("PUT", "/customers/22", {**ONE, "id": 22, "name": "Ada L."}, {"if-match": tag})
    assert changed.status == 200
    assert changed.headers["etag"].startswith('W/"')
    assert not api.service.got("/customers/22")[-1].header("if-match").startswith("W/")
    late = api.ask("PUT", "/customers/22", {**ONE, "id": 22, "name": "lost"}, {"if-match": tag})
    assert late.status == 412
    assert api.get("/customers/22").json["name"] == "Ada L."


def test_tag_stays_strong_where_nothing_is_named(api: Api) -> None:
    api.service.answer("/plain", "{}", headers={"content-type": "application/json", "etag": '"strong"'})
    assert api.get("/plain").headers["etag"] == '"strong"'


def test_range_of_a_body_that_is_another_one_is_answered_with_all_of_it(api: Api) -> None:
    assert api.ask("PUT", "/documents/ranged", ONE).status == 204
    answer = api.get("/documents/ranged", {"range": "bytes=0-9", "if-range": '"x"'})
    assert answer.status == 200
    assert answer.json == ONE
    assert "accept-ranges" not in answer.headers
    got = api.service.got("/documents/ranged")[-1]
    assert got.header("range") is None
    assert got.header("if-range") is None


def test_part_of_a_body_that_comes_unasked_is_refused(api: Api) -> None:
    api.service.answer(
        "/told/part", '{"ss', status=206, headers={"content-type": "application/json", "content-range": "bytes 0-3/40"}
    )
    answer = api.get("/told/part")
    assert answer.status == 502
    assert answer.problem


def test_digests_of_another_body_are_taken_out_both_ways(api: Api) -> None:
    digests = {
        "content-md5": "x", "digest": "sha-256=x", "content-digest": "sha-256=:eA==:", "repr-digest": "sha-256=:eA==:",
    }  # fmt: skip
    api.service.answer("/told/digests", '{"a":1}', headers={"content-type": "application/json", **digests})
    answer = api.get("/told/digests")
    assert answer.status == 200
    assert not digests.keys() & answer.headers.keys()
    api.post("/echo/requests/digests", ONE, digests)
    (got,) = api.service.got("/echo/requests/digests")
    assert not digests.keys() & got.headers.keys()


@pytest.mark.parametrize(
    ("says", "given"),
    [
        (None, "private"),
        ("max-age=60", "max-age=60, private"),
        ("no-store", "no-store"),
        ("private, max-age=1", "private, max-age=1"),
    ],
)
def test_no_shared_cache_keeps_what_one_principal_sees(api: Api, says: str | None, given: str) -> None:
    headers = {"content-type": "application/json", **({"cache-control": says} if says else {})}
    api.service.answer("/told/cached", '{"a":1}', headers=headers)
    directives = {each.strip() for each in api.get("/told/cached").headers["cache-control"].split(",")}
    assert directives == {each.strip() for each in given.split(",")}


def test_public_answer_is_public_no_longer(api: Api) -> None:
    api.service.answer("/told/public", "{}", headers={"content-type": "application/json", "cache-control": "public"})
    # Of two that contradict each other the stricter counts (RFC 9111, 4.2.1).
    assert "private" in api.get("/told/public").headers["cache-control"]


def test_trailers_pass_both_ways(api: Api) -> None:
    sealed = api.sealed("ssn", shop.SSN)
    api.service.answer("/told/trailers", json.dumps({"ssn": sealed}), trailers={"x-sum": "answered"})
    with Wire(api.port) as wire:
        wire.head("POST", "/told/trailers", {
            **api.role("app"), "content-type": "application/json", "transfer-encoding": "chunked", "te": "trailers",
        })  # fmt: skip
        wire.chunk("{}")
        wire.last_chunk({"x-sum": "asked"})
        head = wire.read_head()
        assert head.status == 200
        assert json.loads(wire.read_body(head)) == {"ssn": shop.SSN}
        assert wire.trailers.get("x-sum") == "answered"
    (got,) = api.service.got("/told/trailers")
    assert got.trailers.get("x-sum") == ["asked"]


def test_trailers_behind_a_body_that_is_sealed_pass(api: Api) -> None:
    with Wire(api.port) as wire:
        wire.head("POST", "/echo/sealed", {
            **api.role("app"), "content-type": "application/json", "transfer-encoding": "chunked", "te": "trailers",
        })  # fmt: skip
        wire.chunk(json.dumps(ONE))
        wire.last_chunk({"x-sum": "asked"})
        head = wire.read_head()
        assert json.loads(wire.read_body(head)) == ONE
    (got,) = api.service.got("/echo/sealed")
    assert got.json["ssn"].startswith(SEALED)
    assert got.trailers.get("x-sum") == ["asked"]


def test_identity_header_that_comes_twice_is_refused(api: Api) -> None:
    answer = ask(api.port, "GET", "/customers/1", None, [("x-team", "billing"), ("x-team", "others")])
    assert answer.status == 400
    assert answer.problem
    assert api.nothing_arrived()
