"""Programs in a folder that others can't enter are seen by the servers' user as they are, without taking space."""

import os
from pathlib import Path

import pytest

from dev import temporary
from harness.process import PartFailed
from harness.reachable import within_reach
from harness.workdir import WorkDir
from tests.front_door.checkout import OTHER_USER

MEMORY = Path("/dev/shm")


def is_another_file_system(folder: Path) -> bool:
    return os.access(folder, os.W_OK) and folder.stat().st_dev != temporary.folder().stat().st_dev


@pytest.fixture
def base(work: WorkDir) -> Path:
    """A folder with a server in it: a program, a file that its owner alone may read, and a link."""
    folder = work.path / "closed" / "servers"
    (folder / "one" / "bin").mkdir(parents=True)
    (folder / "one" / "bin" / "program").write_text("program")
    (folder / "one" / "bin" / "program").chmod(0o755)
    (folder / "one" / "own").write_text("own")
    (folder / "one" / "own").chmod(0o600)
    (folder / "one" / "link").symlink_to("bin/program")
    (folder / "other").mkdir()
    folder.parent.chmod(0o700)
    return folder


def test_folder_that_others_can_enter_is_used_as_it_is(work: WorkDir, base: Path) -> None:
    base.parent.chmod(0o755)
    assert within_reach(base, ("one",), OTHER_USER, work) == base.resolve()


def test_closed_folder_is_used_as_it_is_by_its_owner(work: WorkDir, base: Path) -> None:
    assert within_reach(base, ("one",), None, work) == base.resolve()


def test_view_of_a_closed_folder_has_the_same_files_and_those_alone_that_are_asked_for(
    work: WorkDir, base: Path
) -> None:
    view = within_reach(base, ("one",), OTHER_USER, work)
    assert view != base
    assert (view / "one" / "bin" / "program").samefile(base / "one" / "bin" / "program")
    assert os.readlink(view / "one" / "link") == "bin/program"
    assert os.listdir(view) == ["one"]


def test_others_may_read_what_their_view_has(work: WorkDir, base: Path) -> None:
    for folder in (base, base / "one", base / "one" / "bin"):
        folder.chmod(0o700)
    view = within_reach(base, ("one",), OTHER_USER, work)
    own, program = view / "one" / "own", view / "one" / "bin" / "program"
    assert own.read_text() == "own"
    assert own.stat().st_mode & 0o777 == 0o644
    # That of the original is as it was.
    assert (base / "one" / "own").stat().st_mode & 0o777 == 0o600
    for path in (view.parent, view, view / "one", program.parent, program):
        assert path.stat().st_mode & 0o005 == 0o005, path


@pytest.mark.skipif(not is_another_file_system(MEMORY), reason=f"no other file system at {MEMORY}")
def test_on_another_file_system_the_view_has_copies(work: WorkDir, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(MEMORY))
    elsewhere = WorkDir()
    try:
        program = within_reach(base, ("one",), OTHER_USER, elsewhere) / "one" / "bin" / "program"
        assert program.read_text() == "program"
        assert program.stat().st_mode & 0o777 == 0o755
        assert not program.samefile(base / "one" / "bin" / "program")
    finally:
        elsewhere.remove()


def test_server_that_is_not_there_is_told(work: WorkDir, base: Path) -> None:
    with pytest.raises(PartFailed, match="servers/none is not there; `make setup` fetches it"):
        within_reach(base, ("none",), OTHER_USER, work)
