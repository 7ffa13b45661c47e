"""Thousands of random statements, of a fixed seed: the right rows, and no plaintext at the server.

Any other seed by hand: `make canary SEED=7 COUNT=20000`."""

import os

from canary.__main__ import run

SEED = 20260
STATEMENTS = 6000


def test_random_statements_answer_so_while_a_key_is_added_and_promoted() -> None:
    report = run(SEED, STATEMENTS // 4, rotates=True)
    print(report)
    assert report.clean, report.first_fault
    assert any("several enabled" in reason for reason in report.refused), "no statement met several keys"
    assert report.executed.total() > STATEMENTS // 16


def test_random_statements_answer_as_a_plaintext_database_and_leak_no_mark() -> None:
    seed, count = int(os.environ.get("CANARY_SEED", SEED)), int(os.environ.get("CANARY_COUNT", STATEMENTS))
    report = run(seed, count)
    print(report)
    assert report.clean, report.first_fault
    # A run in which nearly everything is refused holds nothing.
    assert report.executed.total() > count // 4
    assert report.reads_of_others
