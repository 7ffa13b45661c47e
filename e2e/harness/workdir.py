"""The temporary folder of one run: short, because a Unix socket's path has about 100 bytes on some systems."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

# sun_path is 104 bytes on macOS and 108 on Linux.
MAX_SOCKET_PATH = 100


class WorkDir:
    def __init__(self) -> None:
        # $TMPDIR is a long path on macOS; /tmp is there everywhere.
        base = "/tmp" if os.path.isdir("/tmp") else None
        self.path = Path(tempfile.mkdtemp(prefix="fieldveil-", dir=base))
        # PostgreSQL may run as another user, who has to pass through; the names inside stay unlisted.
        self.path.chmod(0o711)
        (self.path / "logs").mkdir()
        # Of what was set up in part, or never begun, nobody removes it.
        atexit.register(self.remove)

    def log(self, name: str) -> Path:
        return self.path / "logs" / f"{name}.log"

    def socket(self, name: str) -> Path:
        path = self.path / name
        if len(str(path)) > MAX_SOCKET_PATH:
            raise ValueError(f"{path} is too long for a Unix socket")
        return path

    def remove(self) -> None:
        """Harmless to call twice. With FIELDVEIL_KEEP_WORKDIR it stays, to be looked at."""
        if os.environ.get("FIELDVEIL_KEEP_WORKDIR"):
            return
        atexit.unregister(self.remove)
        shutil.rmtree(self.path, ignore_errors=True)
