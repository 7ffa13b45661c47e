"""What OPA writes down of each decision: who asked and what came of it, and never a token."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from dev.layout import POLICIES
from harness import unixhttp
from harness.bundles import NAME, Bundles
from harness.opa import Opa
from harness.waiting import until, until_equal
from harness.workdir import WorkDir
from tests.policies.people import SSN, People, ssn
from tests.policies.shipping import ASKED

# Made up, as are the rules that would take it.
TOKEN = "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsifQ.eyJzdWIiOiJhZGEiLCJleHAiOjF9.bm9ib2R5LXNpZ25lZC10aGlz"
REVISION = "r-of-the-logs"
PLACES = {
    "the session's token": {"token": TOKEN},
    "a comment's token": {"comment": {"purpose": "", "token": TOKEN}},
    "the name of the application": {"session": {**ASKED["session"], "application_name": f"psql {TOKEN}"}},
    "the purpose": {"session": {**ASKED["session"], "purpose": TOKEN}},
    "a claim": {"claims": {"https://example.org/raw": [TOKEN]}},
}


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bundles]:
    made = Bundles(tmp_path_factory.mktemp("bundles"))
    made.publish(made.build(POLICIES, revision=REVISION))
    made.server.start()
    yield made
    made.server.stop()


@pytest.fixture(scope="module")
def opa(bundles: Bundles) -> Iterator[Opa]:
    with running(bundles) as opa:
        yield opa


@contextlib.contextmanager
def running(bundles: Bundles | None, *options: str, until: str = "/health?bundles") -> Iterator[Opa]:
    work = WorkDir()
    opa = Opa(work, bundles=bundles)
    try:
        opa.start(*options, until=until)
        yield opa
    finally:
        opa.stop()
        work.remove()


def plans(decisions: list[dict]) -> list[dict]:
    return [decision for decision in decisions if decision["path"] == "fieldveil/plan"]


def parts_of(text: str) -> list[str]:
    """The token, and each of its parts: a payload alone is as readable."""
    return [text, *text.split(".")]


@pytest.mark.parametrize("place", PLACES)
def test_no_token_stands_in_a_decision_log_wherever_it_came_from(opa: Opa, bundles: Bundles, place: str) -> None:
    written, sent = len(plans(opa.decisions())), len(plans(bundles.server.decisions))
    assert opa.data("fieldveil/plan", {**ASKED, **PLACES[place]})["bundle"] == REVISION
    until(lambda: len(plans(opa.decisions())) > written and len(plans(bundles.server.decisions)) > sent)
    for decision in (plans(opa.decisions())[-1], plans(bundles.server.decisions)[-1]):
        text = json.dumps(decision)
        assert [part for part in parts_of(TOKEN) if part in text] == []
        # What an auditor asks for is there.
        assert decision["input"]["session"]["user"] == "support"
        assert decision["bundles"][NAME]["revision"] == REVISION
        assert {field["label"] for field in decision["result"]["fields"]} >= {"customer.ssn", "customer.email"}
        assert all("treatment" in field["read"] for field in decision["result"]["fields"])
        assert decision.get("erased") or decision.get("masked")
    log = opa.process.log.read_text()
    assert [part for part in parts_of(TOKEN) if part in log] == []


def test_no_token_stands_in_the_log_of_other_questions_and_answers() -> None:
    with running(None, "--set", "nd_builtin_cache=true") as opa:
        asked = {**ASKED, "token": TOKEN}
        for path in ("fieldveil/plan", "fieldveil", "fieldveil/principal"):
            opa.data(path, asked)
        for path, body in (
            ("/v1/data/fieldveil/plan", asked),
            ("/v1/query", {"query": "x = input.token", "input": asked}),
            ("/v1/query", {"query": f'x := io.jwt.decode("{TOKEN}")'}),
        ):
            assert unixhttp.request(opa.socket, "POST", path, json.dumps(body).encode())[0] == 200
        opa.data("fieldveil/plan", ASKED)
        until(lambda: len(plans(opa.decisions())) >= 2)
        assert plans(opa.decisions())[-1]["input"] == ASKED
        log = opa.process.log.read_text()
        assert [part for part in parts_of(TOKEN) if part in log] == []


def test_a_decision_without_a_token_is_logged_whole(opa: Opa) -> None:
    written = len(plans(opa.decisions()))
    opa.data("fieldveil/plan", ASKED)
    until(lambda: len(plans(opa.decisions())) > written)
    decision = plans(opa.decisions())[-1]
    assert decision["input"] == ASKED
    assert "erased" not in decision
    assert "masked" not in decision


def test_tokens_are_left_out_before_the_first_bundle_is_there(tmp_path: Path) -> None:
    empty = Bundles(tmp_path)
    empty.server.start()
    with running(empty, until="/health") as opa:
        assert opa.data("fieldveil/plan", {**ASKED, "token": TOKEN}) is None
        until_equal(lambda: len(plans(opa.decisions())), 1)
        assert TOKEN not in opa.process.log.read_text()
    empty.server.stop()


def test_tokens_are_left_out_where_opa_loads_the_folder() -> None:
    with running(None) as opa:
        assert opa.data("fieldveil/plan", {**ASKED, "token": TOKEN})["fields"]
        until_equal(lambda: len(plans(opa.decisions())), 1)
        assert TOKEN not in opa.process.log.read_text()


def test_the_token_of_a_session_stands_in_no_log_of_opa(tmp_path: Path) -> None:
    people = People(tmp_path)
    try:
        token = people.token("support")
        with people.connect() as app:
            app.execute(f"SET fieldveil.token = '{token}'")
            assert ssn(app) == SSN
        until(lambda: any(decision.get("erased") for decision in people.stack.opa.decisions()))
        log = people.stack.opa.process.log.read_text()
        assert [part for part in parts_of(token) if part in log] == []
        # Whose it was is there: the answer's subject.
        assert any("ada" in decision["result"]["subject"] for decision in plans(people.stack.opa.decisions()))
    finally:
        people.stack.stop()
