"""Rules of a service: by claims, by headers that are listed, by route and method; budgets; writers who can't read."""

import json

import pytest

from tests.http import shop
from tests.http.api import SEALED, Api
from tests.http.clients import client
from tests.http.wire import ask


@pytest.fixture
def stored(api: Api) -> Api:
    assert api.post("/customers", {"id": 60, **shop.FIELDS}).status == 201
    api.service.forget()
    return api


def shown(api: Api, target: str, role: str, method: str = "GET", **how: object) -> object:
    answer = api.ask(method, target, role=role, **how)
    assert answer.status == 200, answer.body
    return answer.json["ssn"]


def test_rule_of_a_route_holds_on_that_route_alone(stored: Api) -> None:
    """The desk may read in /people, however the path is spelt, and nowhere else."""
    sealed = stored.service.customer(60)["ssn"]
    person = f"/told/nothing/../../people/{shop.SSN}"
    assert shown(stored, f"/people/{shop.SSN}", "desk") == shop.SSN
    assert shown(stored, "/customers/60", "desk") == sealed
    assert stored.get(person, role="desk").status in (200, 400)


def test_rule_of_a_method_holds_for_that_method_alone(stored: Api) -> None:
    assert shown(stored, "/customers/60", "reader") == shop.SSN
    stored.service.answer("/told/method", json.dumps({"ssn": stored.service.customer(60)["ssn"]}))
    assert shown(stored, "/told/method", "reader") == shop.SSN
    assert shown(stored, "/told/method", "reader", "POST").startswith(SEALED)
    assert shown(stored, "/told/method", "reader", "DELETE").startswith(SEALED)


def test_header_that_is_not_listed_says_nothing(stored: Api) -> None:
    for headers in ({"x-role": "app"}, {"x-teams": "billing"}, {"x-team": "Billing"}, {"x-fieldveil-claims": "app"}):
        answer = stored.get("/customers/60", headers, role=None)
        assert answer.json["ssn"].startswith(SEALED), headers


def test_header_that_is_listed_counts_however_it_is_written(stored: Api) -> None:
    assert ask(stored.port, "GET", "/customers/60", None, {"X-TEAM": "billing"}).json["ssn"] == shop.SSN


@pytest.mark.parametrize("harm", ["expired", "another key", "no token", "another audience"])
def test_token_that_is_not_valid_is_nobodys(stored: Api, harm: str) -> None:
    token = {
        "expired": stored.issuer.token("ada", roles=["app"], lasts=-600),
        "another key": type(stored.issuer)().token("ada", roles=["app"]),
        "no token": "e30.e30.x",
        "another audience": stored.issuer.token("ada", roles=["app"], aud="others"),
    }[harm]
    answer = ask(stored.port, "GET", "/customers/60", None, {"authorization": f"Bearer {token}"})
    assert answer.status in (401, 403)
    assert stored.nothing_arrived()


def test_claims_that_a_client_sends_by_itself_are_nobodys(stored: Api) -> None:
    """As a gateway might hand them on; nothing here believes them."""
    payload = "eyJyb2xlcyI6IFsiYXBwIl19"
    for name in ("x-jwt-payload", "x-envoy-jwt", "claims", "x-envoy-dynamic-metadata"):
        assert stored.get("/customers/60", {name: payload}, role=None).json["ssn"].startswith(SEALED)


def test_form_writes_and_reads_nothing_of_it(api: Api) -> None:
    answer = api.post("/customers", {"id": 61, **shop.FIELDS}, role="form")
    assert answer.status == 201
    assert all(answer.json[name].startswith(SEALED) for name in shop.FIELDS)
    assert api.get("/customers/61").json["ssn"] == shop.SSN


def test_some_fields_may_be_written_and_others_not(api: Api) -> None:
    """All of a body is refused if one field in it is: half of it is stored nowhere."""
    assert api.post("/customers", {"id": 62, "name": "x"}, role="support").status == 201
    refused = api.post("/customers", {"id": 63, "name": "x", "ssn": shop.SSN}, role="support")
    assert refused.status == 403
    assert refused.json["label"] == "api.ssn"
    assert [got.json["id"] for got in api.service.got("/customers")] == [62]


def test_budget_that_is_spent_answers_429_and_says_when_it_is_not(api: Api) -> None:
    sealed = api.sealed("ssn", shop.SSN)
    api.service.answer("/told/budget", json.dumps({"ssn": sealed}))
    headers = {"authorization": f"Bearer {api.issuer.token('spender', roles=['limited'])}"}
    # One connection: workers count each for itself.
    with client("httpx", api.base) as spender:
        statuses = [spender.get("/told/budget", headers).status for _ in range(shop.SPENT_AFTER + 1)]
        refused = spender.get("/told/budget", headers)
    assert [*statuses, refused.status] == [200] * shop.SPENT_AFTER + [429, 429]
    assert refused.problem
    assert int(refused.headers["retry-after"]) > 0
    assert refused.json["label"] == "api.ssn"


def test_number_of_digits_keeps_its_form(api: Api) -> None:
    """Sealed as digits, for what can hold nothing else."""
    answer = api.post("/echo/sealed", {"phone": shop.PHONE})
    assert (answer.status, answer.json) == (200, {"phone": shop.PHONE})
    phone = api.service.got()[0].json["phone"]
    assert phone != shop.PHONE
    assert phone.isdigit()
    assert len(phone) == len(shop.PHONE)


def test_envelope_that_a_client_sends_is_refused(api: Api) -> None:
    """It might be another's, which would then be opened to whoever may read here."""
    envelope = api.sealed("ssn", shop.SSN)
    api.service.forget()
    refused = api.post("/echo/sealed", {"ssn": envelope})
    assert refused.status == 422
    assert api.nothing_arrived()
