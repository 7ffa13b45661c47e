"""Encoded bodies: decoded where something is named, untouched elsewhere; and answers encoded for those who ask."""

import gzip
import json
import random
from collections.abc import Callable

import brotli
import pytest
import zstandard

from tests.http import shop
from tests.http.api import SEALED, Api
from tests.http.clients import client
from tests.http.wire import Wire

ONE = {"ssn": shop.SSN, "filling": "x" * 500}
TEXT = json.dumps(ONE).encode()
ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "br": brotli.compress,
    "zstd": zstandard.compress,
}
BODIES = {
    "short": TEXT,
    "one letter": json.dumps({"ssn": shop.SSN, "filling": "x" * 200_000}).encode(),
    "long": json.dumps({"ssn": shop.SSN, "filling": random.Random(7).randbytes(150_000).hex()}).encode(),
}
DECODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.decompress,
    "br": brotli.decompress,
    # A stream does not say how long it will be.
    "zstd": lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data),
}


def encoded(encoding: str) -> dict[str, str]:
    return {"content-type": "application/json", "content-encoding": encoding}


@pytest.mark.parametrize("encoding", DECODERS)
def test_answer_is_encoded_for_a_client_that_asks(api: Api, encoding: str) -> None:
    answer = api.post("/echo/sealed", ONE, {"accept-encoding": encoding})
    assert answer.headers["content-encoding"] == encoding
    assert json.loads(DECODERS[encoding](answer.body)) == ONE


def test_service_is_asked_for_what_is_decoded_as_it_streams_and_for_nothing_unasked(api: Api) -> None:
    for asked, left in [
        ("gzip, deflate, br, zstd", "gzip, br"),
        ("br;q=0.5, identity", "br;q=0.5, identity"),
        ("deflate, zstd", ""),
        (None, ""),
    ]:
        api.service.forget()
        api.post("/echo/sealed", ONE, {} if asked is None else {"accept-encoding": asked})
        assert (api.service.got()[0].header("accept-encoding") or "") == left


@pytest.mark.parametrize("text", BODIES, ids=BODIES.keys())
@pytest.mark.parametrize("encoding", [*ENCODERS, "x-gzip"])
def test_encoded_request_is_sealed_as_a_plain_one(api: Api, encoding: str, text: str) -> None:
    body = BODIES[text]
    answer = api.post("/echo/sealed", ENCODERS[encoding.removeprefix("x-")](body), encoded(encoding))
    assert (answer.status, answer.body) == (200, body)
    (got,) = api.service.got()
    assert got.header("content-encoding") is None
    assert got.json["ssn"].startswith(SEALED)
    assert (got.json["filling"], got.complete) == (json.loads(body)["filling"], True)


@pytest.mark.parametrize("text", BODIES, ids=BODIES.keys())
@pytest.mark.parametrize("encoding", ENCODERS)
def test_encoded_answer_is_opened_as_a_plain_one(api: Api, encoding: str, text: str) -> None:
    sealed = api.sealed("ssn", shop.SSN)
    stored = json.dumps({**json.loads(BODIES[text]), "ssn": sealed}).encode()
    path = f"/told/encoded-{encoding}-{text.replace(' ', '-')}"
    headers = {**encoded(encoding), "etag": '"a"'}
    api.service.answer(path, ENCODERS[encoding](stored), headers=headers)
    answer = api.get(path)
    assert (answer.status, answer.body) == (200, BODIES[text])
    assert "content-encoding" not in answer.headers
    assert answer.headers["etag"] == 'W/"a"'
    # Encoded anew by Envoy, for who asks.
    api.service.answer(path, ENCODERS[encoding](stored), headers=encoded(encoding))
    answer = api.get(path, {"accept-encoding": "br"})
    assert answer.headers["content-encoding"] == "br"
    assert brotli.decompress(answer.body) == BODIES[text]


def repeated(value: str, times: int) -> str:
    return f"[{','.join([value] * times)}]"


# Each of a few kilobytes encoded.
BOMBS = {
    "documents of long numbers": f'{{"documents":[{repeated(repeated("1e4096", 540), 300)}]}}',
    "long numbers": f'{{"digits":{repeated("1e4096", 180_000)}}}',
    "fewer long numbers": f'{{"digits":{repeated("1e4096", 40_000)}}}',
    "many floats": f'{{"float8":{repeated("0.30000000000000004", 250_000)}}}',
}


@pytest.mark.parametrize("name", BOMBS)
def test_short_body_that_stands_for_a_long_one_is_refused_and_the_sidecar_serves(api: Api, name: str) -> None:
    # Each worker has some of them.
    for _ in range(4):
        answer = api.post("/echo/typed", gzip.compress(BOMBS[name].encode(), 9), encoded("gzip"))
        assert answer.status == 413
        assert api.post("/echo/sealed", ONE).status == 200
    assert all(json.loads(got.body).get("filling") for got in api.service.got())


