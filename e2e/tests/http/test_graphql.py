"""GraphQL over HTTP: variables are sealed, data is opened, and no document goes round its variables."""

import pytest

from tests.http import shop
from tests.http.api import SEALED, Api

CREATE = "mutation M($input: CustomerInput!) { createCustomer(input: $input) { id ssn card } }"
FIND = "query Q($ssn: String!) { customers(ssn: $ssn) { id ssn } }"
INPUT = {"id": 70, "ssn": shop.SSN, "card": shop.CARD}


def asked(query: str, **variables: object) -> dict:
    return {"query": query, "variables": variables}


def test_variables_are_sealed_and_data_is_opened(api: Api) -> None:
    answer = api.post("/graphql", asked(CREATE, input=INPUT))
    assert (answer.status, answer.json) == (200, {"data": {"createCustomer": INPUT}})
    stored = api.service.customer(70)
    assert stored["ssn"].startswith(SEALED)
    assert stored["card"].startswith(SEALED)
    found = api.post("/graphql", asked(FIND, ssn=shop.SSN))
    assert [each["ssn"] for each in found.json["data"]["customers"] if each["id"] == 70] == [shop.SSN]
    assert all(shop.SSN not in got.body.decode() for got in api.service.got())
    assert api.post("/graphql", asked(FIND, ssn=shop.SSN), role="auditor").status == 403


@pytest.mark.parametrize(
    "body",
    [
        asked(f'query {{ customers(ssn: "{shop.SSN}") {{ id }} }}'),
        asked(f'mutation {{ createCustomer(input: {{id: 71, ssn: "{shop.SSN}"}}) {{ id }} }}'),
        asked(f'query Q($ssn: String = "{shop.SSN}") {{ customers(ssn: $ssn) {{ id }} }}'),
        asked("query Q($other: String!) { customers(ssn: $other) { id } }", other=shop.SSN),
        asked("mutation M($x: String!) { createCustomer(input: {id: 1, ssn: $x}) { id } }", x=shop.SSN),
        [asked(FIND, ssn=shop.SSN)],
        {"query": ["not a string"], "variables": {"ssn": shop.SSN}},
        asked(f'query {{ a: customers(ssn: """{shop.SSN}""") {{ id }} }}'),
    ],
    ids=["literal", "input", "default", "another variable", "input from another", "batch", "no text", "block string"],
)
def test_document_that_goes_round_its_variables_is_refused(api: Api, body: object) -> None:
    refused = api.post("/graphql", body)
    assert refused.status == 422
    assert refused.problem
    assert shop.SSN not in refused.body.decode()
    assert api.nothing_arrived()


def test_document_in_the_url_is_refused(api: Api) -> None:
    refused = api.get("/graphql?query=%7Bcustomers%28ssn%3A%22078-05-1120%22%29%7Bid%7D%7D")
    assert refused.status in (403, 405)
    assert refused.problem
    assert "POST" in refused.json["remedy"]
    assert api.nothing_arrived()


def test_document_that_names_nothing_protected_passes(api: Api) -> None:
    assert api.post("/graphql", asked("query { customers { id } }")).status == 200


def test_document_that_can_not_be_read_is_refused(api: Api) -> None:
    refused = api.post("/graphql", asked("query { customers(ssn: "))
    assert refused.status in (400, 422)
    assert api.nothing_arrived()
