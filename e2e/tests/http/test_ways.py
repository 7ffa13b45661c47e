"""Other ways through the sidecar: TLS, a service that speaks HTTP/2, and one whose every route is named."""

import json
import ssl
from collections.abc import Iterator

import httpx
import pytest

from harness import HttpWay, Upstream
from tests.http import shop, wire
from tests.http.api import SEALED, Api
from tests.http.clients import TIMEOUT_SECONDS, Answer, client
from tests.http.wire import Wire

ONE = {"ssn": shop.SSN, "n": 1}
STRICT = {
    "http": {
        "service": shop.STRICT,
        "identity": {"user_header": "x-user", "purpose_header": "x-purpose", "headers": []},
    }
}


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    folder = tmp_path_factory.mktemp("ways")
    made = Api(folder, ways=lambda service, jwt: {
        "tls": HttpWay(tls=True, jwt=jwt),
        "http2": HttpWay(Upstream(service, http2=True), jwt=jwt),
        "strict": HttpWay(filter_config=STRICT, jwt=jwt),
    })  # fmt: skip
    with made:
        yield made


@pytest.mark.parametrize("http2", [False, True], ids=["HTTP/1.1", "HTTP/2"])
def test_client_over_tls_gets_the_protocol_that_it_asks_for(api: Api, http2: bool) -> None:
    trust = ssl.create_default_context(cafile=str(api.stack.certificates.ca))
    with httpx.Client(http2=http2, verify=trust, trust_env=False, timeout=TIMEOUT_SECONDS) as made:
        answer = made.post(api.stack.url("/echo/sealed", listener="tls"), json=ONE, headers=api.role("app"))
    assert answer.http_version == ("HTTP/2" if http2 else "HTTP/1.1")
    assert (answer.status_code, answer.json()) == (200, ONE)
    assert api.service.got()[-1].json["ssn"].startswith(SEALED)


@pytest.mark.parametrize("speaker", ["curl", "go-http2"])
def test_service_that_speaks_http2_is_served_alike(api: Api, speaker: str) -> None:
    with client(speaker, api.stack.url("", listener="http2")) as made:
        answer = made.post("/echo/sealed", ONE, api.role("app"))
        assert (answer.status, answer.json) == (200, ONE)
        long = {**ONE, "filling": "x" * 300_000}
        assert made.post("/echo/sealed", long, api.role("app")).json == long
        assert made.post("/echo/sealed", '{"ssn": nil}', api.role("app")).status == 400
    got = api.service.got("/echo/sealed")[-1]
    assert (got.protocol, got.complete) == ("HTTP/2.0", True)
    assert got.json["ssn"].startswith(SEALED)


def test_service_that_breaks_off_http2_is_never_taken_for_whole(api: Api) -> None:
    sealed = api.sealed("ssn", shop.SSN)
    api.service.answer("/told/reset", f'{{"ssn": "{sealed}", "filling": "{"x" * 300_000}', {"reset": True})
    with client("go-http2", api.stack.url("", listener="http2")) as made:
        assert made.get("/told/reset", api.role("app")).error


def test_trailers_behind_http2_pass(api: Api) -> None:
    sealed = api.sealed("ssn", shop.SSN)
    api.service.answer("/told/behind", json.dumps({"ssn": sealed}), trailers={"x-sum": "answered"})
    for listener in ("json", "http2"):
        with client("node-http2", api.stack.url("", listener=listener)) as made:
            answer = made.get("/told/behind", {**api.role("app"), "te": "trailers"})
        assert (answer.json, answer.trailers) == ({"ssn": shop.SSN}, {"x-sum": "answered"})


def strictly(api: Api, method: str, target: str, body: object = None, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return wire.ask(api.stack.port("strict"), method, target, body, named)


def test_request_that_fits_no_route_is_refused_where_the_catalog_says_so(api: Api) -> None:
    api.service.forget()
    refused = strictly(api, "GET", "/customers/1")
    assert refused.status == 403
    assert refused.problem
    assert api.nothing_arrived()
    assert strictly(api, "GET", "/echo/health").status == 200


def test_paths_of_the_whole_service_hold_on_every_route(api: Api) -> None:
    body = {"deep": [{"card": shop.CARD}]}
    answer = strictly(api, "POST", "/echo/health", body, x_user="clerk", x_purpose="refund")
    assert (answer.status, answer.json) == (200, body)
    stored = api.service.got("/echo/health")[-1].json["deep"][0]["card"]
    assert stored.startswith(SEALED)
    other = strictly(api, "POST", "/echo/health", body, x_user="clerk", x_purpose="other")
    assert other.status == 403
    assert strictly(api, "POST", "/echo/health", body, x_user="nobody", x_purpose="refund").status == 403


def test_user_that_is_named_twice_is_nobody(api: Api) -> None:
    for name in ("x-user", "x-purpose"):
        headers = [("x-user", "clerk"), ("x-purpose", "refund"), (name, "clerk")]
        assert wire.ask(api.stack.port("strict"), "GET", "/echo/health", None, headers).status == 400


def test_header_that_names_the_user_says_nothing_where_it_is_not_configured(api: Api) -> None:
    answer = api.post("/echo/sealed", ONE, {"x-user": "clerk", "x-purpose": "refund"}, role=None)
    assert answer.status == 403


def test_connection_of_http1_serves_on_or_says_that_it_ends(api: Api) -> None:
    """Envoy ends one whose request it answers before it has read all of it."""
    one = Wire(api.port)
    for body, status in (('{"ssn": "1"}', 200), ('{"ssn": nil}', 400), ('{"ssn": 7}', 422), ('{"ssn": "2"}', 200)):
        one.head("POST", "/echo/sealed", {
            **api.role("app"), "content-type": "application/json", "content-length": str(len(body)),
        })  # fmt: skip
        one.send(body.encode())
        head = one.read_head()
        came = one.read_body(head)
        assert head.status == status
        assert status != 200 or came.decode() == body
        if head.headers.get("connection") == "close":
            assert one.is_closed()
            one.socket.close()
            one = Wire(api.port)
    one.socket.close()
