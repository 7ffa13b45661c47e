"""The temporary folder of one run: short, because a Unix socket's path has about 100 bytes."""

import atexit
import contextlib
import os
import shutil
import tempfile
from pathlib import Path

from dev import temporary
from harness.process import PartFailed


class WorkDir:
    # Where the logs of a folder that is removed are moved to, in place of the last one's; None: they go with it.
    kept_logs: Path | None = None

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=temporary.PREFIX, dir=temporary.folder()))
        # PostgreSQL may run as another user, who has to pass through; the names inside stay unlisted.
        self.path.chmod(0o711)
        (self.path / "logs").mkdir()
        # Of what was set up in part, or never begun, nobody removes it.
        atexit.register(self.remove)

    def log(self, name: str) -> Path:
        return self.path / "logs" / f"{name}.log"

    def socket(self, name: str) -> Path:
        path = self.path / name
        if len(os.fsencode(path)) > temporary.MAX_SOCKET_PATH:
            raise PartFailed(f"{path} is too long for a Unix socket; set TMPDIR to a shorter path, such as /tmp")
        return path

    def remove(self) -> None:
        """Harmless to call twice. With FIELDVEIL_KEEP_WORKDIR it stays, to be looked at."""
        if os.environ.get("FIELDVEIL_KEEP_WORKDIR"):
            return
        atexit.unregister(self.remove)
        if self.kept_logs is not None and self.path.exists():
            self._keep_logs(self.kept_logs)
        shutil.rmtree(self.path, ignore_errors=True)

    def _keep_logs(self, target: Path) -> None:
        # Where they can't be kept, the end of the run matters more.
        with contextlib.suppress(OSError):
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(self.path / "logs", target)
