"""What is made of the times of whole transactions."""

import json

import pytest

from loadtests.sealing import NATIVE, V8, NotMeasured, Transactions, transaction_tables
from loadtests.sealing.transactions import COUNTED, WAYS, Timed, counted, parts

MARK = Transactions.mark
read = Transactions(rounds=2, batch_ms=0, warm_up_ms=0).read


def line(name: str, round_: int, nanoseconds: int) -> str:
    found = {"transaction": name, "round": round_, "calls": 4, "nanoseconds": nanoseconds}
    return f"[info] wasm log: {MARK}{json.dumps(found)}\n"


def test_samples_are_microseconds_a_transaction() -> None:
    lines = [line("a", 1, 8000), line("b", 1, 4000), line("a", 2, 6000), line("b", 2, 2000), f'{MARK}{{"done":2}}']
    assert read(lines) == [Timed("a", 1, 2.0), Timed("b", 1, 1.0), Timed("a", 2, 1.5), Timed("b", 2, 0.5)]
    for missing in range(len(lines)):
        with pytest.raises(NotMeasured):
            read([*lines[:missing], *lines[missing + 1 :]])


def test_counts_are_those_of_the_hosts_own_test() -> None:
    text = "# What one takes.\n\nA: read\n    allocations   3\n    proxy_a   2\n\nB\n    proxy_a   1\n"
    assert counted(text) == {"A: read": {"allocations": 3, "proxy_a": 2}, "B": {"proxy_a": 1}}
    assert {way.counted for way in WAYS} <= counted(COUNTED.read_text()).keys()


def test_parts_of_a_transaction_add_up_to_it() -> None:
    took = {way.whole: 10.0 for way in WAYS} | {way.concealed: 7.0 for way in WAYS if way.concealed}
    took |= {way.nothing: 2.0 for way in WAYS}
    took |= {"envoy: the clock": 0.25, "envoy: 256 bytes read": 1.0, "envoy: 8,192 bytes read": 2.0}
    calls = {way.counted: {"proxy_get_buffer_bytes": 2, "proxy_get_current_time_nanoseconds": 2} for way in WAYS}
    rows = {row[0]: row[1:] for row in parts(took, calls).rows}
    assert rows["PostgreSQL: point read, 3 opened"] == ["2.50", "2.00", "5.00", "3.00", "12.5"]
    assert rows["PostgreSQL: 100 rows, 300 opened"] == ["4.50", "2.00", "5.00", "3.00", "14.5"]
    assert rows["MySQL: insert, 3 sealed"] == ["2.50", "2.00", "-", "8.00", "12.5"]


def test_transactions_stand_beside_each_other_in_v8_and_natively() -> None:
    names = ["envoy: the clock", "envoy: 256 bytes read", "envoy: 8,192 bytes read"]
    for way in WAYS:
        names += [name for name in (way.nothing, way.concealed, way.whole) if name]
    found = {where: [[Timed(name, 1, us) for name in dict.fromkeys(names)]] for where, us in ((V8, 2.0), (NATIVE, 1.0))}
    times, _ = transaction_tables(found)
    assert times.values[V8]["mysql: insert, 3 sealed"] == 2.0
    assert times.values[NATIVE]["mysql: insert, 3 sealed"] == 1.0
