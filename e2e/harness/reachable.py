"""The programs of database servers, where the user that the servers run as can reach them.

As root the servers run as an unprivileged user, who can't pass through folders that are closed to others, as home
folders often are. Then the work folder gets a view of the programs: hard links, which take no space; copies where the
work folder is on another file system, or where others can't read a file.
"""

import os
import shutil
from pathlib import Path

from dev.temporary import others_can_enter
from harness.process import PartFailed
from harness.workdir import WorkDir


def within_reach(base: Path, parts: tuple[str, ...], user: int | None, work: WorkDir) -> Path:
    """The folder that has these parts, each a folder, where `user` can reach them: `base`, or a view of it."""
    base = base.resolve()
    for part in parts:
        if not (base / part).is_dir():
            raise PartFailed(f"{base / part} is not there; `make setup` fetches it")
    if user is None or all(others_can_enter(base / part) for part in parts):
        return base
    view = work.path / "programs" / base.name
    for part in parts:
        if not (view / part).exists():
            shutil.copytree(base / part, view / part, symlinks=True, copy_function=_link_or_copy)
    # The copies of folders are as closed as their originals.
    for folder, _, _ in os.walk(view.parent):
        os.chmod(folder, 0o755)
    return view


def _link_or_copy(source: str, target: str) -> None:
    mode = os.stat(source).st_mode
    is_program = bool(mode & 0o100)
    if mode & 0o004 and (mode & 0o001 or not is_program):
        try:
            os.link(source, target)
            return
        except OSError:
            # Another file system, or one without hard links.
            pass
    shutil.copyfile(source, target)
    os.chmod(target, 0o755 if is_program else 0o644)
