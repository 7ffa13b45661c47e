"""A part that is away: 503 that names it, nothing forwarded, known principals go on, and recovery without a restart."""

import itertools
import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness import HttpWay
from harness.http_stack import JSON
from harness.waiting import until
from tests.http import shop, wire
from tests.http.api import SEALED, Api
from tests.http.clients import Answer

ONE = {"ssn": shop.SSN}
# A listener that does not wait for OPA as long as the others do.
IMPATIENT = "impatient"
_numbers = itertools.count()


class Somebody:
    """One whose plan nobody has until they ask."""

    def __init__(self, api: Api, listener: str = JSON) -> None:
        self._api = api
        self._listener = listener
        token = api.issuer.token(f"somebody-{next(_numbers)}", roles=["app"])
        self._headers = {"authorization": f"Bearer {token}"}

    def asks(self, method: str = "POST", target: str = "/echo/sealed", body: object = ONE) -> Answer:
        return wire.ask(self._api.stack.port(self._listener), method, target, body, self._headers)

    def is_served(self) -> bool:
        answer = self.asks()
        return (answer.status, answer.body) == (200, json.dumps(ONE).encode())

    def is_refused_for_want_of(self, part: str) -> None:
        self._api.service.forget()
        answer = self.asks()
        assert answer.status == 503
        assert answer.problem
        assert int(answer.headers["retry-after"]) > 0
        assert answer.json["remedy"]
        assert part in answer.body.decode()
        assert self._api.nothing_arrived()


def another_configuration(_: Path, jwt: tuple) -> dict[str, HttpWay]:
    changes = {
        "policy": {"policy": {"cluster": "nowhere"}},
        "keys": {"keys": {"cluster": "nowhere"}},
        "unknown": {"http": {"service": "no catalog has it"}},
        IMPATIENT: {"policy": {"timeout_ms": 2000}},
    }
    return {name: HttpWay(filter_config=change, jwt=jwt) for name, change in changes.items()}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """Each test puts back what it takes away."""
    with Api(tmp_path_factory.mktemp("outages"), ways=another_configuration) as api:
        until(Somebody(api).is_served)
        yield api


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Callable[..., Api]]:
    """Makes stacks that this test alone has."""
    apis: list[Api] = []

    def make(*, without: tuple[str, ...] = (), **options: object) -> Api:
        apis.append(Api(tmp_path / str(len(apis)), **options))
        return apis[-1].start(without=without)

    yield make
    for api in apis:
        api.stop()


def test_request_without_opa_is_refused_until_it_is_there(shared: Api) -> None:
    known, somebody = Somebody(shared), Somebody(shared)
    until(known.is_served)
    shared.stack.opa.stop()
    try:
        somebody.is_refused_for_want_of("OPA")
        # Whatever the route: nothing says that nothing is named there.
        assert somebody.asks("GET", "/echo/plain", None).status == 503
        # Whose plan is there goes on.
        assert known.is_served()
    finally:
        shared.stack.opa.start()
    until(somebody.is_served)


def test_known_principals_go_on_while_the_agent_is_away(shared: Api) -> None:
    known = Somebody(shared)
    until(known.is_served)
    shared.stack.agent.stop()
    try:
        assert known.is_served()
        # The keys are there: who is new needs a plan alone.
        assert Somebody(shared).is_served()
    finally:
        shared.stack.agent.start()
    assert known.is_served()


def test_opa_that_hangs_is_as_one_that_is_away(shared: Api) -> None:
    """It takes connections, and answers nothing."""
    known, somebody = Somebody(shared, IMPATIENT), Somebody(shared, IMPATIENT)
    until(known.is_served)
    os.kill(shared.stack.opa.process.pid, signal.SIGSTOP)
    try:
        somebody.is_refused_for_want_of("OPA")
        assert known.is_served()
    finally:
        os.kill(shared.stack.opa.process.pid, signal.SIGCONT)
    until(somebody.is_served)


def test_service_that_is_away_is_envoys_to_tell(shared: Api) -> None:
    known = Somebody(shared)
    until(known.is_served)
    shared.service.stop()
    try:
        answer = known.asks()
        assert answer.status == 503
        assert answer.headers["content-type"] != "application/problem+json"
    finally:
        shared.service.start()
    until(known.is_served)


@pytest.mark.parametrize(("way", "part"), [("policy", "OPA"), ("keys", "key agent")])
def test_cluster_that_envoy_does_not_know_is_an_error_and_no_hang(shared: Api, way: str, part: str) -> None:
    Somebody(shared, way).is_refused_for_want_of(part)


def test_service_that_no_catalog_has_names_nothing_and_everything_passes(shared: Api) -> None:
    shared.service.forget()
    answer = Somebody(shared, "unknown").asks()
    assert (answer.status, answer.json) == (200, ONE)
    assert shared.service.got()[0].json == ONE


def test_request_without_keys_is_refused_until_they_are_there(made: Callable[..., Api]) -> None:
    """First without the agent, then with one that lacks a keyset."""
    api = made(without=("agent",), keysets=("pii",))
    somebody = Somebody(api)
    somebody.is_refused_for_want_of("key agent")
    api.stack.agent.start()
    until(lambda: "payments" in somebody.asks().body.decode())
    somebody.is_refused_for_want_of("payments")
    api.stack.agent.create_keyset("payments")
    until(somebody.is_served)
    assert api.service.got()[-1].json["ssn"].startswith(SEALED)
