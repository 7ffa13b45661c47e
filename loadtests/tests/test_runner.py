"""What a run makes of what k6 found, and of suites that end early."""

from contextlib import contextmanager
from pathlib import Path

from loadtests.__main__ import is_right
from loadtests.failures import Failed
from loadtests.rig import TARGETS, Live
from loadtests.runner import Runner
from loadtests.scenario import Fixed, Scenario, Suite

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
