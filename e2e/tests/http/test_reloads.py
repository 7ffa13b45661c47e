"""A trap of the filter, between a client and a service: closed for a moment, then served by the same Envoy."""

from collections.abc import Iterator

import pytest

from dev.layout import JSON_FILTER_WASM
from harness.small_memory import TOO_MUCH_BYTES, with_small_memory
from tests.http import wire
from tests.http.api import Api
from tests.http.shop import SSN
from tests.reloads import is_refused_meanwhile, of_wasm_alone, reloads

pytestmark = of_wasm_alone

ONE = "/echo/sealed"
LIMITS = {"limits": {"protected_value_bytes": 8 << 20}}


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """One worker, so that every request is in the one that traps."""
    small = with_small_memory(JSON_FILTER_WASM, tmp_path_factory.mktemp("module") / "filter.wasm")
    with Api(tmp_path_factory.mktemp("api"), filter_wasm=small, filter_config=LIMITS) as running:
        running.warm()
        yield running


def trap(api: Api) -> None:
    """A value longer than the filter's memory."""
    try:
        answer = api.post(ONE, {"ssn": "x" * TOO_MUCH_BYTES})
    except OSError:
        # Envoy has answered and closed before all of it was sent.
        return
    assert (answer.status, answer.body) == (503, b"")


def test_request_of_the_trapped_worker_ends_and_nothing_more_of_it_is_forwarded(api: Api) -> None:
    body = f'{{"ssn": "{SSN}"}}'.encode()
    with wire.Wire(api.port) as held:
        pairs = {**api.role("app"), "content-type": "application/json", "content-length": str(len(body))}
        held.head("POST", ONE, pairs)
        held.send(body[:-4])
        trap(api)
        api.service.forget()
        held.send(body[-4:])
        answer = held.read_head()
        assert (answer.status, held.read_body(answer)) == (503, b"")
    assert not any(SSN.encode() in got.body for got in api.service.got())


def test_filter_that_traps_again_at_once_is_closed_for_a_moment(api: Api) -> None:
    stack = api.stack
    pid, before = stack.envoy.process.pid, reloads(stack.envoy)

    def refused() -> bool:
        api.service.forget()
        answer = api.post(ONE, {"ssn": SSN})
        if answer.status == 200:
            return False
        assert (answer.status, answer.body) == (503, b"")
        assert api.nothing_arrived()
        return True

    assert is_refused_meanwhile(stack.envoy, lambda: trap(api), refused) > 0
    api.service.forget()
    assert api.post(ONE, {"ssn": SSN}).status == 200
    assert all(SSN.encode() not in got.body for got in api.service.got(ONE))
    assert reloads(stack.envoy) > before
    assert reloads(stack.envoy, "failure") == 0
    assert (stack.envoy.process.pid, stack.envoy.process.running) == (pid, True)
