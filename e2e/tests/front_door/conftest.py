"""One checkout for the tests of a file, which moves from place to place."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.front_door.checkout import Checkout


@pytest.fixture(scope="module")
def moving() -> Iterator[Checkout]:
    made = Checkout()
    yield made
    made.remove()


@pytest.fixture
def checkout(moving: Checkout) -> Iterator[Checkout]:
    yield moving
    moving.move_back()


@pytest.fixture
def tmp(checkout: Checkout) -> Iterator[Path]:
    """A temporary folder that nothing else uses: short, and with a blank and a letter beyond ASCII in its name."""
    folder = checkout.base / "t ü"
    folder.mkdir(mode=0o755)
    yield folder
    shutil.rmtree(folder)
