"""No value stands in what Envoy, OPA or the key agent write down or show, whatever came of the requests."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import unixhttp
from harness.waiting import until
from tests.http import shop
from tests.http.api import Api

# Found nowhere else.
MARK = "canary7f3b"
ADMIN = ("/stats", "/stats/prometheus", "/config_dump", "/clusters", "/listeners", "/server_info")


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("leaks"), filter_config={"audit": {"interval_seconds": 1}}) as made:
        # Envoy itself writes whole heads at debug; of the filter nothing may show at any level.
        unixhttp.request(made.stack.envoy.admin, "POST", "/logging?wasm=trace")
        yield made


def every_kind(api: Api) -> set[int]:
    """Requests of each outcome, the mark in each; their statuses."""
    one = {"id": 1, **{name: f"{MARK}-{name}@example.com" for name in shop.FIELDS}}
    text = json.dumps(one)
    sealed = api.sealed("ssn", MARK)
    api.service.answer("/told/page", f"<p>{MARK}", headers={"content-type": "text/html"})
    api.service.answer("/told/planted", f'{{"ssn": "{MARK}"}}')
    api.service.answer("/told/cut", f'{{"ssn": "{sealed}", "{MARK}": ', {"reset": True})
    api.service.answer("/told/broken", f'{{"ssn": "{sealed[:-9]}", "{MARK}": 1}}')
    answers = [
        *(api.post("/customers", one, role=role) for role in ("app", "support", "auditor", "form", None)),
        *(api.get("/customers/1", role=role) for role in ("app", "support", "intern", "auditor", None)),
        *(api.get(f"/customers?ssn={MARK}", role=role) for role in ("app", "auditor")),
        api.get("/customers", {"x-ssn": MARK}),
        api.get(f"/people/{MARK}"),
        api.get(f"/people/{MARK}", role="auditor"),
        api.get(f"/customers?id={MARK}"),
        api.post("/echo/sealed", text[:-1]),
        api.post("/echo/sealed", text, {"content-type": f"text/plain; {MARK}=1"}),
        api.post("/echo/sealed", text, {"content-encoding": "deflate"}),
        api.post("/echo/sealed", {"ssn": [MARK]}),
        api.post("/echo/sealed", {MARK: {"ssn": 1}}),
        api.post("/echo/sealed", {"ssn": MARK * 200_000}),
        api.post("/graphql", {"query": f'{{ customers(ssn: "{MARK}") {{ id }} }}'}),
        *(api.get(f"/told/{name}") for name in ("page", "planted", "cut", "broken")),
    ]
    return {answer.status for answer in answers}


def test_no_value_stands_in_logs_decisions_statistics_or_audit(api: Api) -> None:
    statuses = every_kind(api)
    assert statuses >= {200, 201, 400, 403, 413, 415, 422, 502}
    until(lambda: "api.ssn" in json.dumps(api.stack.envoy.audit()))
    until(lambda: any(decision["path"] == "fieldveil/plan" for decision in api.stack.opa.decisions()))
    written = {path.name: path.read_text(errors="replace") for path in logs(api)}
    shown = {page: unixhttp.request(api.stack.envoy.admin, "GET", page)[2].decode() for page in ADMIN}
    assert {"envoy.log", "opa.log", "agent.log"} & written.keys()
    for where, text in {**written, **shown}.items():
        assert MARK not in text, where
        assert "@example.com" not in text, where


def logs(api: Api) -> list[Path]:
    return [part.process.log for part in (api.stack.envoy, api.stack.opa, api.stack.agent)]


def test_no_token_stands_in_a_log_and_who_it_was_does(api: Api) -> None:
    token = api.issuer.token("grace", roles=["app"], marked=MARK)
    answer = api.get("/customers/1", {"authorization": f"Bearer {token}"}, role=None)
    assert answer.status == 200
    until(lambda: "grace" in json.dumps([decision["input"] for decision in api.stack.opa.decisions()]))
    for log in logs(api):
        text = log.read_text(errors="replace")
        assert [part for part in token.split(".")[1:] if part in text] == [], log


def test_audit_tells_who_saw_how_much_of_what(api: Api) -> None:
    api.service.store({"id": 5, "ssn": api.sealed("ssn", shop.SSN)})
    headers = {"authorization": f"Bearer {api.issuer.token('audited', roles=['support'])}"}
    for _ in range(3):
        assert api.get("/customers/5", headers, role=None).json["ssn"] == shop.MASKED["ssn"]
    api.post("/echo/requests", {"ssn": shop.SSN}, headers, role=None)

    def lines() -> list[dict]:
        return [line for line in api.stack.envoy.audit() if line["subject"].endswith("#audited")]

    until(lambda: sum(line["labels"].get("api.ssn", {}).get("masked", 0) for line in lines()) == 3)
    until(lambda: any(line["refusals"] for line in lines()))
    assert {line["database"] for line in lines()} == {shop.SERVICE}
    refusals = [refusal for line in lines() for refusal in line["refusals"]]
    assert refusals == [{"problem": "denied", "label": "api.ssn", "count": 1}]
