"""The demo runs to its end wherever its checkout is, whoever runs it, and leaves nothing behind."""

import os
from pathlib import Path

import pytest

from dev.layout import MARIADB
from tests.front_door.checkout import OTHER_USER, Checkout, Ended, python_for_others

# Starting three Envoys, each of which compiles a module, takes a busy machine long.
pytestmark = pytest.mark.timeout(600)

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="it takes root to run it as root")
# `make` without set-up, which ran before the tests.
DEMO = ("make", "demo", "SETUP=true")
BLANKS_AND_LETTERS = "a b/trée ßø 木"
# Longer than the 127 bytes of a script's first line, and than any buffer of 256.
FAR_DOWN = "/".join(["d" * 50] * 6) + "/tree"
# Nobody, root included, can make a file there.
READ_ONLY = "/proc"


def assert_it_ended_well(demo: Ended) -> None:
    assert demo.code == 0, demo.out + demo.err
    assert demo.err == ""
    assert demo.out.endswith("Everything that the demo started is stopped.\n")
    assert ("10  One customer in two databases" in demo.out) == MARIADB.exists()
    assert demo.left == []


@AS_ROOT
def test_as_root_in_a_closed_folder_far_down_behind_a_link(checkout: Checkout, tmp: Path) -> None:
    checkout.move(FAR_DOWN, mode=0o700)
    link = checkout.base / "link"
    link.symlink_to(checkout.tree)
    try:
        assert_it_ended_well(checkout.run(*DEMO, cwd=link, tmp=tmp, PWD=str(link), HOME=READ_ONLY))
    finally:
        link.unlink()


@AS_ROOT
def test_as_root_with_a_temporary_folder_that_the_servers_cannot_enter(checkout: Checkout, tmp: Path) -> None:
    checkout.move(BLANKS_AND_LETTERS)
    tmp.chmod(0o700)
    assert_it_ended_well(checkout.run(*DEMO, tmp=tmp))


def test_as_an_ordinary_user_with_a_home_that_is_read_only(checkout: Checkout, tmp: Path) -> None:
    user = OTHER_USER if os.geteuid() == 0 else None
    if user is not None:
        if python_for_others() is None:
            pytest.skip("no Python of this version that another user can run")
        os.chown(tmp, user, user)
    checkout.move(BLANKS_AND_LETTERS, mode=0o700, owner=user)
    tmp.chmod(0o700)
    assert_it_ended_well(checkout.run(*DEMO, user=user, tmp=tmp, HOME=READ_ONLY, LC_ALL="C", LANG=""))
