"""Bodies that flow: pieces at once, slow sides, large ones in little memory, ends that nobody may take for whole."""

import json
import os
import threading
import time
from collections.abc import Callable

import pytest

from harness.waiting import until
from tests.http import shop
from tests.http.api import SEALED, Api
from tests.http.wire import Broken, Wire

MIB = 1 << 20
# A gigabyte by hand: HTTP_LARGE_MIB=1024.
LARGE_MIB = int(os.environ.get("HTTP_LARGE_MIB", "256"))
# What Envoy may take more while one large body passes each way: its buffers, and the module's.
MEMORY_MIB = 64
STREAMS = {
    "application/x-ndjson": lambda document: f"{document}\n",
    "application/json-seq": lambda document: f"\x1e{document}\n",
    "text/event-stream": lambda document: f"data: {document}\n\n",
}


def posted(api: Api, wire: Wire, path: str, media_type: str = "application/json", **headers: str) -> None:
    """The head of a POST whose body comes in chunks."""
    wire.head("POST", path, {
        **api.role("app"), "content-type": media_type, "transfer-encoding": "chunked", **headers,
    })  # fmt: skip


@pytest.mark.parametrize("media_type", STREAMS)
def test_each_piece_of_an_answer_is_there_before_the_next_is_sent(api: Api, media_type: str) -> None:
    sealed, piece = api.sealed("ssn", shop.SSN), STREAMS[media_type]
    path = f"/told/pieces-{media_type.replace('/', '-')}"
    steps = [{"text": piece(json.dumps({"ssn": sealed, "n": n})), "wait": f"{path[6:]}-{n}"} for n in range(3)]
    api.service.answer(path, *steps, headers={"content-type": media_type})
    with Wire(api.port) as wire:
        wire.head("GET", path, api.role("app"))
        for n in range(3):
            api.service.open(f"{path[6:]}-{n}")
            if n == 0:
                assert wire.read_head().status == 200
            # The next one waits for us.
            seen = wire.read_until(b"}")
            assert shop.SSN.encode() in seen
            assert b'"n": %d' % n in seen


# Events are for answers.
@pytest.mark.parametrize("media_type", [media_type for media_type in STREAMS if media_type != "text/event-stream"])
def test_each_piece_of_a_request_arrives_before_the_next_is_sent(api: Api, media_type: str) -> None:
    piece = STREAMS[media_type]
    with Wire(api.port) as wire:
        posted(api, wire, "/count", media_type)
        for n in range(3):
            wire.chunk(piece(json.dumps({"ssn": shop.SSN, "n": n})))
            until(
                lambda n=n: (
                    bool(api.service.got("/count")) and f'"n": {n}' in api.service.got("/count")[0].body.decode()
                )
            )
        wire.last_chunk()
        assert wire.read_head().status == 200
    (got,) = api.service.got("/count")
    assert got.complete
    assert got.body.count(SEALED.encode()) == 3
    assert shop.SSN.encode() not in got.body


def arrived(api: Api, text: str) -> bool:
    """Whether it stands in what came so far."""
    return any(text.encode() in got.body for got in api.service.got("/count"))


def test_slow_client_and_slow_service_lose_nothing(api: Api) -> None:
    """A few bytes at a time, across every token."""
    text = json.dumps({"a": [1, {"ssn": shop.SSN}], "card": shop.CARD, "z": "ä"}, ensure_ascii=False).encode()
    with Wire(api.port) as wire:
        posted(api, wire, "/echo/sealed")
        for start in range(0, len(text), 3):
            wire.chunk(text[start : start + 3])
            time.sleep(0.003)
        wire.last_chunk()
        assert wire.read_body(wire.read_head()) == text
    (got,) = api.service.got()
    steps = [{"bytes": None, "text": chr(byte), "milliseconds": 1} for byte in got.body[:60]]
    api.service.answer("/told/slow", *steps, got.body[60:])
    assert api.get("/told/slow").body == text


def test_client_that_reads_slowly_gets_it_all(api: Api) -> None:
    sealed = api.sealed("card", shop.CARD)
    item = json.dumps({"card": sealed, "filling": "x" * 1000}) + ","
    api.service.answer("/told/much", "[", {"repeat": item, "times": 8000}, "null]")
    with Wire(api.port) as wire:
        wire.head("GET", "/told/much", api.role("app"))
        head = wire.read_head()
        body = b""
        while chunk := wire.read_chunk():
            body += chunk
            if len(body) % 7 == 0:
                time.sleep(0.002)
        assert head.status == 200
        assert body.count(shop.CARD.encode()) == 8000
        assert SEALED.encode() not in body
        assert json.loads(body)[-1] is None


