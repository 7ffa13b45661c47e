"""Whether demo and tests can be built and run in this place. Each obstacle is one line: what, why, and the remedy."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from dev import temporary
from dev.layout import BIN, CARGO_TARGET, LOCKS, LOGS, ROOT, STAMPS, TOOLS, VENV
from dev.setup.runner import Part

# PostgreSQL holds paths in 1,024 bytes, and its longest within the checkout have some 150.
MAX_ROOT_BYTES = 850
# What these parts took on disk when they were measured, caches aside: of `.tools/` and, for the filters, `target/`.
DISK_MB = {"python": 851, "filter": 251, "older-postgres": 230, "mariadb": 73, "keys": 127}
# The parts that npm fetches, which comes with them.
OF_NPM = ("chromium", "plotly", "older-postgres", "node-clients")


def obstacles(parts: list[Part], *, everything: bool) -> list[str]:
    """What keeps these parts from being made here, or from running; `everything`: they are for all tests."""
    found = [*_of_the_path(), *_of_the_checkout(), *_of_the_temporary_folder(everything)]
    # What can't be written has no room to speak of.
    found = found or [*_of_the_caches(parts), *_of_the_disk(parts)]
    return [f"not possible here: {line}" for line in found]


def _of_the_path() -> Iterator[str]:
    if ":" in str(ROOT) or "\n" in str(ROOT):
        why = "Python's venv and the search paths of programs take it for the end of a path"
        yield f"the path {str(ROOT)!r} has a colon or a line break, and {why}: move the checkout to a path without it"
    if (size := len(os.fsencode(ROOT))) > MAX_ROOT_BYTES:
        why = f"PostgreSQL takes {MAX_ROOT_BYTES} at most"
        yield f"the checkout's path has {size} bytes, and {why}: move it to a shorter path"


def _of_the_checkout() -> Iterator[str]:
    remedy = "make it yours (chown -R), or clone to a folder of your own"
    folders = [folder for folder in (TOOLS, BIN, LOCKS, LOGS, STAMPS, VENV, CARGO_TARGET) if folder.exists()]
    for folder in folders or [ROOT]:
        if why := _why_not_written(folder):
            yield f"nothing can be written to {folder} ({why}), where set-up puts what it makes: {remedy}"
            return
    if _is_noexec(folders[0] if folders else ROOT):
        remedy = "mount it with exec, or clone to another one"
        yield f"no program can run from {ROOT}, for its file system is mounted noexec: {remedy}"


def _of_the_temporary_folder(everything: bool) -> Iterator[str]:
    told = os.environ.get("TMPDIR")
    for folder in dict.fromkeys((Path(told).absolute() if told else temporary.folder(), temporary.folder())):
        name = f"TMPDIR={folder}" if told and folder == Path(told).absolute() else f"the temporary folder {folder}"
        if temporary.is_too_long(folder):
            why = f"a Unix socket's path has {temporary.MAX_SOCKET_PATH} bytes at most"
            yield f"{name} is too long, for {why}: set TMPDIR to a shorter path, such as /tmp"
        elif why := _why_not_written(folder) if folder.is_dir() else "there is no such folder":
            yield f"nothing can be written to {name} ({why}): set TMPDIR to a folder that you may write to"
        elif _is_noexec(folder) and (everything or _runs_programs_from_it()):
            why = "which is mounted noexec, and tests and database servers are run from it"
            yield f"no program can run from {name}, {why}: set TMPDIR to a folder on another file system"


def _of_the_caches(parts: list[Part]) -> Iterator[str]:
    for tool, setting, folder in _caches(parts):
        if folder is None:
            yield f"{tool} has no place for its cache, for HOME is not set: set {setting}"
        # One that is full may do though nobody can write to it; not that of Go's compiler.
        elif (setting.startswith("GOCACHE") or not folder.exists()) and (why := _why_not_written(folder)):
            yield f"{tool} can't write its cache to {folder} ({why}): set {setting}, a folder that you may write to"


def _caches(parts: list[Part]) -> Iterator[tuple[str, str, Path | None]]:
    """The folders below HOME that tools write to, as long as no variable names others; and what names others."""
    environment, home = os.environ, Path(os.path.expanduser("~"))
    needs = {tool for part in parts for tool in part.needs}
    if "go" in needs:
        # Its own configuration can name them too, so that only Go knows.
        shown = subprocess.run(["go", "env", "GOCACHE", "GOMODCACHE"], capture_output=True, text=True, check=False)
        for name, folder in zip(("GOCACHE", "GOMODCACHE"), shown.stdout.splitlines(), strict=False):
            if name not in environment:
                yield "Go", f"{name}=FOLDER", Path(folder) if os.path.isabs(folder) else None
    if "cargo" in needs and "CARGO_HOME" not in environment:
        yield "cargo", "CARGO_HOME=FOLDER", home / ".cargo" / "registry"
    if "rustup" in needs and "RUSTUP_HOME" not in environment:
        yield "rustup", "RUSTUP_HOME=FOLDER", home / ".rustup"
    maven_options = environment.get("MAVEN_OPTS", "") + environment.get("MAVEN_ARGS", "")
    if "mvn" in needs and "maven.repo.local" not in maven_options and not (home / ".m2" / "settings.xml").exists():
        yield "Maven", "MAVEN_OPTS=-Dmaven.repo.local=FOLDER", home / ".m2" / "repository"
    if any(part.name in OF_NPM for part in parts) and "npm_config_cache" not in map(str.lower, environment):
        yield "npm", "npm_config_cache=FOLDER", home / ".npm"


def _of_the_disk(parts: list[Part]) -> Iterator[str]:
    missing = [part for part in parts if not all(output.exists() for output in part.outputs)]
    needed = sum(DISK_MB.get(part.name, 0) for part in missing)
    free = shutil.disk_usage(_nearest(TOOLS)).free >> 20
    if free < needed:
        remedy = "make room, or clone to another disk"
        yield f"{free} MB are free on the disk of {ROOT}, and set-up takes {needed} at least: {remedy}"


def _runs_programs_from_it() -> bool:
    """As root, database servers run from there where their user can't enter the checkout."""
    return os.geteuid() == 0 and not temporary.others_can_enter(_nearest(VENV))


def _nearest(folder: Path) -> Path:
    """The folder, or the first above it that is there."""
    return next(path for path in (folder, *folder.parents) if path.exists())


def _why_not_written(folder: Path) -> str | None:
    """What the system says to a file there; a mode does not tell all that can be in the way."""
    try:
        with tempfile.TemporaryFile(dir=_nearest(folder)):
            return None
    except OSError as error:
        return error.strerror or str(error)


def _is_noexec(folder: Path) -> bool:
    return bool(os.statvfs(_nearest(folder)).f_flag & getattr(os, "ST_NOEXEC", 0))
