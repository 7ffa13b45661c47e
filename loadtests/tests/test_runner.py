"""What a run makes of what k6 found, and of suites that end early."""

import json
import os
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from loadtests import cores, environment, runner
from loadtests.__main__ import is_right
from loadtests.failures import Failed
from loadtests.rig import TARGETS, Live
from loadtests.runner import Runner
from loadtests.scenario import Fixed, Scenario, Suite
from loadtests.summary import SuiteSummary

FOUND = {
    "operations": 1, "seconds": 1.0, "latency_us": {}, "usage": {}, "answers": 1, "wrong_answers": 0, "errors": 0,
}  # fmt: skip


class Offline(Runner):
    """Its k6 always finds the same, and nothing runs."""

    @contextmanager
    def rig(self):
        yield self

    @property
    def live(self) -> dict[str, Live]:
        return {"direct": Live(TARGETS["direct"], "plain", Path("/nowhere"), 5432, dict)}

    def version(self) -> str:
        return "18.4"

    def k6(self, name: str, work: dict) -> dict:
        return FOUND

    def _work(self, *_: object) -> dict:
        return {}


def scenario(name: str, **more: object) -> Scenario:
    return Scenario(name, "", "none", Fixed(1, 1), **more)


def fail(*_: object) -> None:
    raise Failed("row 7 is not what was written")


def test_suite_that_fails_keeps_what_it_measured_and_the_next_one_runs(tmp_path: Path, capsys) -> None:
    suites = [
        Suite("bad", "", lambda scale: [scenario("first"), scenario("second", after=fail), scenario("third")]),
        Suite("good", "", lambda scale: [scenario("only")]),
    ]
    results = Offline(suites, 1.0, 1, tmp_path).run()
    assert results.failures == ["bad: row 7 is not what was written"]
    measured = {suite.name: [found.name for found in suite.scenarios] for suite in results.suites}
    assert measured == {"bad": ["first"], "good": ["only"]}
    assert not is_right(results)
    said = capsys.readouterr().out
    assert "bad: FAILED" in said
    assert "good: ok" in said


def test_calls_are_counted_and_what_was_dropped_is_said(tmp_path: Path, capsys, monkeypatch) -> None:
    found = {**FOUND, "dropped": 1485, "histogram": {"relative_error": 0.001, "counts": {"9": 3, "12": 4}}}
    monkeypatch.setattr(Offline, "k6", lambda *_: found)
    results = Offline([Suite("one", "", lambda scale: [scenario("only")])], 1.0, 1, tmp_path).run()
    (measured,) = results.suites[0].scenarios[0].measurements
    assert (measured.calls, measured.dropped) == (7, 1485)
    assert "1,485 dropped" in capsys.readouterr().err


def test_paced_scenarios_are_made_of_what_the_others_found_and_measured_after_all_their_rounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def found(_: Offline, name: str, work: dict) -> dict:
        asked.append(name)
        return {**FOUND, "operations": 50 * len(asked)}

    def paced(summary: SuiteSummary, scale: float) -> list[Scenario]:
        rate = summary.scenarios()["first"].figure("operations_per_second", "direct")
        return [scenario(f"at-{rate.median:.0f}")]

    monkeypatch.setattr(Offline, "k6", found)
    suite = Suite("one", "", lambda scale: [scenario("first")], paced=paced)
    results = Offline([suite], 1.0, 2, tmp_path).run()
    # The median of 50 and 100.
    assert asked == [f"one.{name}.direct.{number}" for name in ("first", "at-75") for number in (1, 2)]
    assert [one.name for one in results.suites[0].scenarios] == ["first", "at-75"]
    assert len(results.suites[0].scenarios[1].measurements) == 2


@pytest.mark.parametrize(("own_core", "calls"), [(True, None), (True, 1), (False, None)])
def test_cores_are_divided_for_a_suite_that_asks_for_it_while_it_is_timed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, own_core: bool, calls: int | None
) -> None:
    # On a busy machine it would be measured once more.
    monkeypatch.setattr(environment.Others, "percent", lambda _: 0.0)
    monkeypatch.setattr(runner, "PATIENCE_SECONDS", 0.0)
    during: list[cores.Division | None] = []
    monkeypatch.setattr(Offline, "k6", lambda self, *_: during.append(self._division) or FOUND)
    suite = Suite("one", "", lambda scale: [scenario("first")], own_core=own_core)
    made = Offline([suite], 1.0, 1, tmp_path, calls)
    (result,) = made.run().suites
    is_divided = own_core and calls is None
    assert during == [cores.division() if is_divided else None]
    assert result.cores == (cores.described(cores.division()) if is_divided else "")
    assert made._division is None


