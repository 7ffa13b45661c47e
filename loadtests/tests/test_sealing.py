"""What is made of the lines that the measuring module and program write."""

import json

import pytest

from loadtests.results import Table
from loadtests.sealing import NATIVE, V8, Amount, Cipher, Sample, tables
from loadtests.sealing.samples import MARK, NotMeasured
from loadtests.sealing.tables import to_cheapest

GCM = Cipher("randomized", "aes256-gcm", "text")
RAW = Cipher("randomized", "aes256-gcm", "bytea")
FF1 = Cipher("format_preserving", "ff1, hmac-sha256", "text")

read = Amount((64,), rounds=2, batch_ms=0, warm_up_ms=0).read


def line(call: str, round_: int, nanoseconds: int, calls: int = 4, before: str = "") -> str:
    cipher = {"protection": GCM.protection, "key": GCM.key, "column": GCM.column}
    found = {**cipher, "bytes": 64, "call": call, "round": round_, "calls": calls, "nanoseconds": nanoseconds}
    return f"{before}{MARK}{json.dumps(found)}\n"


def done(cases: int) -> str:
    return f'{MARK}{{"done":{cases}}}\n'


WHOLE = [line("seal", 1, 8000), line("open", 1, 4000), line("seal", 2, 12_000), line("open", 2, 6000), done(1)]


def test_samples_are_microseconds_a_call() -> None:
    samples = [Sample(GCM, 64, call, round_, us) for call, round_, us in
               (("seal", 1, 2.0), ("open", 1, 1.0), ("seal", 2, 3.0), ("open", 2, 1.5))]  # fmt: skip
    assert read(WHOLE) == samples


def test_lines_of_envoys_log_are_read_and_those_of_others_passed_over() -> None:
    before = "[2026-11-22 00:27:17.448][1][info][wasm] [source/context.cc:1151] wasm log sealing: fieldveil: "
    log = ["[info][main] starting\n", *(before + text for text in WHOLE), "[info] exiting bench-sealing: soon\n"]
    assert read(log) == read(WHOLE)


PARTS = {
    "nothing": [],
    "no end": WHOLE[:-1],
    "a call is missing": [*WHOLE[:3], done(1)],
    "a case is missing": [*WHOLE[:-1], done(2)],
    "no JSON": [MARK + "{half a li", done(1)],
    "no calls": [line("seal", 1, 1, calls=0)],
}


@pytest.mark.parametrize("lines", PARTS.values(), ids=PARTS)
def test_part_of_a_measurement_is_none(lines: list[str]) -> None:
    with pytest.raises(NotMeasured):
        read(lines)


def test_cheapest_is_one_and_the_others_so_many_times_as_much() -> None:
    assert to_cheapest({GCM: 3.0, RAW: 1.5, FF1: 30.0}) == {GCM: 2.0, RAW: 1.0, FF1: 20.0}
    assert to_cheapest({}) == {}


def turn(**us: float) -> list[Sample]:
    """One round: 64 bytes by every cipher, 1,024 by all but FF1, which takes no value so long."""
    found = []
    for call in ("seal", "open"):
        for cipher, name in ((GCM, "gcm"), (RAW, "raw"), (FF1, "ff1")):
            sizes = (64,) if cipher is FF1 else (64, 1024)
            found += [Sample(cipher, size, call, 1, us[name] * size / 64) for size in sizes]
    return found


TURNS = {
    V8: [turn(gcm=4, raw=2, ff1=100), turn(gcm=6, raw=3, ff1=50), turn(gcm=8, raw=4, ff1=80)],
    NATIVE: [turn(gcm=2, raw=1, ff1=10), turn(gcm=2, raw=1, ff1=10), turn(gcm=2, raw=1, ff1=10)],
}


def named(title: str) -> Table:
    return next(table for table in tables(TURNS) if table.title == title)


def test_times_are_the_median_with_the_least_and_the_most() -> None:
    table = named("Seal in Envoy's V8")
    assert table.columns == ["cipher", "64 B", "1,024 B"]
    assert table.rows[0] == ["randomized: aes256-gcm", "6.00 (4.00 to 8.00)", "96.0 (64.0 to 128)"]
    assert table.rows[1][0] == "randomized: aes256-gcm, in bytea"
    assert table.values["randomized: aes256-gcm"] == {"64": 6.0, "1024": 96.0}


def test_size_that_a_cipher_does_not_take_is_left_out() -> None:
    table = named("Open natively")
    assert table.rows[2][1:] == ["10.0 (10.0 to 10.0)", "-"]
    assert table.values["format_preserving: ff1, hmac-sha256"] == {"64": 10.0}


def test_ratios_stand_v8_beside_native_for_each_size() -> None:
    table = named("Seal: ratio to the cheapest")
    assert table.columns == ["cipher", "64 B, V8", "64 B, native", "1,024 B, V8", "1,024 B, native"]
    assert table.rows[1][1:] == ["1.00", "1.00", "1.00", "1.00"]
    assert table.rows[2][1:] == ["26.7", "10.0", "-", "-"]


def test_v8_is_held_against_native_turn_by_turn() -> None:
    assert named("Open: V8 against native").rows[2][1] == "8.00 (5.00 to 10.0)"
