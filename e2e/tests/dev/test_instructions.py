"""What the comparison of counted instructions tells."""

import pytest

from dev import instructions


@pytest.mark.parametrize(
    ("kept", "counted", "failures"),
    [
        ({"a": 1000, "b": 1000}, {"a": 1000, "b": 1000}, 0),
        ({"a": 1000}, {"a": 1020}, 0),
        ({"a": 1000}, {"a": 1021}, 1),
        ({"a": 1000}, {"a": 500}, 0),
        ({"a": 1000}, {"a": 1000, "b": 1}, 1),
        ({"a": 1000, "b": 1}, {"a": 1000}, 1),
    ],
    ids=["same", "within the tolerance", "more", "fewer", "new", "gone"],
)
def test_a_count_may_fall_but_neither_rise_nor_come_nor_go(capsys, kept, counted, failures):
    code = instructions.compare(kept, counted)
    told = capsys.readouterr().out
    assert code == bool(failures)
    assert told.count("FAILED") == failures
    assert f"{len(counted)} counts compared" in told
