"""Bodies that are no JSON, or more than is taken: refused as RFC 9457 has it, nothing forwarded and nothing shown."""

import json

import pytest

from tests.http import shop
from tests.http.api import Api
from tests.http.clients import client

VALUE = f'{{"ssn": "{shop.SSN}"'
MALFORMED = {
    "cut": VALUE,
    "a comma too many": VALUE + ",}",
    "no colon": '{"ssn" "1120"}',
    "single quotes": "{'ssn': '1120'}",
    "no quotes": "{ssn: 1}",
    "two documents": VALUE + "}" + VALUE + "}",
    "text behind": VALUE + "} and 1120",
    "a byte order mark": "\ufeff" + VALUE + "}",
    "not a number": '{"a": NaN, "ssn": "1120"}',
    "a leading zero": '{"a": 01, "ssn": "1120"}',
    "a control character": '{"a": "\n", "ssn": "1120"}',
    "a comment": '/* */ {"ssn": "1120"}',
    "half a pair in a value": '{"ssn": "\\ud800"}',
    "half a pair in a key": '{"\\ud800": 1, "ssn": "1120"}',
    "a bad escape": '{"ssn": "\\x41"}',
    "only a space": " ",
    "no UTF-8": b'{"a": "\xff", "ssn": "1120"}',
    "overlong UTF-8": b'{"a": "\xc0\xaf", "ssn": "1120"}',
    "UTF-16": json.dumps({"ssn": shop.SSN}).encode("utf-16"),
}
KINDS = {"type", "title", "status", "detail"}


@pytest.mark.parametrize("kind", MALFORMED)
def test_body_that_is_no_json_is_refused_where_fields_are_named(api: Api, kind: str) -> None:
    refused = api.post("/echo/sealed", MALFORMED[kind])
    assert refused.status in ((400, 422) if kind.startswith("half a pair in a value") else (400,)), refused.body
    assert refused.problem
    assert refused.json.keys() >= KINDS
    assert "1120" not in refused.body.decode()
    assert api.nothing_arrived()


@pytest.mark.parametrize("kind", MALFORMED)
def test_body_that_is_no_json_passes_where_nothing_is_named(api: Api, kind: str) -> None:
    text = MALFORMED[kind]
    answer = api.post("/echo/plain", text)
    assert answer.body == (text if isinstance(text, bytes) else text.encode())


@pytest.mark.parametrize("kind", ["cut", "two documents", "no UTF-8"])
def test_answer_that_is_no_json_is_refused(api: Api, kind: str) -> None:
    api.service.answer("/told/malformed", MALFORMED[kind])
    answer = api.get("/told/malformed")
    assert answer.status == 502
    assert answer.problem
    assert "1120" not in answer.body.decode()


@pytest.mark.parametrize(
    "text",
    ["[" * 1001 + "]" * 1001, '{"a":' * 1001 + "1" + "}" * 1001, '{"%s": 1}' % ("k" * 65_537)],
    ids=["lists", "objects", "a key"],
)  # fmt: skip
def test_nesting_and_keys_have_limits(api: Api, text: str) -> None:
    refused = api.post("/echo/sealed", text)
    # Past what is held, part of it may have been sent; never all.
    assert refused.status == 413 or refused.error
    assert not [got for got in api.service.got() if got.complete]


def test_nesting_up_to_its_limit_passes(api: Api) -> None:
    text = "[" * 999 + json.dumps({"ssn": shop.SSN}) + "]" * 999
    assert api.post("/echo/sealed", text).body.decode() == text


def test_answer_of_envoy_itself_is_as_envoy_has_it(api: Api) -> None:
    """Too long a head is Envoy's to refuse."""
    answer = api.get("/customers", {"x-filling": "x" * 100_000})
    assert answer.status == 431
    assert answer.headers.get("content-type") != "application/problem+json"


def test_answers_come_one_after_the_other_whatever_is_refused_between(api: Api) -> None:
    """On one connection: refused and served in turn, none takes another's place."""
    with client("httpx", api.base) as made:
        for n in range(12):
            answer = made.post("/echo/sealed", {"ssn": shop.SSN, "n": n} if n % 3 else VALUE, api.role("app"))
            assert answer.status == (200 if n % 3 else 400)
            assert not n % 3 or answer.json["n"] == n
