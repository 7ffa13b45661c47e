"""mysqlclient, which its registry has as source alone: built against Debian's client library, unpacked beside it."""

import shutil
import sys
import sysconfig
from pathlib import Path

from dev.layout import MYSQLCLIENT, MYSQLCLIENT_FOLDER, MYSQLCLIENT_LIBRARY, MYSQLCLIENT_PACKAGES, VENV
from dev.setup import debian
from dev.setup.runner import ATTEMPTS, Part, Shell, say


def _missing() -> str | None:
    if debian.source() is None:
        return "this machine has no packages of Debian's"
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        return "this Python has no headers: `apt install python3-dev` or the like"
    return None


def _mysqlclient(shell: Shell) -> None:
    if missing := _missing():
        say(f"  {shell.name}: left out: {missing}")
        return
    MYSQLCLIENT_FOLDER.mkdir(exist_ok=True)
    debian.unpack(shell, "bookworm", (), ("libmariadb3", "libmariadb-dev"), MYSQLCLIENT_LIBRARY)
    (shared,) = MYSQLCLIENT_LIBRARY.glob("usr/lib/*-linux-gnu")
    # Options are parted at blanks, which paths may have: so the compiler has these from its environment, and the
    # library is found relative to the package, which may be moved with it.
    flags = {
        "MYSQLCLIENT_CFLAGS": "-std=c99",
        "MYSQLCLIENT_LDFLAGS": f"-lmariadb -Wl,-rpath,$ORIGIN/../../{shared.relative_to(MYSQLCLIENT_FOLDER)}",
        "CPATH": str(MYSQLCLIENT_LIBRARY / "usr" / "include" / "mariadb"),
        "LIBRARY_PATH": str(shared),
    }
    fresh = MYSQLCLIENT_PACKAGES.with_name(".packages.new")
    shutil.rmtree(fresh, ignore_errors=True)
    pip = [VENV / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    shell.run([*pip, "--target", fresh, f"mysqlclient=={MYSQLCLIENT}"], env=flags, attempts=ATTEMPTS)
    shutil.rmtree(MYSQLCLIENT_PACKAGES, ignore_errors=True)
    fresh.rename(MYSQLCLIENT_PACKAGES)


PART = Part(
    "mysqlclient",
    f"mysqlclient {MYSQLCLIENT}, built from source",
    _mysqlclient,
    (),
    frozenset({"venv", "cc"}),
    (MYSQLCLIENT, sys.version),
    after=("python",),
    on_demand=True,
)