@pytest.mark.parametrize("way", ["request", "answer"])
def test_large_body_passes_in_little_memory(api: Api, way: str) -> None:
    item = {"id": 1, "card": shop.CARD, "filling": "x" * 1000}
    once: Callable[[Api, dict, int], int] = {"request": send, "answer": fetch}[way]
    api.warm()
    # What a first body takes for good, a second does not take again.
    once(api, item, 2000)
    before, highest, done = api.stack.envoy.memory_bytes(), [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            highest[0] = max(highest[0], api.stack.envoy.memory_bytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        passed = once(api, item, LARGE_MIB * MIB // len(json.dumps(item)))
    finally:
        done.set()
        watcher.join()
    print(f"{way}: {passed / MIB:.0f} MiB, {(highest[0] - before) / MIB:.1f} MiB more memory")
    assert passed >= LARGE_MIB * MIB * 0.9
    assert highest[0] - before < MEMORY_MIB * MIB


def send(api: Api, item: dict, times: int) -> int:
    """A list of so many; how many bytes of it arrived."""
    api.service.forget()
    many = 64
    block = (json.dumps(item) + ",") * many
    with Wire(api.port) as wire:
        posted(api, wire, "/count")
        wire.chunk("[")
        for _ in range(times // many):
            wire.chunk(block)
        wire.chunk("null]")
        wire.last_chunk()
        head = wire.read_head()
        assert head.status == 200
        wire.read_body(head)
    (got,) = api.service.got("/count")
    assert got.complete
    assert shop.CARD.encode() not in got.body
    assert got.body.count(SEALED.encode()) > 100
    return got.length


def fetch(api: Api, item: dict, times: int) -> int:
    """A list of so many; how many bytes of it came, opened."""
    sealed = json.dumps({**item, "card": api.sealed("card", shop.CARD)}) + ","
    api.service.answer("/told/large", "[", {"repeat": sealed, "times": times}, "null]")
    length, opened, before = 0, 0, b""
    with Wire(api.port) as wire:
        wire.head("GET", "/told/large", api.role("app"))
        assert wire.read_head().status == 200
        while chunk := wire.read_chunk():
            length += len(chunk)
            opened += (before + chunk).count(shop.CARD.encode())
            # A value on the border is counted once.
            before = chunk[-len(shop.CARD) + 1 :]
    assert opened == times
    return length


def test_client_that_leaves_in_the_middle_leaves_no_whole_body_behind(api: Api) -> None:
    with Wire(api.port) as wire:
        posted(api, wire, "/count")
        wire.chunk('{"ssn": "' + shop.SSN + '", "filling": "' + "x" * 300_000)
        until(lambda: bool(api.service.got("/count")))
    until(lambda: api.service.got("/count")[0].failed)
    got = api.service.got("/count")[0]
    assert not got.complete
    assert shop.SSN.encode() not in got.body
    # Nothing is left of it that would hurt the next one.
    assert api.post("/echo/sealed", {"ssn": shop.SSN}).status == 200


def test_client_that_leaves_early_forwards_nothing(api: Api) -> None:
    with Wire(api.port) as wire:
        posted(api, wire, "/count")
        wire.chunk('{"ssn": "078-')
    assert api.post("/echo/sealed", {"ssn": shop.SSN}).status == 200
    assert api.nothing_arrived("/count")


@pytest.mark.parametrize("sent", ["little", "much"])
def test_service_that_breaks_off_is_never_taken_for_whole(api: Api, sent: str) -> None:
    sealed = api.sealed("ssn", shop.SSN)
    filling = "x" * (10 if sent == "little" else 300_000)
    path = f"/told/broken-{sent}"
    api.service.answer(path, f'{{"ssn": "{sealed}", "filling": "{filling}', {"reset": True})
    answer = api.get(path)
    assert answer.status in (502, 503) or answer.error
    if sent == "little":
        # It was still held: an honest answer is possible.
        assert (answer.status // 100, answer.error) == (5, "")


def harmed(api: Api, harm: str) -> str:
    """What stands in place of a sealed value."""
    sealed = api.sealed("ssn", shop.SSN)
    return {
        "anothers": f'"{api.sealed("card", shop.CARD)}"',
        "cut-short": f'"{sealed[:-10]}"',
        "no-json": "nil",
        "plaintext": '"planted-plaintext"',
    }[harm]


HARMS = ("anothers", "cut-short", "no-json", "plaintext")


@pytest.mark.parametrize("harm", HARMS)
def test_answer_that_can_not_be_opened_is_502_while_it_is_held(api: Api, harm: str) -> None:
    path = f"/told/unopened-{harm}"
    api.service.answer(path, f'{{"ok": "yyyyyyyyyy", "ssn": {harmed(api, harm)}, "more": 1}}')
    answer = api.get(path)
    assert (answer.status, answer.error) == (502, "")
    assert answer.problem
    assert "planted-plaintext" not in answer.body.decode()
    assert "yyyy" not in answer.body.decode()


@pytest.mark.parametrize("harm", HARMS)
def test_answer_that_can_not_be_opened_late_is_reset(api: Api, harm: str) -> None:
    """The head has reached the client: only an end that nobody takes for one is left."""
    path = f"/told/late-{harm}"
    late = {"text": f'"ssn": {harmed(api, harm)}, "more": 1}}', "wait": path[6:]}
    api.service.answer(path, f'{{"filling": "{"x" * 300_000}", ', late)
    with Wire(api.port) as wire:
        wire.head("GET", path, api.role("app"))
        assert wire.read_head().status == 200
        seen = wire.read_until(b"xxx")
        api.service.open(path[6:])
        with pytest.raises(Broken) as broken:
            read_on(wire)
    assert b"planted" not in seen
    assert b"planted" not in broken.value.args[0]
    assert b"more" not in broken.value.args[0]


def read_on(wire: Wire) -> None:
    """To the end; what breaks it carries what came."""
    seen = b""
    try:
        while chunk := wire.read_chunk():
            seen += chunk
    except Broken as broken:
        raise Broken(seen + broken.args[0]) from broken


def test_request_that_turns_out_malformed_late_never_arrives_whole(api: Api) -> None:
    answer = api.post("/count", '{"filling": "' + "x" * 300_000 + '", "ssn": nil}')
    assert answer.status in (0, 400) or answer.error
    until(lambda: all(got.failed for got in api.service.got("/count")))
    assert not [got for got in api.service.got("/count") if got.complete]


def test_value_past_its_limit_is_refused(api: Api) -> None:
    answer = api.post("/count", {"ssn": "x" * (MIB + 1)})
    assert answer.status == 413
    assert answer.problem
    assert answer.json["remedy"]
    assert not [got for got in api.service.got("/count") if got.complete]


def test_early_answer_of_the_service_ends_a_request_that_goes_on(api: Api) -> None:
    api.service.answer("/count-no-more", "{}", status=413, unread=True)
    with Wire(api.port) as wire:
        posted(api, wire, "/count-no-more")
        wire.chunk('{"filling": "' + "x" * 200_000)
        assert wire.read_head().status == 413


def test_answer_that_begins_before_the_request_has_ended_flows_beside_it(api: Api) -> None:
    """Both directions at once, each at its own pace."""
    media_type = "application/x-ndjson"
    with Wire(api.port) as wire:
        posted(api, wire, "/echo/sealed", media_type)
        wire.chunk(json.dumps({"ssn": shop.SSN, "n": 0}) + "\n")
        head = wire.read_head()
        assert head.status == 200
        assert shop.SSN.encode() in wire.read_until(b"}")
        for n in range(1, 4):
            wire.chunk(json.dumps({"ssn": shop.SSN, "n": n}) + "\n")
            seen = wire.read_until(b"}")
            assert shop.SSN.encode() in seen
            assert b'"n": %d' % n in seen
        wire.last_chunk()
        while wire.read_chunk():
            pass
    assert shop.SSN.encode() not in api.service.got("/echo/sealed")[0].body


def test_broken_connection_is_seen_as_such_by_hand_too(api: Api) -> None:
    """What the client's library calls incomplete: no last chunk came."""
    sealed = api.sealed("ssn", shop.SSN)
    api.service.answer("/told/cut", f'{{"ssn": "{sealed}", "filling": "{"x" * 300_000}', {"reset": True})
    with Wire(api.port) as wire:
        wire.head("GET", "/told/cut", api.role("app"))
        assert wire.read_head().status == 200
        with pytest.raises(Broken):
            read_on(wire)
