"""WebSockets and gRPC: past the filter where nothing is named, and not at all where something is."""

import base64
import os

import pytest

from tests.http import shop
from tests.http.api import Api
from tests.http.clients import client
from tests.http.wire import Wire


def upgrade(wire: Wire, path: str, **headers: str) -> None:
    key = base64.b64encode(os.urandom(16)).decode()
    wire.head("GET", path, {
        "connection": "Upgrade", "upgrade": "websocket", "sec-websocket-key": key, "sec-websocket-version": "13",
        **headers,
    })  # fmt: skip


def test_websocket_passes_where_nothing_is_named(api: Api) -> None:
    frame = b"\x81\x05hello"
    with Wire(api.port) as wire:
        upgrade(wire, "/socket/plain")
        head = wire.read_head()
        assert head.status == 101
        assert head.headers["upgrade"] == "websocket"
        for _ in range(3):
            wire.send(frame)
            assert wire.read_exactly(len(frame)) == frame


@pytest.mark.parametrize("path", ["/socket/sealed", "/told/socket", "/echo/requests", "/customers"])
def test_websocket_is_refused_where_something_is_named(api: Api, path: str) -> None:
    with Wire(api.port) as wire:
        upgrade(wire, path, **api.role("app"))
        assert wire.read_head().status == 403
    assert api.nothing_arrived()


def test_other_upgrades_do_not_pass_where_something_is_named(api: Api) -> None:
    """Envoy takes off the upgrades that it does not know, or refuses them: the body stays a body."""
    with Wire(api.port) as wire:
        wire.head("POST", "/echo/requests", {
            **api.role("app"), "connection": "Upgrade", "upgrade": "made-up", "content-type": "application/json",
            "content-length": "21",
        })  # fmt: skip
        wire.send(b'{"ssn":"078-05-1120"}')
        wire.read_head()
    assert all(shop.SSN not in got.body.decode() for got in api.service.got())


def test_connect_does_not_pass(api: Api) -> None:
    with Wire(api.port) as wire:
        wire.send(b"CONNECT shop:80 HTTP/1.1\r\nhost: shop:80\r\n\r\n")
        assert wire.read_head().status >= 400
    assert api.nothing_arrived()


@pytest.mark.parametrize("speaker", ["node-http2", "go-http2"])
def test_grpc_passes_where_nothing_is_named_and_not_where_something_is(api: Api, speaker: str) -> None:
    frame = b"\0\0\0\0\3abc"
    grpc = {"content-type": "application/grpc", "te": "trailers"}
    with client(speaker, api.base) as made:
        assert made.post("/echo/plain", frame, grpc).body == frame
        refused = made.post("/echo/requests", frame, {**grpc, **api.role("app")})
    assert refused.status != 200 or refused.headers.get("grpc-status", "0") != "0"
    assert api.nothing_arrived("/echo/requests")
