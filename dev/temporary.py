"""Where temporary folders go, for the harness and for what set-up checks beforehand."""

import os
import sys
import tempfile
from pathlib import Path

# A Unix socket's path has 108 bytes on Linux and 104 on macOS, the closing zero byte among them.
MAX_SOCKET_PATH = 103 if sys.platform == "darwin" else 107
# `fieldveil-` and what makes the name of a run's folder unique.
PREFIX = "fieldveil-"
FOLDER_NAME_BYTES = len(PREFIX) + 8
# The longest name of a socket within that folder, such as `pg-standby/.s.PGSQL.5432`, and room for longer ones.
SOCKET_NAME_BYTES = 32


def folder() -> Path:
    """$TMPDIR where it is set; as root only if the user that database servers run as can enter it. Else /tmp."""
    told = os.environ.get("TMPDIR")
    if told and (os.geteuid() != 0 or others_can_enter(Path(told))):
        return Path(told).absolute()
    return Path("/tmp") if os.path.isdir("/tmp") else Path(tempfile.gettempdir())


def others_can_enter(path: Path) -> bool:
    """Whether a user who owns nothing here can pass through the folder and all that it lies in."""
    path = path.resolve()
    return all(each.stat().st_mode & 0o001 for each in (path, *path.parents) if each.exists())


def is_too_long(path: Path) -> bool:
    """Whether sockets in a run's folder in here would have paths that the system refuses."""
    longest = len(os.fsencode(path)) + 1 + FOLDER_NAME_BYTES + 1 + SOCKET_NAME_BYTES
    return longest > MAX_SOCKET_PATH
