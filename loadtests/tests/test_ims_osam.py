"""The suite ims-osam: what it does is what its original did, and what it says beside it is what was measured."""

import dataclasses

import pytest

from loadtests.results import SuiteResult
from loadtests.suites import ims_osam
from loadtests.summary import SuiteSummary
from loadtests.tests.test_summary import measured, summary


@pytest.mark.parametrize("kind", ims_osam.MIX)
def test_transaction_has_ten_or_eleven_row_accesses_and_room_for_the_other_calls(kind: str) -> None:
    reads, replaces, inserts = ims_osam.MIX[kind]
    assert reads + replaces + inserts in (10, 11)
    # What is replaced is read before, and one read finds what was replaced.
    assert replaces < reads


@pytest.mark.parametrize(("scale", "calls"), [(0.001, 100), (1, 16_000), (1000, 16_000_000)])
def test_batch_grows_to_the_originals_size(scale: float, calls: int) -> None:
    found = {scenario.name: scenario for scenario in ims_osam.scenarios(scale)}
    for name in ("batch-by-key", "batch-fetch-1", "batch-fetch-100"):
        assert found[name].workload.operations * found[name].data["calls"] == calls
        assert f"{calls:,} calls" in found[name].what


def test_what_the_sidecar_adds_stands_beside_the_original() -> None:
    # Of 100 transactions: the server 20 ms of CPU, proxy and OPA 11 ms.
    found = summary(measured("direct", 1), measured("envoy-tcp", 1, cpu=0.005), measured("fieldveil", 1)).result
    scenario = dataclasses.replace(found, name="online-4", unit="transaction")
    (table,) = ims_osam.beside(SuiteSummary(SuiteResult("ims-osam", "", [scenario])))
    row = dict(zip(table.columns, table.rows[0], strict=True))
    assert table.rows[0][:4] == ["online-4, a transaction", "12 µs", "4 %", "fieldveil"]
    assert row["ours: direct, µs"] == "200 (200 to 200)"
    assert row["ours: more than direct, µs"] == "110 (110 to 110)"
    assert row["ours: more, %"] == "55.0 (55.0 to 55.0)"
    assert row["ours: more than Envoy alone, µs"] == "55.0 (55.0 to 55.0)"
