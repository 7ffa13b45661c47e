"""Set-up says beforehand what can't work in a place, and makes anew what no longer works in it."""

import os
from pathlib import Path

import pytest

from dev.layout import ROOT, VENV
from dev.setup import place
from dev.setup.parts import PARTS, is_in_its_place
from dev.setup.runner import Part
from tests.front_door.checkout import OTHER_USER, Checkout, python_for_others

# Nobody, root included, can make a file there.
READ_ONLY = "/proc"
# What each tool's cache is named by.
CACHES = ("GOCACHE", "GOMODCACHE", "CARGO_HOME", "RUSTUP_HOME", "MAVEN_OPTS", "npm_config_cache")
OTHERS = ("GOPATH", "XDG_CACHE_HOME", "MAVEN_ARGS")
OF_CACHES = [PARTS[name] for name in ("keys", "toolchain", "tink-java", "plotly")]


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> None:
    """A home that is read-only, and no variable that names a cache."""
    monkeypatch.setenv("HOME", READ_ONLY)
    for name in (*CACHES, *OTHERS):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("home")
def test_home_that_is_read_only_is_told_for_each_cache() -> None:
    found = place.obstacles(OF_CACHES, everything=False)
    assert [name for name in CACHES if any(f"set {name}" in line for line in found)] == list(CACHES)
    assert len(found) == len(CACHES)


@pytest.mark.usefixtures("home")
def test_home_that_is_read_only_is_no_obstacle_where_variables_name_the_caches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in CACHES:
        monkeypatch.setenv(name, f"-Dmaven.repo.local={tmp_path}" if name == "MAVEN_OPTS" else str(tmp_path))
    assert place.obstacles(OF_CACHES, everything=False) == []


def test_disk_is_asked_for_the_room_of_what_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = Part("python", "much", lambda _: None, (tmp_path / "made",))
    monkeypatch.setitem(place.DISK_MB, "python", 1 << 40)
    (line,) = place.obstacles([part], everything=False)
    assert f"set-up takes {1 << 40} at least: make room" in line
    (tmp_path / "made").touch()
    assert place.obstacles([part], everything=False) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="it takes root to run it as another user")
@pytest.mark.skipif(python_for_others() is None, reason="no Python of this version that another user can run")
def test_checkout_of_another_user_is_told(checkout: Checkout, tmp: Path) -> None:
    os.chown(tmp, OTHER_USER, OTHER_USER)
    made = checkout.run(str(python_for_others()), "dev/setup", "mysql", user=OTHER_USER, tmp=tmp)
    assert made.code == 1
    (line,) = made.told
    assert f"nothing can be written to {checkout.tree / '.tools'} (Permission denied)" in line


def test_venv_that_was_moved_is_no_longer_in_its_place(checkout: Checkout) -> None:
    assert is_in_its_place(VENV)
    assert not is_in_its_place(checkout.tree / VENV.relative_to(ROOT))
