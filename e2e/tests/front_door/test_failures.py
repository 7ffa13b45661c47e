"""What fails says what, why, and what to do, in a line; a traceback is for those who ask for one."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dev.layout import MARIADB, OPA, ROOT, VENV
from harness.mysql_builds import OLDER
from harness.mysqld import MySqld
from harness.process import PartFailed, Process
from harness.workdir import WorkDir
from tests.front_door.checkout import Checkout, Ended

DEMO = ("make", "demo", "SETUP=true")
SET_UP = (sys.executable, "dev/setup")
TOO_LONG = "l" * 60


def assert_one_line(ended: Ended, *words: str) -> None:
    """The first line of its errors has these words; the other, if any, says where to look further."""
    assert ended.code != 0
    assert "Traceback" not in ended.out + ended.err
    first, *more = ended.told
    assert all(word in first for word in words), ended.err
    assert [line for line in more if "FIELDVEIL_TRACEBACK=1" not in line] == []
    assert ended.left == []


def test_program_that_may_not_be_run_is_told_with_the_logs(checkout: Checkout, tmp: Path) -> None:
    opa = checkout.replace(OPA, 0o644)
    try:
        demo = checkout.run(*DEMO, tmp=tmp)
    finally:
        opa.chmod(0o755)
    assert_one_line(demo, "The demo failed: ", str(opa), "may not be run", "make the file executable")
    logs = checkout.tree / ".tools" / "logs" / "demo"
    assert f"The logs are in {logs}." in demo.err
    assert "database system is ready" in (logs / "postgres.log").read_text()


def test_package_that_is_missing_is_told(checkout: Checkout, tmp: Path) -> None:
    (package,) = (checkout.tree / VENV.relative_to(ROOT)).glob("lib/python*/site-packages/jinja2")
    aside = package.rename(package.with_name("aside"))
    try:
        demo = checkout.run(*DEMO, tmp=tmp)
        shown = checkout.run(*DEMO, tmp=tmp, FIELDVEIL_TRACEBACK="1")
    finally:
        aside.rename(package)
    assert_one_line(demo, "The demo failed: ", "No module named 'jinja2'")
    assert "Traceback" in shown.err


def test_temporary_folder_that_is_too_long_is_told_before_anything_is_built(checkout: Checkout, tmp: Path) -> None:
    (tmp / TOO_LONG).mkdir()
    made = checkout.run("make", "demo", tmp=tmp / TOO_LONG)
    assert_one_line(made, f"TMPDIR={tmp / TOO_LONG} is too long", "Unix socket", "set TMPDIR to a shorter path")
    assert made.out == ""
    assert not (checkout.tree / ".tools" / "stamps").exists()


def test_demo_alone_refuses_a_temporary_folder_that_is_too_long(checkout: Checkout, tmp: Path) -> None:
    (tmp / TOO_LONG).mkdir()
    assert_one_line(checkout.run(*DEMO, tmp=tmp / TOO_LONG), "too long for a Unix socket", "set TMPDIR")


def test_path_with_a_colon_is_told_before_anything_is_built(checkout: Checkout, tmp: Path) -> None:
    checkout.move("a:b")
    made = checkout.run(*SET_UP, "python", tmp=tmp)
    assert_one_line(made, "not possible here: ", "a:b", "colon", "move the checkout")
    assert not (checkout.tree / ".tools" / "stamps").exists()


def test_failure_of_set_up_that_nobody_expected_is_told(checkout: Checkout, tmp: Path) -> None:
    stamp = checkout.tree / ".tools" / "stamps" / "vault"
    stamp.parent.mkdir()
    try:
        # It is text, and this is none.
        stamp.write_bytes(b"\xff")
        made = checkout.run(*SET_UP, "vault", tmp=tmp)
    finally:
        stamp.unlink()
        stamp.parent.rmdir()
    assert_one_line(made, "set-up failed: UnicodeDecodeError")
    assert f"{checkout.tree / '.tools' / 'logs'}" in made.err


@pytest.mark.skipif(not MARIADB.exists(), reason="set-up fetched no MariaDB")
def test_server_that_may_not_be_run_is_told(checkout: Checkout) -> None:
    program = checkout.replace(OLDER.home / OLDER.program, 0o644)
    work = WorkDir()
    try:
        with pytest.raises(PartFailed, match="bin/mariadbd may not be run; make the file executable"):
            MySqld(work, build=replace(OLDER, home=checkout.tree / OLDER.home.relative_to(ROOT))).start()
    finally:
        program.chmod(0o755)
        work.remove()


def test_program_that_is_not_there_is_told_with_the_remedy(tmp_path: Path) -> None:
    process = Process("nothing", tmp_path / "nothing.log")
    with pytest.raises(PartFailed, match="nowhere/nothing is not there; run `make clean-all`"):
        process.start([tmp_path / "nowhere" / "nothing"])


def test_program_of_another_machine_is_told(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELF of no machine")
    program.chmod(0o755)
    with pytest.raises(PartFailed, match="program can't be run: Exec format error"):
        Process("program", tmp_path / "program.log").start([program])
