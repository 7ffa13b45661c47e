"""Keeps watch over every place where a mark must not be: what passes to the server, what it stores, and all logs."""

from collections.abc import Iterator

from canary import leaks, schema
from canary.database import stored_in_clear
from canary.marks import Marks
from canary.steps import Step
from harness import Stack

# A trap in the module, as Envoy logs it.
TRAPS = (b"Proxy-Wasm plugin in-VM backtrace", b"panicked at", b"wasm trap")


class Watch:
    def __init__(self, stack: Stack, marks: Marks) -> None:
        self._stack, self._marks = stack, marks
        # How much of each recording was looked at.
        self._scanned: dict[int, int] = {}

    def to_server(self, steps: list[Step]) -> str:
        """The first mark that passed to the server since the last look, or a value of the steps in binary."""
        found = ""
        for data in self._new_bytes():
            secret = next((secret for step in steps for secret in step.secrets if secret in data), None)
            found = found or leaks.found_in(data, self._marks) or (f"a value in binary: {secret!r}" if secret else "")
        return found

    def everywhere(self) -> list[str]:
        """Columns in which something else than envelopes is stored, and files and logs with marks."""
        found = [f"stored in clear: {column}" for column in stored_in_clear(self._stack)]
        with self._stack.direct(database=schema.DATABASE) as direct:
            direct.execute("CHECKPOINT")
        for folder in (self._stack.postgres.data, self._stack.work.path / "logs"):
            found += leaks.files_with_marks(folder, self._marks)
        return found

    def traps(self) -> list[str]:
        log = self._stack.envoy.process.log.read_bytes()
        return [f"Envoy's log says: {trap.decode()}" for trap in TRAPS if trap in log]

    def _new_bytes(self) -> Iterator[bytes]:
        for recording in list(self._stack.relay.recordings):
            start = self._scanned.get(id(recording), 0)
            data = bytes(recording.to_server[start:])
            self._scanned[id(recording)] = start + len(data)
            if data:
                yield data
