"""The suite `ztpf-crypto`: what its tables say of what was measured."""

from loadtests import sessions
from loadtests.results import Measurement, ScenarioResult, SuiteResult, Usage
from loadtests.suites import ztpf_crypto
from loadtests.summary import ScenarioSummary, SuiteSummary


def measured(target: str, number: int, proxy_us: float, server_us: float) -> Measurement:
    usage = {"proxy": Usage(proxy_us * 1e-4, 0, 0), "server": Usage(server_us * 1e-4, 0, 0)}
    return Measurement(target, number, 100, 1.0, {"50": 500.0}, usage, 100, 0, 0)


def scenario(name: str, *measurements: Measurement) -> ScenarioResult:
    return ScenarioResult(name, "", "message", {}, "prepared", "app", list(measurements))


def test_messages_tell_what_protection_takes_more_in_the_same_round() -> None:
    sidecar = {"direct": (0, 0), "envoy-tcp": (10, 20), "envoy-noop": (20, 40), "fieldveil": (50, 60)}
    rounds = [measured(target, number, us[number - 1], 100) for target, us in sidecar.items() for number in (1, 2)]
    scenarios = [scenario(f"message-{size}", *rounds) for size in ztpf_crypto.MESSAGES]
    (table,) = ztpf_crypto.beside(SuiteSummary(SuiteResult("ztpf-crypto", "", scenarios)))
    assert [row[0] for row in table.rows] == ["100", "250", "500", "1,000", "10,000", "32,000"]
    found = dict(zip(table.columns, table.rows[0], strict=True))
    assert found["fieldveil, µs"] == "55.0 (50.0 to 60.0)"
    assert found["fieldveil more than envoy-noop, µs"] == "25.0 (20.0 to 30.0)"
    assert found["fieldveil / envoy-noop"] == "2.00 (1.50 to 2.50)"
    assert found["fieldveil / envoy-tcp"] == "4.00 (3.00 to 5.00)"
    assert found["with the server: fieldveil / direct"] == "1.55 (1.50 to 1.60)"
    assert table.values["envoy-noop"]["32000"] == 30
    assert "Rounds of 100 messages or more" in table.note


def test_every_message_length_is_measured_at_a_steady_rate_and_looked_at_when_stored() -> None:
    found = {one.name: one for one in ztpf_crypto.scenarios(1) if one.script == "message"}
    assert [one.data["bytes"] for one in found.values()] == list(ztpf_crypto.MESSAGES)
    assert {one.workload.kind for one in found.values()} == {"arrival"}
    assert all(one.before and one.after for one in found.values())
    # Of few, a round shows little but noise.
    assert all(one.workload.rate * one.workload.seconds >= 500 for one in found.values())


def test_sessions_are_compared_where_each_begins_one_at_the_server() -> None:
    (session,) = [one for one in ztpf_crypto.scenarios(1) if one.script == "session"]
    assert "pgbouncer" not in session.targets
    assert {"direct", "envoy-tcp", "envoy-noop", "fieldveil", "fieldveil-native"} == {*session.targets}


def test_sessions_with_tls_are_held_against_those_without_by_the_same_way() -> None:
    names = [target.name for target in sessions.WAYS.values()]
    rounds = [measured(name, 1, proxy, 50) for name, proxy in zip(names, (10, 30, 20, 50), strict=True)]
    table = sessions.table(ScenarioSummary(scenario("session-tls", *rounds)))
    assert [row[0] for row in table.rows] == ["envoy-tcp", "envoy-tcp, TLS", "fieldveil", "fieldveil, TLS"]
    assert table.columns[5:7] == ["CPU of Envoy, µs", "times without TLS"]
    ratios = [row[6] for row in table.rows]
    assert ratios == ["-", "3.00 (3.00 to 3.00)", "-", "2.50 (2.50 to 2.50)"]
    assert table.values["fieldveil, TLS"] == {"CPU of Envoy": 50, "CPU of the server": 50}
