"""The suite db2-backup: the numbers of clients that it is about, and what it says beside its original."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from loadtests.results import SuiteResult, Usage
from loadtests.suites import db2_backup, ledger
from loadtests.summary import SuiteSummary
from loadtests.tests.test_summary import measured, summary


def test_every_way_is_measured_with_every_number_of_clients() -> None:
    found = {scenario.name: scenario for scenario in db2_backup.scenarios(1)}
    assert {f"{way}-{clients}" for way in ("dump", "restore") for clients in (1, 2, 4, 8)} <= found.keys()
    for clients in (1, 2, 4, 8):
        for way in ("copy-out", "copy-in"):
            workload = found[f"{way}-{clients}"].workload
            assert workload.clients == clients
            # Each has a part of the table.
            assert workload.operations == db2_backup.PARTS


def test_time_is_of_the_same_rows() -> None:
    rounds = (measured("direct", 1, seconds=1.0), measured("fieldveil", 1, seconds=1.5))
    rounds = [replace(one, usage={**one.usage, "client": Usage(0, 0, 0)}) for one in rounds]
    scenario = replace(summary(*rounds).result, name="copy-out-1", what="all of it")
    (table,) = db2_backup.beside(SuiteSummary(SuiteResult("db2-backup", "", [scenario])))
    theirs, ours = (dict(zip(table.columns, row, strict=True)) for row in table.rows)
    assert theirs["time / direct"] == "1.06 to 1.07"
    assert ours["work"] == "copy-out-1: all of it"
    assert theirs["s, direct"] == "900"
    assert ours["s, direct"] == "1.00 (1.00 to 1.00)"
    assert ours["s, ours"] == "1.50 (1.50 to 1.50)"
    assert ours["time / direct"] == "1.50 (1.50 to 1.50)"
    # The proxy's 10 ms and OPA's one over the server's 20, for 100 rows.
    assert ours["CPU, µs a row, ours"] == "310 (310 to 310)"
    assert ours["CPU / direct"] == "1.55 (1.55 to 1.55)"
    assert ours["CPU / envoy-tcp"] == "-"


@pytest.mark.parametrize("rows", [b"", b"1\t2\n", b"x" * ((1 << 20) - 3), b"y" * (3 << 20)])
def test_rows_of_a_dump_are_all_but_what_ends_them(tmp_path: Path, rows: bytes) -> None:
    file = tmp_path / "1.dat"
    file.write_bytes(rows + ledger.END)
    assert ledger.digest_of(file) == hashlib.sha256(rows).hexdigest()
    file.write_bytes(rows + b"1" + ledger.END)
    assert ledger.digest_of(file) != hashlib.sha256(rows).hexdigest()
    # Cut short.
    file.write_bytes(rows + ledger.END[:-1])
    assert ledger.digest_of(file) != hashlib.sha256(rows).hexdigest()
