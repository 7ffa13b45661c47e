"""What the command is told."""

import pytest

from loadtests.kubernetes.__main__ import UnknownScenario, main, narrowed
from loadtests.results import SuiteResult
from loadtests.scenario import Suite
from loadtests.suites import SUITES
from loadtests.summary import SuiteSummary


def names(suite: Suite) -> list[str]:
    return [scenario.name for scenario in suite.scenarios(1.0)]


def test_some_scenarios_of_some_suites():
    suites = [SUITES["oltp"], SUITES["rows"]]
    found = narrowed(suites, "point-read-prepared-8,100-rows-1", 1.0)
    assert [names(suite) for suite in found] == [["point-read-prepared-8"], ["100-rows-1"]]


def test_all_scenarios_but_nothing_that_is_measured_on_this_machine():
    suites = list(SUITES.values())
    found = narrowed(suites, None, 1.0)
    assert [names(suite) for suite in found] == [names(suite) for suite in suites]
    assert any(suite.extra for suite in suites)
    assert not any(suite.extra for suite in found)


def test_some_scenarios_have_no_figures_of_others_beside_them():
    """Those want all of the suite's."""
    (suite,) = narrowed([SUITES["sqlcredit"]], "insert-encrypt", 1.0)
    assert suite.beside(SuiteSummary(SuiteResult(suite.name, suite.what, []))) == []


def test_rates_that_need_what_others_found_are_left_out_with_those_others():
    """And no core of this machine is kept for pods elsewhere."""
    whole, some = (narrowed([SUITES["latency"]], names, 1.0)[0] for names in (None, "insert-capacity"))
    assert whole.paced is SUITES["latency"].paced
    assert some.paced(SuiteSummary(SuiteResult("latency", "", [])), 1.0) == []
    assert not whole.own_core
    assert not some.own_core


def test_a_scenario_that_no_suite_has_is_refused():
    with pytest.raises(UnknownScenario, match="no such scenario: other; there are: equality-extended-8, "):
        narrowed([SUITES["oltp"]], "point-read-prepared-8,other", 1.0)


def test_a_failure_is_told_without_a_traceback(tmp_path, capsys):
    assert main(["run", str(tmp_path / "none.json")]) == 1
    assert "give the file that says where the targets are" in capsys.readouterr().err


def test_the_targets_policies_are_written(tmp_path):
    assert main(["policies", "--suite", "oltp", str(tmp_path / "policies")]) == 0
    assert (tmp_path / "policies" / "catalog" / "loadtests" / "data.json").exists()
    assert (tmp_path / "policies" / "rules" / "loadtests" / "data.json").exists()
