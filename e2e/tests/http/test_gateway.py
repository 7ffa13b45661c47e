"""What the host makes of Envoy: bodies held and let go, refused in time, cut, and nothing left of who went away."""

import hashlib
import json
import random
import re
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from harness import HttpOptions, HttpStack, HttpWay, JwtProvider, Upstream, shop_api
from harness.http_stack import PLAIN
from harness.shop_api import ShopApi
from harness.tokens import ISSUER, Issuer
from harness.waiting import patience, until
from tests.http.clients import TIMEOUT_SECONDS

SERVICE = "gateway"
SSN = "078-05-1120"
BILLING = {"x-team": "billing"}
JSON_OF_BILLING = {**BILLING, "content-type": "application/json"}
# Nobody whom a rule knows.
NOBODY: dict[str, str] = {}
H2 = "h2-service"
TLS = "tls"

LABELS = {
    "person.ssn": {"protection": "deterministic", "keyset": "pii", "type": "text"},
    "person.card": {"protection": "randomized", "keyset": "payments", "type": "text"},
    "person.numbers": {"protection": "randomized", "keyset": "pii", "type": "int4"},
}
BODY = {"$..ssn": "person.ssn", "$..card": "person.card"}
ROUTES = [
    {"path": "/customers/**", "request": BODY, "response": BODY, "query": {"ssn": "person.ssn"}},
    {"path": "/echo/sealed/**", "request": BODY},
    {"path": "/echo/grown", "request": {"$.numbers[*]": "person.numbers"}},
    {"path": "/told/**", "request": BODY, "response": BODY},
]
SEES = {"labels": ["person.*"], "read": {"treatment": "reveal"}, "write": "seal"}
RULES = [
    {"name": "billing works with everything", "who": {"headers": {"x-team": ["billing"]}}, **SEES},
    {"name": "ada too, by her token", "who": {"claims": {"sub": ["ada"]}}, **SEES},
    {"name": "somebody of another network", "who": {"session": {"source": ["9.9.9.0/24"]}}, **SEES},
]


def write_policies(folder: Path) -> Path:
    catalog = {
        "labels": LABELS,
        "services": [{"protocol": "http", "service": SERVICE, "routes": ROUTES}],
    }
    for kind, data in (("catalog", catalog), ("rules", {"rules": RULES})):
        path = folder / kind / "gateway" / "data.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(data))
    return folder


@pytest.fixture(scope="module")
def api() -> Iterator[ShopApi]:
    with shop_api.running() as service:
        yield service


@pytest.fixture(scope="module")
def issuer() -> Issuer:
    return Issuer()


@pytest.fixture(scope="module")
def options(api: ShopApi, issuer: Issuer, tmp_path_factory: pytest.TempPathFactory) -> HttpOptions:
    folder = tmp_path_factory.mktemp("gateway")
    jwks = folder / "jwks.json"
    jwks.write_text(json.dumps({"keys": [issuer.jwk()]}))
    jwt = (JwtProvider("company", ISSUER, jwks),)
    service = Upstream(api.socket, http2=True)
    return HttpOptions(
        Upstream(api.socket),
        service=SERVICE,
        plain=True,
        jwt=jwt,
        ways={H2: HttpWay(service), TLS: HttpWay(tls=True, jwt=jwt)},
        policies=(write_policies(folder / "policies"),),
        filter_config={"http": {"identity": {"headers": ["x-team"], "jwt_payload": "claims"}}},
    )


@pytest.fixture(scope="module")
def stack(options: HttpOptions) -> Iterator[HttpStack]:
    with HttpStack(options).start() as running:
        yield running
        assert "panicked" not in running.envoy.process.log.read_text(errors="replace")


@pytest.fixture(params=["HTTP/1.1", "HTTP/2"])
def http(request: pytest.FixtureRequest) -> Iterator[httpx.Client]:
    two = request.param == "HTTP/2"
    with httpx.Client(http1=not two, http2=two, trust_env=False, timeout=TIMEOUT_SECONDS) as client:
        yield client


@pytest.fixture(params=["json", H2])
def url(request: pytest.FixtureRequest, stack: HttpStack, api: ShopApi) -> str:
    """Through the sidecar, to the service by each protocol."""
    api.forget()
    return stack.url(listener=request.param)


