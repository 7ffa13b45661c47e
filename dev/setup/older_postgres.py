"""PostgreSQL before 17, with TLS, for users who are not root: servers as npm has them, by exact version."""

import platform
import shutil
import sys

from dev.layout import DEV, OLDER_POSTGRES, OLDER_POSTGRES_VERSIONS
from dev.setup import npm
from dev.setup.runner import Part, Shell

PACKAGE = DEV / "tools" / "older-postgres"
FILES = tuple(PACKAGE / name for name in ("package.json", "package-lock.json"))


def is_possible() -> bool:
    """Whether there are such servers for this machine; elsewhere their tests are skipped."""
    return sys.platform == "linux" and platform.machine() == "x86_64"


def _install(shell: Shell) -> None:
    fresh = OLDER_POSTGRES.with_name(".older-postgres.new")
    shutil.rmtree(fresh, ignore_errors=True)
    node = npm.install(shell, fresh, FILES)
    shutil.rmtree(OLDER_POSTGRES, ignore_errors=True)
    OLDER_POSTGRES.mkdir()
    for version in OLDER_POSTGRES_VERSIONS:
        package = fresh / "node_modules" / f"postgres-{version}"
        # The packages can have no links. Left alone, npm would run this.
        shell.run([node, "scripts/hydrate-symlinks.js"], cwd=package)
        (OLDER_POSTGRES / version).mkdir()
        (package / "native").rename(OLDER_POSTGRES / version / "native")
    shutil.rmtree(fresh)


def _nothing(shell: Shell) -> None:
    """There is no such server for this machine."""


PART = Part(
    "older-postgres",
    f"PostgreSQL {', '.join(OLDER_POSTGRES_VERSIONS)} with TLS",
    _install if is_possible() else _nothing,
    tuple(OLDER_POSTGRES / version for version in OLDER_POSTGRES_VERSIONS) if is_possible() else (),
    frozenset({"venv"}),
    (npm.NODE, *FILES),
    after=("python",),
)
