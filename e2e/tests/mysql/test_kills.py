"""Envoy is killed again and again before MariaDB: nothing acknowledged is lost, and nothing is stored in clear.

More kills by hand: `make kills SEED=7 KILLS=200 DATABASE=mariadb`."""

from collections.abc import Iterator

import pytest

from kills.databases import OnMariaDb
from tests import killed
from tests.killed import Killed


@pytest.fixture(scope="module")
def after_kills() -> Iterator[Killed]:
    with killed.killed(OnMariaDb()) as done:
        yield done


def test_killed_envoy_loses_no_acknowledged_row_and_stores_no_plaintext(after_kills: Killed) -> None:
    killed.assert_clean(after_kills)


def test_lost_row_and_wrong_value_and_stored_plaintext_would_be_caught(after_kills: Killed) -> None:
    killed.assert_faults_are_caught(after_kills)
