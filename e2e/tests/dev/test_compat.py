"""What the comparison of a database's own test suite tells: each difference has a listed reason, and is still there."""

from pathlib import Path

import pytest

from compat import compare, hunks, known
from compat.known import Known, Unreadable

STRAIGHT = {"one": "SELECT 1;\n1\n", "two": "a\nb\nc\nd\ne\nf\ng\nb\n"}
THROUGH = {"one": "SELECT 1;\n1\n", "two": "a\nB\nc\nd\ne\nf\ng\nb\n"}
NOTHING = Known()


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    """The list of what differs above, with its reason."""
    path = tmp_path / "known.toml"
    difference = compare.files(STRAIGHT, THROUGH, NOTHING).differences
    known.write(path, difference, Known({"capitals": "a user sees capitals"}))
    path.write_text(path.read_text().replace(known.UNEXPLAINED, "capitals"))
    return path


def test_equal_runs_are_no_problem():
    result = compare.files(STRAIGHT, STRAIGHT, NOTHING)
    assert (result.compared, result.differences, result.problems) == (2, {}, [])


def test_a_difference_without_a_reason_fails_with_its_file_and_lines():
    (problem,) = compare.files(STRAIGHT, THROUGH, NOTHING).problems
    assert problem.startswith("two: differs without a listed reason")
    assert "    -b\n    +B" in problem


def test_a_listed_difference_passes_and_is_counted(listed):
    result = compare.files(STRAIGHT, THROUGH, known.read(listed))
    assert result.problems == []
    assert (result.compared, list(result.differences), result.lines) == (2, ["two"], 2)


def test_a_listed_difference_that_is_gone_fails(listed):
    problems = compare.files(STRAIGHT, STRAIGHT, known.read(listed)).problems
    assert [problem.rpartition(" ")[0] for problem in problems] == [
        "two: a listed difference is no longer there: capitals"
    ]


def test_another_difference_in_a_listed_file_fails(listed):
    other = THROUGH | {"two": THROUGH["two"].removesuffix("b\n") + "B\n"}
    problems = compare.files(STRAIGHT, other, known.read(listed)).problems
    assert any(problem.startswith("two: differs without a listed reason") for problem in problems)


def test_a_listed_difference_that_occurs_twice_fails(listed):
    twice = [{"two": run["two"] + "1\n2\n3\n4\n" + run["two"]} for run in (STRAIGHT, THROUGH)]
    assert any("without a listed reason" in problem for problem in compare.files(*twice, known.read(listed)).problems)


def test_a_listed_difference_in_another_file_fails(listed):
    straight, through = ({"one": run["two"], "two": run["two"]} for run in (STRAIGHT, THROUGH))
    (problem,) = compare.files(straight, through, known.read(listed)).problems
    assert problem.startswith("one: differs without a listed reason")


def test_a_cause_without_a_difference_fails(listed):
    listed.write_text(listed.read_text().replace("[causes]", '[causes]\nother = "nobody sees it"'))
    assert compare.files(STRAIGHT, THROUGH, known.read(listed)).problems == [
        "other: a listed cause without a difference"
    ]


def test_a_difference_whose_cause_has_no_reason_fails(listed):
    listed.write_text(listed.read_text().replace('"capitals" = "a user sees capitals"', ""))
    problems = compare.files(STRAIGHT, THROUGH, known.read(listed)).problems
    assert "two: the cause capitals has no reason" in problems
    assert any("without a listed reason" in problem for problem in problems)


def test_a_reason_without_words_is_no_reason(listed):
    listed.write_text(listed.read_text().replace("a user sees capitals", " "))
    with pytest.raises(Unreadable, match="no reason: capitals"):
        known.read(listed)


@pytest.mark.parametrize(("straight", "through", "way"), [(STRAIGHT, {}, "through"), ({}, STRAIGHT, "straight")])
def test_a_file_that_one_run_lacks_fails(straight, through, way):
    problems = compare.files(straight, through, NOTHING).problems
    assert len(problems) == 2
    assert all(way in problem for problem in problems)


def test_what_is_written_anew_keeps_the_causes_that_are_known(listed):
    other = THROUGH | {"one": "SELECT 1;\n2\n"}
    before = known.read(listed)
    known.write(listed, compare.files(STRAIGHT, other, before).differences, before)
    written = known.read(listed).hunks
    assert [cause for cause, _ in written["two"]] == ["capitals"]
    assert [cause for cause, _ in written["one"]] == [known.UNEXPLAINED]


def test_what_is_written_is_read_as_it_was(tmp_path):
    straight = "# a\n\r\n \n\udcff\x85\n" + "".join(f"{number}\n" for number in range(9)) + "y" * 999 + "\n"
    through = straight.replace("\r", "").replace("y", "z").replace("\udcff", "\udcfe")
    differences = compare.files({"a file": straight}, {"a file": through}, NOTHING).differences
    known.write(tmp_path / "known.toml", differences, NOTHING)
    assert len(differences["a file"]) == 2
    written = known.read(tmp_path / "known.toml").hunks["a file"]
    assert [digest for _, digest in written] == [hunk.digest for hunk in differences["a file"]]


def test_the_sidecars_names_of_a_session_are_equal():
    names = [f"name fieldveil_{digit * 24}_1" for digit in "0a"]
    assert hunks.between(*names) == []
