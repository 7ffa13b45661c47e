"""Encoded bodies: refused where something is named, untouched elsewhere; and answers encoded for those who ask."""

import gzip
import json
from collections.abc import Callable

import brotli
import pytest
import zstandard

from tests.http import shop
from tests.http.api import Api

ONE = {"ssn": shop.SSN, "filling": "x" * 500}
TEXT = json.dumps(ONE).encode()
ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "br": brotli.compress,
    "zstd": zstandard.compress,
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
    # What the service might encode, nobody could look into: it is not asked to.
    assert not (api.service.got()[0].header("accept-encoding") or "").strip()


@pytest.mark.parametrize(
    "encoding", [*ENCODERS, "deflate", "compress", "x-made-up", "x-made-up, gzip", "gzip, x-made-up"]
)
def test_request_in_an_encoding_is_refused(api: Api, encoding: str) -> None:
    answer = api.post("/echo/sealed", ENCODERS.get(encoding, bytes)(TEXT), encoded(encoding))
    assert answer.status == 415
    assert answer.problem
    assert answer.json["remedy"]
    assert api.nothing_arrived()


@pytest.mark.parametrize("encoding", [*ENCODERS, "deflate", "x-made-up"])
def test_answer_that_is_encoded_although_nobody_asked_is_refused(api: Api, encoding: str) -> None:
    path = f"/told/undecoded-{encoding}"
    api.service.answer(path, ENCODERS.get(encoding, bytes)(TEXT), headers=encoded(encoding))
    answer = api.get(path)
    assert answer.status == 502
    assert answer.problem
    assert shop.SSN not in answer.body.decode()


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
