"""Encoded bodies: what clients send in gzip, brotli and zstd is decoded, and any other is refused, never passed."""

import gzip
import json
from collections.abc import Callable

import brotli
import pytest
import zstandard

from tests.http import shop
from tests.http.api import SEALED, Api

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


@pytest.mark.parametrize("encoding", ENCODERS)
def test_encoded_request_is_sealed(api: Api, encoding: str) -> None:
    answer = api.post("/echo/sealed", ENCODERS[encoding](TEXT), encoded(encoding))
    assert (answer.status, answer.body) == (200, TEXT)
    (got,) = api.service.got()
    assert got.header("content-encoding") is None
    assert got.json["ssn"].startswith(SEALED)


@pytest.mark.parametrize("encoding", DECODERS)
def test_answer_is_encoded_for_a_client_that_asks(api: Api, encoding: str) -> None:
    answer = api.post("/echo/sealed", ONE, {"accept-encoding": encoding})
    assert answer.headers["content-encoding"] == encoding
    assert json.loads(DECODERS[encoding](answer.body)) == ONE
    # What the service might encode, nobody could look into: it is not asked to.
    assert not (api.service.got()[0].header("accept-encoding") or "").strip()


@pytest.mark.parametrize("encoding", ["deflate", "compress", "x-made-up", "x-made-up, gzip"])
def test_request_in_an_encoding_that_nobody_decodes_is_refused(api: Api, encoding: str) -> None:
    answer = api.post("/echo/sealed", TEXT, encoded(encoding))
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


def test_broken_encoding_never_comes_through_as_a_whole_body(api: Api) -> None:
    answer = api.post("/echo/sealed", gzip.compress(TEXT)[:-12], encoded("gzip"))
    assert answer.status != 200 or answer.error
    assert not [got for got in api.service.got() if got.complete]


@pytest.mark.parametrize("encoding", ["gzip", "gzip, x-made-up"])
def test_body_that_is_not_encoded_as_it_says_comes_to_nothing(api: Api, encoding: str) -> None:
    """Envoy's decoder gives out nothing of it; in no case is it passed as it came."""
    api.post("/echo/sealed", TEXT, encoded(encoding))
    assert all(got.length == 0 for got in api.service.got())


def test_encodings_pass_where_nothing_is_named(api: Api) -> None:
    api.service.answer("/plain-encoded", b"whatever", headers=encoded("x-made-up"))
    answer = api.get("/plain-encoded")
    assert (answer.status, answer.body) == (200, b"whatever")
    assert api.post("/echo/plain", b"whatever", encoded("x-made-up")).body == b"whatever"
