"""The main path through each client, as it is used: sealed on the way in, and on the way out what policy says."""

from collections.abc import Iterator

import pytest

from tests.http import shop
from tests.http.api import SEALED, Api
from tests.http.clients import MAKERS, Client, client


@pytest.fixture(scope="module", params=MAKERS)
def speaker(request: pytest.FixtureRequest, running: Api) -> Iterator[Client]:
    with client(request.param, running.base) as made:
        yield made


def test_values_are_sealed_on_their_way_in_and_everything_else_is_as_it_was_sent(speaker: Client, api: Api) -> None:
    answer = speaker.post("/customers", shop.ADA, api.role("app"))
    assert (answer.status, answer.error) == (201, "")
    # The service answers with what it has stored: opened again, byte for byte what was sent.
    assert answer.body.decode() == shop.ADA
    (got,) = api.service.got("/customers")
    stored = got.json
    assert all(stored[name].startswith(SEALED) for name in shop.FIELDS)
    resembles = got.body.decode()
    for name, value in shop.FIELDS.items():
        resembles = resembles.replace(stored[name], value)
    assert resembles == shop.ADA
    # Exact, where the client announced one: Node does not over HTTP/2.
    assert got.content_length == (-1 if speaker.name == "node-http2" else len(got.body))
    assert got.length == len(got.body)
    assert got.complete


def test_each_principal_gets_what_policy_says(speaker: Client, api: Api) -> None:
    assert speaker.post("/customers", shop.ADA, api.role("app")).status == 201
    stored = api.service.customer(1)

    def reads(headers: dict[str, str]) -> dict[str, object]:
        answer = speaker.get("/customers/1", headers)
        assert answer.status == 200, answer.body
        assert answer.json["name"] == "Ada"
        return {name: answer.json[name] for name in shop.FIELDS}

    sealed = {name: stored[name] for name in shop.FIELDS}
    assert reads(api.role("app")) == shop.FIELDS
    assert reads({"x-team": "billing"}) == shop.FIELDS
    assert reads(api.role("support")) == shop.MASKED
    assert reads(api.role("auditor")) == sealed
    assert reads({"x-team": "others"}) == sealed
    assert reads({}) == sealed


def test_refusal_names_label_reason_and_remedy_and_forwards_nothing(speaker: Client, api: Api) -> None:
    refused = speaker.post("/customers", shop.ADA, api.role("auditor"))
    assert refused.status == 403
    assert refused.problem
    assert refused.json["label"].startswith("api.")
    assert refused.json["reason"]
    assert refused.json["remedy"]
    assert api.nothing_arrived()
    # The connection is as good as before.
    assert speaker.post("/customers", shop.ADA, api.role("app")).status == 201


def test_refused_read_shows_nothing_of_the_answer(speaker: Client, api: Api) -> None:
    speaker.post("/customers", shop.ADA, api.role("app"))
    refused = speaker.get("/customers/1", api.role("intern"))
    assert refused.status == 403
    assert refused.problem
    assert refused.json["label"] == "api.ssn"
    assert SEALED not in refused.body.decode()
    assert "Ada" not in refused.body.decode()


def test_search_by_a_query_finds_what_was_stored(speaker: Client, api: Api) -> None:
    speaker.post("/customers", shop.ADA, api.role("app"))
    found = speaker.get(f"/customers?ssn={shop.SSN}&name=Ada", api.role("app"))
    assert shop.SSN in [each["ssn"] for each in found.json if each["id"] == 1]
    assert shop.SSN not in api.service.got("/customers")[-1].target
    assert speaker.get("/customers?ssn=000-00-0000", api.role("app")).json == []


def test_all_that_the_plan_does_not_name_passes_as_it_is(speaker: Client, api: Api) -> None:
    text = f'{{"ssn": "{shop.SSN}" , "n":1.0}}'
    answer = speaker.post("/echo/plain", text)
    assert (answer.status, answer.body.decode()) == (200, text)
    assert api.service.got("/echo/plain")[0].body.decode() == text