def test_a_value_is_sealed_on_the_way_in_and_opened_on_the_way_out(http: httpx.Client, url: str, api: ShopApi) -> None:
    sent = {"id": 7, "name": "Ada", "ssn": SSN, "orders": [{"card": "4111 1111 1111 1111"}]}
    put = http.put(f"{url}/customers/7", json=sent, headers=BILLING)
    assert put.status_code < 300, put.text
    stored = api.customer(7)
    assert stored["ssn"].startswith("fv1.")
    assert stored["orders"][0]["card"].startswith("fv1.")
    assert stored["name"] == "Ada"
    assert http.get(f"{url}/customers/7", headers=BILLING).json() == sent
    assert http.get(f"{url}/customers/7", headers=NOBODY).json() == stored


def test_what_is_refused_has_not_begun_to_leave(http: httpx.Client, url: str, api: ShopApi) -> None:
    refused = http.put(f"{url}/customers/8", json={"id": 8, "ssn": SSN}, headers=NOBODY)
    assert refused.status_code == 403
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.json()["label"] == "person.ssn"
    malformed = http.put(f"{url}/customers/8", content=b'{"ssn": "1"', headers=JSON_OF_BILLING)
    assert malformed.status_code == 400
    assert api.got() == []


def test_a_route_that_names_nothing_passes_as_it_is(stack: HttpStack, http: httpx.Client, api: ShopApi) -> None:
    body = b' { "ssn" : "' + SSN.encode() + b'", "a": 1.0e0 } '
    headers = {"content-type": "application/json", "etag": '"x"', "if-match": '"y"', "x-forwarded-for": "9.9.9.9"}
    api.forget()
    answers = [
        http.post(stack.url("/echo/untouched?ssn=1", listener), content=body, headers=headers)
        for listener in ("json", PLAIN)
    ]
    through, plain = answers
    assert (through.status_code, through.content) == (plain.status_code, body)
    assert _without_date(through.headers) == _without_date(plain.headers)
    first, second = api.got()
    assert (first.target, first.headers, first.body) == (second.target, _host_of(first, second), second.body)


def _without_date(headers: httpx.Headers) -> list[tuple[str, str]]:
    return [(name, value) for name, value in headers.multi_items() if name != "date"]


def _host_of(first: object, second: object) -> dict[str, list[str]]:
    """The second's headers, but for the port in its host."""
    return {**second.headers, **{name: first.headers[name] for name in ("host",) if name in first.headers}}


def test_a_large_body_streams_both_ways_and_arrives_whole(http: httpx.Client, url: str, api: ShopApi) -> None:
    rows = [{"id": number, "ssn": SSN, "filling": random.randbytes(40).hex()} for number in range(20_000)]
    body = json.dumps({"rows": rows}).encode()
    assert len(body) > 2 << 20
    sealed = http.post(f"{url}/echo/sealed/large", content=body, headers=JSON_OF_BILLING)
    assert sealed.status_code == 200
    (got,) = api.got("/echo/sealed/large")
    assert got.sha256 == hashlib.sha256(sealed.content).hexdigest()
    assert SSN.encode() not in sealed.content
    assert [row["filling"] for row in sealed.json()["rows"]] == [row["filling"] for row in rows]
    api.answer("/told/large", sealed.content)
    assert http.get(f"{url}/told/large", headers=BILLING).content == body


def test_a_body_that_fits_keeps_a_length_and_a_long_one_is_chunked(stack: HttpStack, api: ShopApi) -> None:
    with httpx.Client(trust_env=False, timeout=TIMEOUT_SECONDS) as http:
        for size, has_length in ((10, True), (300_000, False)):
            api.forget()
            http.post(stack.url("/echo/sealed/length"), json={"ssn": SSN, "x": "y" * size}, headers=BILLING)
            (got,) = api.got()
            assert (got.content_length == got.length) == has_length
            assert got.complete


def test_trailers_end_a_body_that_is_held(stack: HttpStack, api: ShopApi) -> None:
    api.forget()
    body = json.dumps({"ssn": SSN}).encode()
    request = (
        b"POST /echo/sealed/trailers HTTP/1.1\r\nhost: a\r\nx-team: billing\r\ncontent-type: application/json\r\n"
        b"transfer-encoding: chunked\r\ntrailer: x-sum\r\nconnection: close\r\n\r\n"
        b"%x\r\n%b\r\n0\r\nx-sum: 1\r\n\r\n" % (len(body), body)
    )
    with socket.create_connection(("127.0.0.1", stack.port())) as connection:
        connection.sendall(request)
        answer = _all(connection)
    assert answer.startswith(b"HTTP/1.1 200 "), answer
    (got,) = api.got()
    assert got.json["ssn"].startswith("fv1.")
    assert got.trailers == {"x-sum": ["1"]}


