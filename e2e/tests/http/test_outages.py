"""A part that is away: 503 that names it, nothing forwarded, known principals go on, and recovery without a restart."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.http import shop
from tests.http.api import SEALED, Api
from tests.policies.shipping import until

ONE = {"ssn": shop.SSN}


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Callable[..., Api]]:
    """Makes stacks that this test alone breaks."""
    apis: list[Api] = []

    def make(*, without: tuple[str, ...] = (), **options: object) -> Api:
        apis.append(Api(tmp_path / str(len(apis)), **options))
        return apis[-1].start(without=without)

    yield make
    for api in apis:
        api.stop()


def refused(api: Api, role: str = "app") -> dict:
    answer = api.post("/echo/sealed", ONE, role=role)
    assert answer.status == 503
    assert answer.problem
    assert int(answer.headers["retry-after"]) > 0
    assert answer.json["remedy"]
    assert api.nothing_arrived()
    return answer.json


def recovers(api: Api, role: str = "app") -> None:
    until(lambda: api.post("/echo/sealed", ONE, role=role).status == 200)
    assert api.service.got()[-1].json["ssn"].startswith(SEALED)


def test_request_without_opa_is_refused_until_it_is_there(made) -> None:
    api = made(without=("opa",))
    assert "OPA" in json.dumps(refused(api))
    # Whatever the route: nothing says that nothing is named there.
    assert api.get("/customers", role=None).status == 503
    api.stack.opa.start()
    recovers(api)


def test_request_without_the_agent_is_refused_until_it_is_there(made) -> None:
    api = made(without=("agent",))
    assert "key agent" in json.dumps(refused(api))
    api.stack.agent.start()
    recovers(api)


def test_known_principals_go_on_while_opa_and_agent_are_away(made) -> None:
    api = made()
    assert api.post("/echo/sealed", ONE).json == ONE
    api.stack.opa.stop()
    api.stack.agent.stop()
    assert api.post("/echo/sealed", ONE).json == ONE
    api.service.forget()
    assert "OPA" in json.dumps(refused(api, "support"))
    api.stack.opa.start()
    api.stack.agent.start()
    until(lambda: api.post("/echo/sealed", {}, role="support").status == 200)
    assert api.post("/echo/sealed", ONE).json == ONE


def test_opa_that_hangs_is_as_one_that_is_away(made) -> None:
    """It takes connections, and answers nothing."""
    api = made(filter_config={"policy": {"timeout_ms": 2000}})
    assert api.post("/echo/sealed", ONE).status == 200
    api.service.forget()
    os.kill(api.stack.opa.process.pid, signal.SIGSTOP)
    try:
        refused(api, "auditor")
        assert api.post("/echo/sealed", ONE).json == ONE
    finally:
        os.kill(api.stack.opa.process.pid, signal.SIGCONT)
    until(lambda: api.post("/echo/sealed", {}, role="auditor").status == 200)


def test_missing_keyset_is_named_until_it_is_there(made) -> None:
    api = made(keysets=("pii",))
    assert "payments" in json.dumps(refused(api))
    api.stack.agent.create_keyset("payments")
    recovers(api)


def test_service_that_is_away_is_envoys_to_tell(made) -> None:
    api = made()
    assert api.post("/echo/sealed", ONE).status == 200
    api.service.stop()
    answer = api.post("/echo/sealed", ONE)
    assert answer.status == 503
    assert answer.headers["content-type"] != "application/problem+json"
    api.service.start()
    recovers(api)


@pytest.mark.parametrize("part", ["policy", "keys"])
def test_cluster_that_envoy_does_not_know_is_an_error_and_no_hang(made, part: str) -> None:
    api = made(filter_config={part: {"cluster": "nowhere"}})
    refused(api)


def test_catalog_without_the_service_names_nothing_and_everything_passes(made) -> None:
    api = made(filter_config={"http": {"service": "another"}})
    answer = api.post("/echo/sealed", ONE, role=None)
    assert (answer.status, answer.json) == (200, ONE)
    assert api.service.got()[0].json == ONE