@pytest.mark.parametrize("name", ["httpx-http2", "go-http2", "node-http2", "curl"])
@pytest.mark.parametrize("encoding", ENCODERS)
def test_clients_send_encoded_bodies_of_every_length(api: Api, encoding: str, name: str) -> None:
    with client(name, api.base) as shopper:
        for body in BODIES.values():
            headers = {**api.role("app"), **encoded(encoding)}
            answer = shopper.post("/echo/sealed", ENCODERS[encoding](body), headers)
            assert (answer.status, json.loads(answer.body)) == (200, json.loads(body))
    assert all(got.json["ssn"].startswith(SEALED) for got in api.service.got())


@pytest.mark.parametrize("encoding", ENCODERS)
def test_encoded_body_in_chunks_with_trailers_is_sealed(api: Api, encoding: str) -> None:
    headers = {**api.role("app"), **encoded(encoding), "transfer-encoding": "chunked"}
    for body in BODIES.values():
        api.service.forget()
        with Wire(api.port) as wire:
            wire.head("POST", "/echo/sealed", headers)
            sent = ENCODERS[encoding](body)
            pieces = max(1, len(sent) // 20)
            for at in range(0, len(sent), pieces):
                wire.chunk(sent[at : at + pieces])
            wire.last_chunk({"x-sum": "1"})
            head = wire.read_head()
            assert head.status == 200
            assert wire.read_body(head) == body
        assert api.service.got()[0].json["ssn"].startswith(SEALED)


@pytest.mark.parametrize(
    "encoding", ["deflate", "compress", "x-made-up", "x-made-up, gzip", "gzip, x-made-up", "gzip, br"]
)
def test_request_in_another_encoding_is_refused_and_told_which_are_taken(api: Api, encoding: str) -> None:
    answer = api.post("/echo/sealed", TEXT, encoded(encoding))
    assert answer.status == 415
    assert answer.problem
    assert answer.json["remedy"]
    assert answer.headers["accept-encoding"] == "gzip, br, zstd"
    assert api.nothing_arrived()


@pytest.mark.parametrize("encoding", ["deflate", "x-made-up", "gzip, gzip"])
def test_answer_in_another_encoding_is_refused(api: Api, encoding: str) -> None:
    path = f"/told/undecoded-{encoding.replace(', ', '-')}"
    api.service.answer(path, TEXT, headers=encoded(encoding))
    answer = api.get(path)
    assert answer.status == 502
    assert answer.problem
    assert shop.SSN not in answer.body.decode()


@pytest.mark.parametrize("encoding", ENCODERS)
def test_body_that_is_cut_short_or_followed_by_more_is_no_whole_one(api: Api, encoding: str) -> None:
    whole = ENCODERS[encoding](TEXT)
    for body in (whole[:-1], whole[: len(whole) // 2], whole + b"{}", TEXT):
        answer = api.post("/echo/sealed", body, encoded(encoding))
        assert answer.status == 400
        assert answer.problem
        assert api.nothing_arrived("/echo/sealed")
        path = f"/told/broken-{encoding}"
        api.service.answer(path, body, headers=encoded(encoding))
        answer = api.get(path)
        assert answer.status == 502
        assert shop.SSN not in answer.body.decode()


@pytest.mark.parametrize("encoding", ENCODERS)
def test_bomb_is_refused(api: Api, encoding: str) -> None:
    bomb = ENCODERS[encoding](json.dumps({"filling": "x" * (64 << 20)}).encode())
    answer = api.post("/echo/sealed", bomb, encoded(encoding))
    assert answer.status == 413
    assert answer.problem
    assert not [got for got in api.service.got() if got.complete]
    path = f"/told/bomb-{encoding}"
    api.service.answer(path, bomb, headers=encoded(encoding))
    answer = api.get(path)
    assert answer.status == 502 or answer.error


def test_encoded_body_that_does_not_say_so_is_no_json(api: Api) -> None:
    answer = api.post("/echo/sealed", gzip.compress(TEXT))
    assert answer.status == 400
    assert api.nothing_arrived()


@pytest.mark.parametrize("encoding", [*ENCODERS, "x-made-up"])
def test_encoded_bodies_pass_byte_for_byte_where_nothing_is_named(api: Api, encoding: str) -> None:
    body = ENCODERS.get(encoding, bytes)(TEXT)
    api.service.answer("/plain-encoded", body, headers=encoded(encoding))
    answer = api.get("/plain-encoded")
    assert (answer.status, answer.body) == (200, body)
    assert answer.headers["content-encoding"] == encoding
    assert api.post("/echo/plain", body, encoded(encoding)).body == body
    assert api.service.got("/echo/plain")[0].header("content-encoding") == encoding
