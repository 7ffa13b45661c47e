"""Keys of issuers that OPA fetches by itself: kept, looked for anew, and not to be had."""

import contextlib
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from harness.opa import Opa
from harness.ports import LOOPBACK
from harness.tokens import ISSUER, Issuer
from harness.workdir import WorkDir
from tests.policies.shipping import ASKED

NO_KEYS = "the token is not valid: the keys of its issuer can not be had"
NO_SIGNATURE = "the token is not valid: its signature does not hold"


class KeyServer:
    """Gives out a JWKS, and counts how often."""

    def __init__(self) -> None:
        self.issuers: list[Issuer] = []
        self.asked = 0
        # Cleared: it takes questions and answers none.
        self.answers = threading.Event()
        self.answers.set()
        self.server = ThreadingHTTPServer((LOOPBACK, 0), _handler(self))
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.server.server_address[1]}/jwks.json"

    def stop(self) -> None:
        self.answers.set()
        self.server.shutdown()
        self.server.server_close()


def _handler(keys: KeyServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            keys.asked += 1
            keys.answers.wait()
            body = json.dumps({"keys": [issuer.jwk() for issuer in keys.issuers]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            # Whoever asked may have gone.
            with contextlib.suppress(OSError):
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@pytest.fixture
def keys() -> Iterator[KeyServer]:
    server = KeyServer()
    server.issuers = [Issuer("old")]
    yield server
    server.stop()


@pytest.fixture
def opa(keys: KeyServer, tmp_path: Path) -> Iterator[Opa]:
    keys.issuers[0].write_policies(tmp_path, jwks_url=keys.url)
    work = WorkDir()
    running = Opa(work, extra=(tmp_path,))
    running.start()
    yield running
    running.stop()
    work.remove()


def plan(opa: Opa, token: str) -> dict:
    return opa.data("fieldveil/plan", {**ASKED, "token": token})


def test_keys_are_fetched_once_for_all_sessions(opa: Opa, keys: KeyServer) -> None:
    assert plan(opa, "")["subject"] == "user:support"
    assert keys.asked == 0
    for name in ("ann", "bob", "ann"):
        assert plan(opa, keys.issuers[0].token(name))["subject"] == f"token:{ISSUER}#{name}"
    assert keys.asked == 1


def test_a_new_key_is_looked_for_and_one_that_is_nowhere_not_each_time(opa: Opa, keys: KeyServer) -> None:
    old, new, stranger = keys.issuers[0], Issuer("new"), Issuer("stranger")
    assert "denied" not in plan(opa, old.token("ann"))
    keys.issuers.append(new)
    assert "denied" not in plan(opa, new.token("ann"))
    assert keys.asked == 2
    for _ in range(5):
        assert plan(opa, stranger.token("ann"))["denied"] == NO_SIGNATURE
    assert keys.asked < 2 + 5
    assert "denied" not in plan(opa, old.token("bob"))


def test_without_keys_tokens_are_refused_and_the_kept_ones_serve_on(opa: Opa, keys: KeyServer) -> None:
    known = keys.issuers[0]
    assert "denied" not in plan(opa, known.token("ann"))
    keys.stop()
    assert "denied" not in plan(opa, known.token("bob"))
    denied = plan(opa, Issuer("new").token("ann"))
    assert denied["denied"] == NO_KEYS
    assert {field["read"]["treatment"] for field in denied["fields"]} == {"refuse"}
    assert "denied" not in plan(opa, "")


def test_a_server_that_does_not_answer_is_asked_once_for_a_question_and_its_keys_are_learned_later(
    opa: Opa, keys: KeyServer
) -> None:
    keys.answers.clear()
    denied = plan(opa, keys.issuers[0].token("ann"))
    assert denied["denied"] == NO_KEYS
    assert keys.asked == 1
    # Long before the token expires.
    assert denied["expires_at"] < time.time() + 60
    keys.answers.set()
    assert "denied" not in plan(opa, keys.issuers[0].token("ann"))


def test_a_token_without_a_kid_is_verified_by_a_new_key(opa: Opa, keys: KeyServer) -> None:
    old, new = keys.issuers[0], Issuer("")
    assert "denied" not in plan(opa, old.token("ann"))
    keys.issuers[:] = [new]
    assert "denied" not in plan(opa, new.token("ann"))
    assert keys.asked == 2
