"""Cores that are divided between the load generator and what it measures."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from loadtests import cores

needs_affinity = pytest.mark.skipif(cores.division() is None, reason="the cores of this machine can't be divided")
# It starts a thread and a process, and says when both are there.
FAMILY = """
import subprocess, sys, threading, time
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(child.pid, flush=True)
try:
    sys.stdin.read()
finally:
    child.kill()
"""


@pytest.fixture
def family() -> Iterator[tuple[int, int]]:
    """A process with two threads, and its child."""
    with subprocess.Popen([sys.executable, "-c", FAMILY], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdin
        assert parent.stdout
        yield parent.pid, int(parent.stdout.readline())
        parent.stdin.close()


def threads(pid: int) -> list[int]:
    return [int(name) for name in os.listdir(f"/proc/{pid}/task")]


@needs_affinity
def test_generator_has_one_core_and_nothing_else_has_it() -> None:
    divided = cores.division()
    assert divided
    assert len(divided.generator) == 1
    assert not divided.generator & divided.others
    assert divided.generator | divided.others == os.sched_getaffinity(0)


def test_one_core_is_not_divided_and_the_results_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_setaffinity", None, raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3}, raising=False)
    assert cores.division() is None
    assert cores.described(None).endswith(f": {cores.WHY_ONE}.")


def test_system_without_affinity_is_not_divided_and_the_results_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_setaffinity", raising=False)
    assert cores.division() is None
    assert cores.described(None).endswith(f": {cores.WHY_SYSTEM}.")


def test_more_cores_than_two_leave_all_but_one_to_what_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_setaffinity", None, raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {4, 0, 2}, raising=False)
    assert cores.described(cores.division()) == (
        "The load generator runs on core 4, everything that it measures on cores 0, 2."
    )


@needs_affinity
def test_process_keeps_to_its_cores_with_all_threads_and_children_and_is_free_afterwards(
    family: tuple[int, int],
) -> None:
    divided = cores.division()
    assert divided
    parent, child = family
    every = os.sched_getaffinity(0)
    assert len(threads(parent)) == 2
    with cores.confined([parent], divided.others):
        for thread in (*threads(parent), *threads(child)):
            assert os.sched_getaffinity(thread) == divided.others
        assert os.sched_getaffinity(0) == every
    for thread in (*threads(parent), *threads(child)):
        assert os.sched_getaffinity(thread) == every


@needs_affinity
def test_process_that_has_ended_is_no_error() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    divided = cores.division()
    assert divided
    with cores.confined([ended.pid], divided.others):
        assert ended.returncode == 0


@needs_affinity
def test_what_is_started_inherits_the_cores_and_this_process_gets_its_own_back() -> None:
    divided = cores.division()
    assert divided
    before = os.sched_getaffinity(0)
    with cores.inherited(divided.generator):
        told = subprocess.run(
            [sys.executable, "-c", "import os; print(*os.sched_getaffinity(0))"], capture_output=True, check=True
        )
    assert {int(core) for core in told.stdout.split()} == divided.generator
    assert os.sched_getaffinity(0) == before
