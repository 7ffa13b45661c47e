"""Finding by a sealed value: query parameters, headers and segments of the path, and who may."""

import json
from urllib.parse import quote

import pytest

from tests.http import shop
from tests.http.api import SEALED, Api
from tests.http.wire import ask

BIG = 9007199254740993


@pytest.fixture(scope="module")
def stored(running: Api) -> Api:
    for number, ssn in ((50, shop.SSN), (51, "other + ü&=")):
        assert running.post("/customers", {"id": number, "ssn": ssn, "name": f"n{number}"}).status == 201
    return running


def ids(answer) -> list[int]:
    assert answer.status == 200, answer.body
    return [each["id"] for each in answer.json]


@pytest.mark.parametrize(
    ("target", "headers"),
    [
        (f"/customers?ssn={shop.SSN}", {}),
        (f"/customers?name=n50&ssn={shop.SSN}&", {}),
        (f"/customers?%73sn={quote(shop.SSN, safe='')}", {}),
        ("/customers?ssn=078%2D05%2D1120", {}),
        ("/customers", {"X-Ssn": shop.SSN}),
    ],
)  # fmt: skip
def test_value_is_found_however_it_is_spelt(stored: Api, api: Api, target: str, headers: dict[str, str]) -> None:
    assert 50 in ids(api.get(target, headers))
    (got,) = api.service.got("/customers")
    told = got.target + json.dumps(got.headers)
    assert SEALED in told
    assert shop.SSN not in told
    assert "2D1120" not in told


@pytest.mark.parametrize("spelt", ["other+%2B+%C3%BC%26%3D", "other%20%2b%20%c3%bc%26%3d"])
def test_value_with_letters_of_the_url_is_found(stored: Api, api: Api, spelt: str) -> None:
    assert ids(api.get(f"/customers?ssn={spelt}")) == [51]


def test_everything_else_of_the_url_is_as_it_was_sent(stored: Api, api: Api) -> None:
    api.get(f"/customers?a=%7e+&&b&ssn={shop.SSN}&c=%C3%A4=;x&ssn=zzz")
    (got,) = api.service.got("/customers")
    before, first, after = got.target.split("ssn=")
    assert before == "/customers?a=%7e+&&b&"
    assert first.startswith(SEALED)
    assert first.endswith("&c=%C3%A4=;x&")
    # Each occurrence, not the first alone.
    assert after.startswith(SEALED)


def test_segment_is_sealed_and_its_person_found(stored: Api, api: Api) -> None:
    for spelt in (shop.SSN, "078%2d05-1120"):
        answer = api.get(f"/people/{spelt}")
        assert (answer.status, answer.json["ssn"]) == (200, shop.SSN)
    assert all(got.target.startswith(f"/people/{SEALED}") for got in api.service.got())


def test_number_is_searched_as_a_number(api: Api) -> None:
    assert ids(api.get(f"/customers?id={BIG}")) == []
    assert SEALED in api.service.got("/customers")[0].target
    refused = api.get("/customers?id=seven")
    assert refused.status == 422
    assert refused.json["label"] == "api.id"
    assert "seven" not in refused.body.decode()


def test_each_occurrence_of_a_header_is_sealed(stored: Api, api: Api) -> None:
    who = list(api.role("app").items())
    ask(api.port, "GET", "/customers", None, [*who, ("x-ssn", "one"), ("x-ssn", "two")])
    (got,) = api.service.got("/customers")
    values = [value.strip() for line in got.headers["x-ssn"] for value in line.split(",")]
    assert len(values) == 2
    assert all(value.startswith(SEALED) for value in values)


@pytest.mark.parametrize("role", ["support", "limited"])
def test_who_sees_a_part_may_search(stored: Api, api: Api, role: str) -> None:
    assert 50 in ids(api.get(f"/customers?ssn={shop.SSN}&name=n50", role=role))


@pytest.mark.parametrize("role", ["auditor", "intern", "form", None])
@pytest.mark.parametrize(
    ("target", "headers"),
    [(f"/customers?ssn={shop.SSN}", {}), ("/customers", {"x-ssn": shop.SSN}), (f"/people/{shop.SSN}", {})],
    ids=["query", "header", "segment"],
)  # fmt: skip
def test_who_may_not_read_may_not_search(stored: Api, api: Api, target: str, headers: dict, role: str | None) -> None:
    refused = api.get(target, headers, role=role)
    assert refused.status == 403
    assert refused.problem
    assert refused.json["label"] == "api.ssn"
    assert shop.SSN not in refused.body.decode()
    assert api.nothing_arrived()


def test_value_that_is_sealed_already_is_no_search(stored: Api, api: Api) -> None:
    """Who was shown an envelope by mistake can not look it up."""
    envelope = api.service.customer(50)["ssn"]
    answer = api.get(f"/customers?ssn={envelope}")
    assert answer.status in (403, 422) or ids(answer) == []
