"""`fieldveil table` as a program, on whatever database."""

import json
import signal
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dev.layout import FIELDVEIL
from harness.waiting import patience, until


@dataclass(frozen=True)
class Done:
    status: int
    out: str
    errors: str

    @property
    def report(self) -> dict:
        return json.loads(self.out)

    def found(self, column: str) -> dict[str, int]:
        return next(one["found"] for one in self.report["columns"] if one["column"] == column)


class TableCommand:
    """A database says where it is, and what is protected in it."""

    catalog: Path

    @property
    def keysets(self) -> Path:
        raise NotImplementedError

    @property
    def direct_url(self) -> str:
        raise NotImplementedError

    def through_url(self, user: str) -> str:
        raise NotImplementedError

    def command(self, command: str, table: str, *words: object, user: str = "app", **flags: object) -> list[str]:
        """`flags` replace what is given by default; None leaves one out."""
        given = {"table": table, "direct": self.direct_url}
        if command != "ranges":
            given["catalog"] = self.catalog
        if command in ("seal", "reseal", "verify"):
            given["keysets"] = self.keysets
        if command in ("seal", "reseal", "unseal"):
            given["through"] = self.through_url(user)
        given |= flags
        pairs = [word for name, value in given.items() if value is not None for word in (f"--{name}", value)]
        return [str(word) for word in (FIELDVEIL, "table", command, *pairs, "--output", "json", *words)]

    def run(self, command: str, table: str, *words: object, **more: object) -> Done:
        done = subprocess.run(
            self.command(command, table, *words, **more),
            capture_output=True,
            text=True,
            check=False,
            timeout=patience(120),
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def ok(self, command: str, table: str, *words: object, **more: object) -> Done:
        done = self.run(command, table, *words, **more)
        assert done.status == 0, done
        return done

    def killed(self, command: str, table: str, seconds: float, *words: object) -> Done:
        """Kills the command after a time, if it has not ended itself."""
        running = subprocess.Popen(
            self.command(command, table, *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        try:
            out, errors = running.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            running.kill()
            out, errors = running.communicate(timeout=patience())
        return Done(running.returncode, out, errors)

    def interrupted(self, command: str, table: str, reached: Callable[[str], bool], *words: object) -> Done:
        """Asks the command to end as soon as `reached` is true, which is given what it has said so far."""
        with tempfile.NamedTemporaryFile("w+") as log:
            running = subprocess.Popen(
                self.command(command, table, *words), stdout=subprocess.PIPE, stderr=log, text=True
            )

            def is_reached() -> bool:
                assert running.poll() is None, Path(log.name).read_text()
                return reached(Path(log.name).read_text())

            try:
                until(is_reached)
            finally:
                running.send_signal(signal.SIGTERM)
                out, _ = running.communicate(timeout=patience())
            return Done(running.returncode, out, Path(log.name).read_text())
