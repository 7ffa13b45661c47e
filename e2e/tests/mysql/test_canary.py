"""Random statements of a fixed seed against each server: the right rows, and no plaintext where it may not be.

Any other seed by hand: `make canary SEED=7 COUNT=20000 DATABASE=mariadb`."""

import pytest

from canary.mysql.run import run
from harness.mysql_builds import MYSQL, OLDER, Build

SEED = 20261


@pytest.mark.parametrize(("build", "count"), [(OLDER, 1500), (MYSQL, 500)], ids=["mariadb", "mysql"])
def test_random_statements_answer_as_a_plaintext_database_and_leak_no_mark(build: Build, count: int) -> None:
    if not build.is_there:
        pytest.skip(f"no {build.name} for this machine: see dev/setup/servers.py")
    report = run(SEED, count, build=build)
    print(report)
    assert report.clean, report.first_fault
    # A run in which nearly everything is refused holds nothing.
    assert report.executed.total() > count // 2
    assert report.reads_of_others
