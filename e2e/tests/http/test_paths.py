"""No other spelling of a path, of a method or of a key goes round what is named for it."""

import json

import pytest

from tests.http import shop
from tests.http.api import SEALED, Api

ONE = {"ssn": shop.SSN}
SPELLINGS = [
    "/echo/requests",
    "/echo/requests/",
    "//echo/requests",
    "/echo//requests",
    "/echo/./requests",
    "/echo/x/../requests",
    "/./echo/requests",
    "/%65cho/requests",
    "/echo/%72equests/deeper",
    "/ech%6F/request%73",
    "/echo;x=1/requests",
    "/echo/requests;jsessionid=1",
    "/echo/requests/;a",
    "/echo/%2e/requests",
    "/echo/x/%2e%2E/requests",
    "/echo/requests?a=/../..",
    "/echo/requests/a%20b",
    "/../echo/requests",
]
REFUSED = [
    "/echo%2frequests",
    "/echo%2Frequests",
    "/echo%5crequests",
    "/echo/requests%00",
    "/echo/%zzrequests",
    "/echo/requests%",
    "/echo/%0arequests",
]


@pytest.mark.parametrize("target", SPELLINGS)
def test_no_spelling_of_a_path_escapes(api: Api, target: str) -> None:
    api.post(target, ONE)
    assert all(shop.SSN not in got.body.decode() for got in api.service.got())
    assert [SEALED.encode() in got.body for got in api.service.got()] in ([], [True])


@pytest.mark.parametrize("target", REFUSED)
def test_path_that_can_be_read_in_two_ways_is_refused(api: Api, target: str) -> None:
    answer = api.post(target, ONE)
    assert answer.status >= 300
    assert all(shop.SSN not in got.body.decode() for got in api.service.got())


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "QUERY", "PROPFIND"])
def test_every_method_is_meant_where_none_is_named(api: Api, method: str) -> None:
    api.ask(method, "/echo/requests", ONE)
    for got in api.service.got():
        assert shop.SSN not in got.body.decode()


def test_body_of_a_get_is_a_body(api: Api) -> None:
    api.ask("GET", "/echo/requests", ONE)
    assert all(shop.SSN not in got.body.decode() for got in api.service.got())


@pytest.mark.parametrize(
    "text",
    [
        '{"\\u0073sn": "%s"}',
        '{"ssn": "%s", "ssn": "%s"}',
        '{"a": {"ssn": "%s"}}',
        '[[{"b": [{"ssn": "%s"}]}]]',
        '{"ssn"\n:\t"%s"}',
        '{"ss\\u006E" : "%s"}',
    ],
)
def test_no_spelling_of_a_key_escapes(api: Api, text: str) -> None:
    text = text.replace("%s", shop.SSN)
    answer = api.post("/echo/sealed", text)
    assert (answer.status, answer.body.decode()) == (200, text)
    (got,) = api.service.got()
    assert shop.SSN not in got.body.decode()
    assert got.body.count(SEALED.encode()) == text.count(shop.SSN)


@pytest.mark.parametrize(
    "value",
    ['["078-05-1120"]', '{"a": "078-05-1120"}', "78051120", "true"],
)
def test_value_of_another_kind_does_not_escape(api: Api, value: str) -> None:
    refused = api.post("/echo/requests", f'{{"ssn": {value}}}')
    assert refused.status == 422
    assert refused.problem
    assert refused.json["label"] == "api.ssn"
    assert "1120" not in refused.body.decode()
    assert api.nothing_arrived()


def test_null_stays_null(api: Api) -> None:
    assert api.post("/echo/sealed", '{"ssn" : null}').body == b'{"ssn" : null}'


def test_duplicated_framing_is_no_way_round(api: Api) -> None:
    """Two lengths, or a length and chunks: nobody behind may see another body than the filter."""
    body = json.dumps(ONE)
    both = {"content-type": "application/json", "content-length": str(len(body)), "transfer-encoding": "chunked"}
    answer = api.post("/echo/requests", body, both)
    assert answer.status == 400
    assert api.nothing_arrived()
