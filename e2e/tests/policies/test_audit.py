"""The filter's audit, as Envoy writes it, by the schema that docs/reference/audit.md explains; no line is lost."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator

import psycopg
import pytest

from dev.layout import OPA, ROOT
from harness import shop as example
from harness import unixhttp
from harness.waiting import until, until_equal
from tests import wire
from tests.policies.shipping import MASKED, REVEALED, Shipping
from tests.rows import ADA, INSERT

DOCUMENT = ROOT / "docs" / "reference" / "audit.md"
SCHEMAS = ROOT / "docs" / "schemas"
SSN = "SELECT ssn FROM customer"
SEARCH = f"{SSN} WHERE ssn = %s"
UNSUPPORTED = f"{SSN} WHERE ssn > '{ADA[3]}'"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shipping]:
    folder = tmp_path_factory.mktemp("audit")
    shipping = Shipping(folder, filter_config={"audit": {"interval_seconds": 1}})
    shipping.publish("first")
    shipping.stack.start()
    with shipping.stack.connect("app") as app:
        app.execute(INSERT, ADA)
    yield shipping
    shipping.stack.stop()


@pytest.fixture
def shipping(shared: Shipping) -> Iterator[Shipping]:
    """Whatever a test does: every line is of the schema, and none holds a value."""
    shared.support = MASKED
    shared.activate("first")
    yield shared
    lines = shared.stack.envoy.audit()
    assert invalid(lines) == []
    text = json.dumps(lines)
    assert not [value for value in ADA[2:] if value in text]
    assert "SELECT" not in text


def invalid(lines: list[dict]) -> list:
    """What the schema says against them."""
    query = "[[n, why] | some n, line in input; [fits, why] := json.match_schema(line, data.audit); not fits]"
    command = [OPA, "eval", "--format", "raw", "--stdin-input", "--data", f"audit:{SCHEMAS / 'audit.json'}", query]
    done = subprocess.run(command, input=json.dumps(lines), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def told(shipping: Shipping, **of: object) -> list[dict]:
    """The lines with these members, in the order in which they were written."""
    return [line for line in shipping.stack.envoy.audit() if all(line.get(name) == of[name] for name in of)]


def the_last(shipping: Shipping, name: str) -> dict:
    """The line that ends the session with this application_name."""

    def ended() -> list[dict]:
        return [line for line in told(shipping, application_name=name) if "ended" in line]

    until(lambda: bool(ended()))
    (line,) = ended()
    return line


def by_label(lines: list[dict], label: str) -> dict[str, int]:
    """Counts of a label, of several lines together."""
    counts: dict[str, int] = {}
    for line in lines:
        for outcome, count in line["labels"].get(label, {}).items():
            counts[outcome] = counts.get(outcome, 0) + count
    return counts


def test_session_is_told_with_who_saw_how_much_of_what(shipping: Shipping) -> None:
    with shipping.stack.connect("support", application_name="told") as support:
        for _ in range(3):
            support.execute(SSN)
        support.execute(SEARCH, [ADA[3]])
        with pytest.raises(psycopg.errors.FeatureNotSupported):
            support.execute(UNSUPPORTED)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            support.execute("UPDATE customer SET card = 'x'")
    last = the_last(shipping, "told")
    lines = told(shipping, application_name="told")
    assert [line["sequence"] for line in lines] == list(range(len(lines)))
    assert {line["session"] for line in lines} == {last["session"]}
    assert by_label(lines, "customer.ssn") == {"masked": 4, "searched": 1}
    refusals = [(refusal["sqlstate"], refusal["label"]) for line in lines for refusal in line["refusals"]]
    assert sorted(refusals) == [("0A000", "customer.ssn"), ("42501", "customer.card")]
    expected = {
        "version": 1, "listener": "orders-db", "source": "", "user": "support", "role": "support",
        "database": example.DATABASE, "authenticated": True, "subject": "user:support", "bundle": "first",
        "purpose": "", "break_glass": [], "merged": False, "ended": "client",
    }  # fmt: skip
    assert {name: last[name] for name in expected} == expected
    assert re.fullmatch(r"[0-9a-f]{64}", last["plan"])
    assert last["from"] <= last["to"]


def test_lines_come_while_the_session_goes_on_and_a_new_plan_has_its_own(shipping: Shipping) -> None:
    with shipping.stack.connect("support", application_name="open") as support:
        support.execute(SSN)
        until_equal(lambda: by_label(told(shipping, application_name="open"), "customer.ssn"), {"masked": 1})
        shipping.support = REVEALED
        shipping.activate("second")
        until_equal(lambda: support.execute(SSN).fetchone(), (ADA[3],))
        second = {"application_name": "open", "bundle": "second"}
        until_equal(lambda: by_label(told(shipping, **second), "customer.ssn"), {"revealed": 1})
        lines = told(shipping, application_name="open")
        assert not [line for line in lines if "ended" in line]
        plans = {line["plan"]: line["bundle"] for line in lines}
        assert sorted(plans.values()) == ["first", "second"]
        assert "revealed" not in by_label(told(shipping, application_name="open", bundle="first"), "customer.ssn")
        assert by_label(told(shipping, **second), "customer.ssn") == {"revealed": 1}
    # Nothing more happened: the last line says so.
    assert the_last(shipping, "open")["labels"] == {}


def test_client_that_is_killed_loses_no_line(shipping: Shipping) -> None:
    program = "import psycopg, sys, time; c = psycopg.connect(sys.argv[1], autocommit=True, application_name='killed');"
    program += f"c.execute('{SSN}'); print('read', flush=True); time.sleep(600)"
    command = [sys.executable, "-c", program, shipping.stack.dsn("support")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as client:
        assert client.stdout.readline() == b"read\n"
        client.kill()
    last = the_last(shipping, "killed")
    assert last["ended"] == "client"
    assert by_label(told(shipping, application_name="killed"), "customer.ssn") == {"masked": 1}


def test_server_that_ends_a_session_is_named(shipping: Shipping) -> None:
    with shipping.stack.connect("support", application_name="terminated") as support, shipping.stack.direct() as direct:
        support.execute(SSN)
        query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'terminated'"
        direct.execute(query)
        with pytest.raises(psycopg.OperationalError):
            support.execute(SSN)
    assert the_last(shipping, "terminated")["ended"] == "server"


def test_refused_session_is_told(shipping: Shipping) -> None:
    shipping.stack.opa.stop()
    try:
        with wire.open_socket(shipping.stack.envoy_socket) as raw:
            raw.sendall(wire.startup("auditor", example.DATABASE, application_name="refused"))
            wire.read_to_end(raw)
    finally:
        shipping.stack.opa.start()
    last = the_last(shipping, "refused")
    assert (last["ended"], last["authenticated"], last["plan"]) == ("filter", False, "")
    assert last["refusals"] == [{"sqlstate": "57P03", "count": 1}]


@pytest.mark.parametrize("level", ["info", "error"])
def test_envoy_that_stops_or_logs_little_loses_no_line(shipping: Shipping, level: str) -> None:
    name = f"stopped-{level}"
    set_level(shipping, level)
    with shipping.stack.connect("support", application_name=name) as support:
        support.execute(SSN)
        os.kill(shipping.stack.envoy.process.pid, signal.SIGTERM)
        until(lambda: not shipping.stack.envoy.process.running)
    last = the_last(shipping, name)
    assert last["ended"] == "proxy"
    assert by_label(told(shipping, application_name=name), "customer.ssn") == {"masked": 1}
    shipping.stack.envoy.stop()
    shipping.stack.envoy.start()


def set_level(shipping: Shipping, level: str) -> None:
    unixhttp.request(shipping.stack.envoy.admin, "POST", f"/logging?wasm={level}")


def test_revision_of_plans_in_memory_is_a_statistic(shipping: Shipping) -> None:
    def held() -> dict[str, int]:
        prefix = "wasmcustom.fieldveil.plans.held."
        stats = shipping.stack.envoy.stats(prefix)
        return {name.removeprefix(prefix): value for name, value in stats.items() if value}

    with shipping.stack.connect("support") as support:
        support.execute(SSN)
        until_equal(lambda: set(held()), {"first"})
        plans = held()["first"]
        shipping.activate("2026-11.2")
        until_equal(held, {"2026-11_2": plans})


def test_document_has_every_member_and_an_example_of_the_schema() -> None:
    text = DOCUMENT.read_text()
    schema = json.loads((SCHEMAS / "audit.json").read_text())
    members = re.findall(r"^\| `(\w+)`", text, re.MULTILINE)
    assert members == list(schema["properties"])
    examples = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    assert examples
    assert invalid([json.loads(example) for example in examples]) == []
    assert invalid([{**json.loads(examples[0]), "statement": "SELECT 1"}])


def test_lines_are_found_in_the_log_as_the_document_says(shipping: Shipping) -> None:
    """Its command gives the same lines, and nothing else, whatever a client calls itself."""
    forged = 'fieldveil-audit: {"version": 1}'
    with shipping.stack.connect("support", application_name=forged) as support:
        support.execute(SSN)
    the_last(shipping, forged)
    (command,) = re.findall(r"^(sed .*) envoy\.log", DOCUMENT.read_text(), re.MULTILINE)
    log = shlex.quote(str(shipping.stack.envoy.process.log))
    done = subprocess.run(["bash", "-c", f"{command} {log}"], capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines == shipping.stack.envoy.audit()[: len(lines)]
    assert forged in [line["application_name"] for line in lines]
