"""The measurement of sealing itself, in a real Envoy and natively: its answers, never its times."""

from collections.abc import Iterator

import pytest

from dev.layout import BENCH_SEALING_SMOKE
from harness.workdir import WorkDir
from loadtests.sealing import NATIVE, V8, Amount, NotMeasured, Transactions, measure, tables, transaction_tables
from loadtests.sealing.transactions import ENVOY


@pytest.fixture
def work() -> Iterator[WorkDir]:
    folder = WorkDir()
    yield folder
    folder.remove()


def test_every_protection_is_measured_alike_in_v8_and_natively(work: WorkDir) -> None:
    found = measure(work, Amount((64, 300), rounds=2, batch_ms=0, warm_up_ms=0), turns=1, program=BENCH_SEALING_SMOKE)
    ours, theirs = ({(s.cipher, s.bytes, s.call, s.round) for s in found[where][0]} for where in (V8, NATIVE))
    assert ours == theirs
    protections = {cipher.protection: size for cipher, size, *_ in sorted(ours)}
    # FF1 takes no value of 300 characters.
    assert protections == {"deterministic": 300, "format_preserving": 64, "indexed": 300, "randomized": 300}
    assert len({table.title for table in tables(found)}) == 8


def test_transactions_are_measured_in_v8_and_natively_and_taken_apart(work: WorkDir) -> None:
    found = measure(work, Transactions(rounds=2, batch_ms=0, warm_up_ms=0), turns=1, program=BENCH_SEALING_SMOKE)
    ours, theirs = ({(sample.name, sample.round) for sample in found[where][0]} for where in (V8, NATIVE))
    # Natively there is no Envoy to call.
    assert {(name, round_) for name, round_ in ours if not name.startswith(ENVOY)} == theirs
    assert len(ours - theirs) == 2 * 3
    times, parts = transaction_tables(found)
    assert len(times.rows) == len(ours) / 2
    assert len(parts.rows) == 6


def test_module_that_refuses_its_configuration_is_told_of_with_the_reason(work: WorkDir) -> None:
    with pytest.raises(NotMeasured, match="bytes: 0 is not between 1 and 1048576"):
        measure(work, Amount((0,), rounds=1, batch_ms=0, warm_up_ms=0), turns=1, program=BENCH_SEALING_SMOKE)
