"""Rates that are parts of what the direct path can do."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from loadtests import rates
from loadtests.results import Measurement, ScenarioResult, SuiteResult
from loadtests.rig import policies
from loadtests.scenario import Arrival, Closed, Suite
from loadtests.suites import SUITES, latency
from loadtests.summary import SuiteSummary
from loadtests.tests.test_summary import measured

SUITES_OF_LATENCY = (latency.POSTGRES, latency.MYSQL, latency.HTTP)


def capacity(suite: Suite, **operations: int) -> SuiteSummary:
    """What each target did in a second, in every scenario of capacity."""
    rounds = [
        measured(target.replace("_", "-"), number, operations=count)
        for target, count in operations.items()
        for number in (1, 2, 3)
    ]
    return of(suite, rounds)


def of(suite: Suite, rounds: list[Measurement]) -> SuiteSummary:
    scenarios = [ScenarioResult(one.name, "", "row", {}, "prepared", "app", rounds) for one in suite.scenarios(1.0)]
    return SuiteSummary(SuiteResult(suite.name, "", scenarios))


def test_rates_are_shares_of_what_the_direct_path_did_and_of_no_other() -> None:
    found = latency.POSTGRES.paced(capacity(latency.POSTGRES, direct=10_000, envoy_tcp=7_000, fieldveil=3_000), 1.0)
    rate = {one.name: one.workload.rate for one in found if isinstance(one.workload, Arrival)}
    assert rate == {
        rates.paced_name(operation, share): 100 * share
        for operation in ("point-read", "insert")
        for share in rates.SHARES
    }
    assert {30, 60, 80} <= {*rates.SHARES}


@pytest.mark.parametrize("suite", SUITES_OF_LATENCY, ids=lambda suite: suite.name)
def test_every_way_is_asked_for_its_capacity_and_at_every_rate(suite: Suite) -> None:
    direct = "direct-http" if suite is latency.HTTP else "direct"
    paced = suite.paced(capacity(suite, **{direct.replace("-", "_"): 1000}), 1.0)
    for one in (*suite.scenarios(1.0), *paced):
        assert one.targets in (latency.SQL_TARGETS, latency.HTTP_TARGETS)
        assert one.targets[0] == direct
    assert all(isinstance(one.workload, Closed) for one in suite.scenarios(1.0))
    assert len(paced) == len(rates.SHARES) * len(suite.scenarios(1.0))
    assert suite.own_core


def test_what_the_direct_path_can_do_is_not_guessed() -> None:
    """Where it is not known, nothing is timed at a part of it."""
    assert latency.POSTGRES.paced(capacity(latency.POSTGRES, fieldveil=3_000), 1.0) == []
    # Where nothing is timed, any rate will do, and one.
    found = latency.POSTGRES.paced(of(latency.POSTGRES, []), 0.001)
    assert [one.name for one in found] == [rates.paced_name(name, rates.SHARES[0]) for name in ("point-read", "insert")]


def test_inserts_are_looked_at_in_the_table_that_they_go_to() -> None:
    (insert,) = (one for one in latency.POSTGRES.scenarios(1.0) if one.name == rates.capacity_name("insert"))
    assert insert.data["table"] == latency.NEW
    for look in (insert.before, insert.stored):
        assert look
        assert look.keywords == {"table": latency.NEW}


def test_operations_are_found_by_the_names_that_they_were_given() -> None:
    suite = latency.POSTGRES
    known = capacity(suite, direct=1000)
    paced = [ScenarioResult(one.name, "", "row", {}, "prepared", "app", []) for one in suite.paced(known, 1.0)]
    result = replace(known.result, scenarios=[*known.result.scenarios, *paced])
    found = list(rates.operations(SuiteSummary(result)))
    assert [(one.name, one.capacity.result.name, [*one.paced]) for one in found] == [
        (name, rates.capacity_name(name), [*rates.SHARES]) for name in ("point-read", "insert")
    ]
    # Of another suite's fixed rates there are none.
    assert list(rates.operations(known)) == []


def test_suites_that_share_routes_have_each_once(tmp_path: Path) -> None:
    ways = [SUITES["json"], latency.HTTP]
    catalog = policies.write(ways, tmp_path)
    (service,) = json.loads((catalog / "loadtests" / "data.json").read_text())["services"]
    assert service["routes"] == [*SUITES["json"].routes]
    rules = json.loads((tmp_path / "rules" / "loadtests" / "data.json").read_text())["rules"]
    assert rules == [*SUITES["json"].rules]
