"""How busy others were while a run was made."""

from dataclasses import replace
from types import SimpleNamespace

import psutil
import pytest

from loadtests import environment
from loadtests.report import facts
from loadtests.tests import sample


class Times(tuple):
    """The machine's, as psutil gives them: by position and by name."""

    NAMES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")

    def __getattr__(self, name: str) -> float:
        return self[self.NAMES.index(name)]


def test_what_this_run_did_not_start_is_others(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = iter([Times((10, 0, 0, 90, 0, 0, 0, 0)), Times((70, 0, 10, 120, 0, 0, 0, 0))])
    ours = iter([5.0, 45.0])
    monkeypatch.setattr(environment, "psutil", SimpleNamespace(cpu_times=lambda: next(machine)))
    monkeypatch.setattr(environment, "_own_seconds", lambda: next(ours))
    # 70 of 100 seconds were busy, 40 of them ours.
    assert environment.Others().percent() == 30.0


def test_programs_that_this_process_started_are_its_own() -> None:
    before = environment._own_seconds()
    with psutil.Popen(["python3", "-c", "sum(range(10_000_000))"]) as child:
        child.wait()
    assert environment._own_seconds() - before > 0.02


def test_busy_machine_is_said_to_be_one() -> None:
    found = sample.results()
    assert "an even machine" in facts.noise(found)
    busy = {**found.made.noise, "others_percent": [3.0, 55.0, 41.0]}
    said = facts.noise(replace(found, made=replace(found.made, noise=busy)))
    assert "other programs of this machine took 41 % of its cores (3 to 55): an uneven machine" in said