def test_trailers_of_an_answer_pass(stack: HttpStack, http: httpx.Client, api: ShopApi) -> None:
    api.answer("/told/trailers", '{"ssn":null}', trailers={"x-sum": "1"})
    for listener in ("json", H2):
        answer = http.get(stack.url("/told/trailers", listener), headers=BILLING)
        assert (answer.status_code, answer.json()) == (200, {"ssn": None})


def test_a_client_may_wait_for_100_continue(stack: HttpStack, api: ShopApi) -> None:
    api.forget()
    body = json.dumps({"ssn": SSN}).encode()
    head = (
        b"POST /echo/sealed/continue HTTP/1.1\r\nhost: a\r\nx-team: billing\r\ncontent-type: application/json\r\n"
        b"content-length: %d\r\nexpect: 100-continue\r\nconnection: close\r\n\r\n" % len(body)
    )
    with socket.create_connection(("127.0.0.1", stack.port())) as connection:
        connection.settimeout(patience(20))
        connection.sendall(head)
        assert connection.recv(4096).startswith(b"HTTP/1.1 100 ")
        connection.sendall(body)
        assert _all(connection).startswith(b"HTTP/1.1 200 ")
    assert api.got()[0].json["ssn"].startswith("fv1.")


def test_an_upstream_that_breaks_off_is_never_a_whole_answer(stack: HttpStack, api: ShopApi) -> None:
    rows = ",".join(f'{{"name":"{number}"}}' for number in range(20_000))
    api.answer("/told/broken", f'{{"rows":[{rows}', {"reset": True})
    api.answer("/told/short", '{"ssn":', {"reset": True})
    with httpx.Client(trust_env=False, timeout=TIMEOUT_SECONDS) as http:
        with pytest.raises(httpx.RemoteProtocolError):
            http.get(stack.url("/told/broken"), headers=BILLING)
        assert http.get(stack.url("/told/short"), headers=BILLING).status_code in (502, 503)


def test_an_answer_that_can_not_be_opened_is_502_or_cut(stack: HttpStack, http: httpx.Client, api: ShopApi) -> None:
    api.answer("/told/clear", json.dumps({"ssn": SSN}))
    answer = http.get(stack.url("/told/clear"), headers=BILLING)
    assert answer.status_code == 502
    assert SSN not in answer.text
    # Past what is held, the answer has begun to leave when its value comes.
    gate = f"late-{random.getrandbits(32)}"
    api.answer("/told/clear-late", f'{{"x":"{"y" * 300_000}",', {"wait": gate}, f'"ssn":"{SSN}"}}')
    pieces: list[bytes] = []
    with http.stream("GET", stack.url("/told/clear-late"), headers=BILLING) as answer:
        assert answer.status_code == 200
        api.open(gate)
        with pytest.raises(httpx.RemoteProtocolError):
            pieces.extend(answer.iter_bytes())
    assert b"yyy" in b"".join(pieces)
    assert SSN.encode() not in b"".join(pieces)


def test_verified_claims_count_and_headers_that_name_an_address_do_not(
    stack: HttpStack, issuer: Issuer, api: ShopApi
) -> None:
    def put(url: str, **headers: str) -> int:
        with httpx.Client(
            http2=True,
            timeout=TIMEOUT_SECONDS,
            trust_env=False,
            verify=ssl.create_default_context(cafile=stack.certificates.ca),
        ) as http:
            return http.put(f"{url}/customers/9", json={"id": 9, "ssn": SSN}, headers=headers).status_code

    for url in (stack.url(), stack.url(listener=TLS)):
        assert put(url, authorization=f"Bearer {issuer.token('ada')}") < 300
        assert put(url, authorization=f"Bearer {issuer.token('eve')}") == 403
        assert put(url, authorization=f"Bearer {Issuer().token('ada')}") == 401
        assert put(url, **{"x-forwarded-for": "9.9.9.9"}) == 403