@pytest.mark.parametrize(
    ("others", "kept"),
    [([4.0, 99.0], 1), ([30.0, 9.0, 0.0], 2), ([60.0, 20.0, 40.0, 0.0], 2), ([50.0, 50.0, 50.0], 1)],
)
def test_measurement_that_other_programs_disturb_is_made_again_and_the_least_disturbed_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: list[float], kept: int
) -> None:
    shares = iter(others)
    asked: list[str] = []

    def found(_: Offline, name: str, work: dict) -> dict:
        asked.append(name)
        return {**FOUND, "operations": len(asked)}

    monkeypatch.setattr(Offline, "k6", found)
    monkeypatch.setattr(environment.Others, "percent", lambda _: next(shares, 0.0))
    monkeypatch.setattr(environment.Noise, "sample", lambda _: None)
    monkeypatch.setattr(runner, "TRIES", 3)
    monkeypatch.setattr(runner, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(cores, "division", lambda: cores.Division(frozenset({1}), frozenset({0})))
    result = Offline([Suite("one", "", lambda scale: [scenario("first")], own_core=True)], 1.0, 1, tmp_path).run()
    (measured,) = result.suites[0].scenarios[0].measurements
    assert (measured.operations, measured.others_percent) == (kept, others[kept - 1])
    assert len(asked) == (1 if others[0] <= 10 else 2 if others[1] <= 10 else 3)


@pytest.mark.parametrize(
    ("others", "patience", "slept"), [([50, 50, 3, 50], 9.0, 3), ([50] * 99, 0.5, 3), ([], 9.0, 1)]
)
def test_suite_waits_until_other_programs_leave_the_cores_and_no_longer_than_its_patience(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: list[float], patience: float, slept: int
) -> None:
    shares, naps = iter(others), []
    monkeypatch.setattr(environment.Others, "percent", lambda _: next(shares, 0.0))
    monkeypatch.setattr(runner.time, "sleep", naps.append)
    waiting = Runner([], 1.0, 1, tmp_path)
    waiting._patience = patience
    waiting._await_quiet()
    # Without a core of its own there is nothing to wait for.
    assert naps == []
    waiting._division = cores.Division(frozenset({1}), frozenset({0}))
    waiting._await_quiet()
    assert naps == [runner.LOOK_SECONDS] * slept


def test_wrong_answer_is_kept_however_busy_others_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = iter([{**FOUND, "wrong_answers": 1}])
    monkeypatch.setattr(Offline, "k6", lambda *_: next(found))
    monkeypatch.setattr(environment.Others, "percent", lambda _: 90.0)
    monkeypatch.setattr(runner, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(cores, "division", lambda: cores.Division(frozenset({1}), frozenset({0})))
    results = Offline([Suite("one", "", lambda scale: [scenario("first")], own_core=True)], 1.0, 1, tmp_path).run()
    assert not is_right(results)


@pytest.mark.skipif(cores.division() is None, reason="the cores of this machine can't be divided")
def test_generator_runs_on_its_core_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "k6"
    program.write_text(f"""#!{sys.executable}
import json, os
work = json.load(open(os.environ["WORK"]))
open(work["result"], "w").write(json.dumps({{"cores": sorted(os.sched_getaffinity(0))}}))
""")
    program.chmod(0o700)
    monkeypatch.setattr(runner, "K6", program)
    made = Runner([], 1.0, 1, tmp_path)
    assert made.k6("free", {})["cores"] == sorted(os.sched_getaffinity(0))
    made._division = cores.division()
    assert json.loads(json.dumps(made.k6("divided", {})))["cores"] == sorted(cores.division().generator)


def test_processes_that_are_confined_are_those_of_every_target(tmp_path: Path) -> None:
    made = Offline([], 1.0, 1, tmp_path)
    words = {"proxy": ["pid:11"], "server": ["tree:7"], "client": ["self"], "opa": ["cgroup:/sys/fs/cgroup/5"]}
    live = Live(TARGETS["direct"], "plain", Path("/nowhere"), 5432, lambda: words)
    assert runner._pids(type("Rig", (), {"live": {"a": live, "b": live}})) == {7, 11}
    assert runner._pids(made) == set()