def test_a_body_that_grows_past_what_envoy_holds_ends_no_other_exchange(
    stack: HttpStack, http: httpx.Client, issuer: Issuer, api: ShopApi
) -> None:
    """It waits for the plan of somebody new, and each of its values becomes an envelope."""
    # Over HTTP/2 this client waits for room to send for ever, where the answer comes before it has sent all. So the
    # body goes over HTTP/1.1, and behind it the service answers, for an echo would stop both in the same way.
    api.answer("/echo/grown", "{}")
    body = b'{"numbers":[' + b"1," * (700 << 10) + b"1]}"
    token = issuer.token("ada", number=random.getrandbits(50))
    headers = {"content-type": "application/json", "authorization": f"Bearer {token}"}
    grown = httpx.post(
        stack.url("/echo/grown"), content=body, headers=headers, timeout=TIMEOUT_SECONDS, trust_env=False
    )
    # If the plan was there before the body, it streams.
    assert grown.status_code in (200, 413)
    assert grown.status_code == 200 or grown.json()["type"] == "urn:fieldveil:problem:too-large"
    assert http.get(stack.url("/customers"), headers=BILLING).status_code == 200


def test_clients_that_leave_in_the_middle_leave_nothing(stack: HttpStack, http: httpx.Client, api: ShopApi) -> None:
    """All together they held twice what a worker may hold at once."""
    size = 60 << 10
    head = (
        b"POST /echo/sealed/left HTTP/1.1\r\nhost: a\r\nx-team: billing\r\ncontent-type: application/json\r\n"
        b"content-length: %d\r\n\r\n" % (size * 2)
    )
    half = json.dumps({"x": "y" * size}).encode()[:-2]
    api.forget()
    for _ in range(45):
        connections = [socket.create_connection(("127.0.0.1", stack.port())) for _ in range(100)]
        for connection in connections:
            connection.sendall(head + half)
        for connection in connections:
            connection.close()
    active = "http.json.downstream_rq_active"
    until(lambda: stack.envoy.stats(active)[active] == 0)
    assert api.got() == []
    sent = {"ssn": SSN, "x": "y" * size}
    assert http.post(stack.url("/echo/sealed/stayed"), json=sent, headers=BILLING).status_code == 200


def test_a_large_body_waits_for_the_plan(options: HttpOptions, api: ShopApi) -> None:
    with HttpStack(options).start() as cold, httpx.Client(trust_env=False, timeout=TIMEOUT_SECONDS) as http:
        api.forget()
        # As above: the client reads no answer while it sends.
        api.answer("/echo/sealed/cold", "{}")
        body = json.dumps({"ssn": SSN, "x": "y" * (10 << 20)})
        answer = http.post(cold.url("/echo/sealed/cold"), content=body, headers=JSON_OF_BILLING)
        assert answer.status_code == 200, answer.text[:500]
        (got,) = api.got()
        sealed = re.match(rb'{"ssn": "(fv1\.[^"]+)", "x": "yyy', got.body)[1]
        assert got.complete
        assert got.length == len(body) - len(SSN) + len(sealed)


def test_without_a_plan_or_keys_nothing_passes_and_with_them_again_it_does(options: HttpOptions, api: ShopApi) -> None:
    with (
        HttpStack(options).start(without=("agent", "opa")) as stack,
        httpx.Client(trust_env=False, timeout=TIMEOUT_SECONDS) as http,
    ):
        api.forget()

        def status(team: str = "billing") -> int:
            answer = http.post(stack.url("/echo/sealed/a"), json={"ssn": SSN}, headers={"x-team": team})
            if answer.status_code == 503:
                assert answer.headers["retry-after"]
            return answer.status_code

        assert status() == 503
        stack.opa.start()
        answered = "cluster.opa.upstream_rq_200"
        until(lambda: status() == 503 and stack.envoy.stats(answered).get(answered, 0) > 0)
        assert status() == 503
        assert api.got() == []
        stack.agent.start()
        until(lambda: status() == 200)
        stack.opa.stop()
        assert status() == 200
        assert status("sales") == 503
        stack.opa.start()
        until(lambda: status("sales") == 403)


def test_what_happened_last_is_told_when_the_sidecar_stops(options: HttpOptions) -> None:
    with HttpStack(options).start() as stack:
        with httpx.Client(trust_env=False, timeout=TIMEOUT_SECONDS) as http:
            assert http.post(stack.url("/echo/sealed/a"), json={"ssn": SSN}, headers=BILLING).status_code == 200
        stack.envoy.stop()
        (line,) = stack.envoy.audit()
    assert line["database"] == SERVICE
    assert "person.ssn" in json.dumps(line)


def _all(connection: socket.socket) -> bytes:
    pieces = []
    connection.settimeout(patience(20))
    while piece := connection.recv(65536):
        pieces.append(piece)
    return b"".join(pieces)
