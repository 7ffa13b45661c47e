"""What the suites read from the tools' output: counts, and of each failure its name and the first line of why."""

import pytest

from dev.suites import formats, report
from dev.suites.definitions import GROUPS, SUITES
from dev.suites.formats import Counts, Failed, Format
from dev.suites.outcome import Outcome

CARGO = """\
test split_at_every_byte ... ok
test copy::refused_row ... FAILED

failures:

---- copy::refused_row stdout ----

thread 'copy::refused_row' (71) panicked at filters/engine/tests/postgres/copy.rs:41:5:
assertion `left == right` failed: the row was sealed
  left: 1

test result: FAILED. 1 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.07s
"""
GO = """\
{"Action":"run","Package":"example.org/keys/agent","Test":"TestServe/away"}
{"Action":"output","Package":"example.org/keys/agent","Test":"TestServe/away","Output":"    a_test.go:17: it ended\\n"}
{"Action":"fail","Package":"example.org/keys/agent","Test":"TestServe/away"}
{"Action":"pass","Package":"example.org/keys/agent","Test":"TestStop"}
{"Action":"fail","Package":"example.org/keys/agent"}
"""
PYTEST = """\
..F
=========================== short test summary info ============================
SKIPPED [1] tests/test_tls.py:9: no server with TLS
FAILED tests/test_copy.py::test_row[text] - AssertionError: assert 1 == 2
1 failed, 2 passed, 1 skipped in 0.42s
"""
OPA = """\
[
  {"location": {"file": "a_test.rego", "row": 3}, "package": "data.rules_test", "name": "test_one", "duration": 1},
  {"location": {"file": "a_test.rego", "row": 5}, "package": "data.rules_test", "name": "todo_test", "skip": true},
  {
    "location": {"file": "a_test.rego", "row": 7},
    "package": "data.rules_test",
    "name": "test_two",
    "fail": true,
    "sub_results": {"one": {"name": "one"}, "three": {"name": "three", "fail": true}}
  }
]
"""
OPA_ERROR = """[
  {
    "location": {"file": "a_test.rego", "row": 7},
    "package": "data.rules_test",
    "name": "test_two",
    "output": "d2h5IDcK",
    "error": {"code": "eval_conflict_error", "message": "functions must not produce multiple outputs"}
  }
]
"""


@pytest.mark.parametrize(
    ("told", "output", "counts", "failed"),
    [
        (
            formats.CARGO,
            CARGO,
            Counts(1, 1, 2),
            Failed("copy::refused_row", "assertion `left == right` failed: the row was sealed"),
        ),
        (
            formats.GO,
            GO,
            Counts(1, 1, 0),
            Failed("example.org/keys/agent -run '^TestServe$/^away$'", "a_test.go:17: it ended"),
        ),
        (
            formats.PYTEST,
            PYTEST,
            Counts(2, 1, 1),
            Failed("tests/test_copy.py::test_row[text]", "AssertionError: assert 1 == 2"),
        ),
        (formats.OPA, OPA, Counts(2, 2, 1), Failed("data.rules_test.test_two", "a_test.rego:7: three")),
        (
            formats.OPA,
            OPA.replace('"sub_results"', '"output": "d2h5IDcK", "sub_results"'),
            Counts(2, 2, 1),
            Failed("data.rules_test.test_two", "a_test.rego:7: why 7"),
        ),
        (
            formats.OPA,
            OPA_ERROR,
            Counts(0, 1, 0),
            Failed("data.rules_test.test_two", "a_test.rego:7: functions must not produce multiple outputs"),
        ),
        (
            formats.CHECKS,
            "sql: ok, 7 runs\njson: FAILED: grew by 4\n",
            Counts(1, 1, 0),
            Failed("json", "grew by 4"),
        ),
    ],
    ids=["cargo", "go", "pytest", "opa", "opa-printed", "opa-error", "checks"],
)
def test_output_is_counted_and_the_failure_named(told: Format, output: str, counts: Counts, failed: Failed) -> None:
    assert told.counts(output, 1) == counts
    assert list(told.failed(output)) == [failed]


def test_failed_tests_are_named_last_with_why_and_how_to_run_them_alone(capsys: pytest.CaptureFixture[str]) -> None:
    failures = [("tests/test_copy.py::test_row", "assert 1 == 2", "cd e2e && pytest 'tests/test_copy.py::test_row'")]
    outcomes = [Outcome("rego", 3, 0, 0, 1.0), Outcome("no-such-suite", 2, 1, 0, 1.0, failures=failures)]
    assert report.close(outcomes) == 1
    shown = capsys.readouterr().out.splitlines()
    assert shown[-1] == "5 passed, 1 failed"
    assert [line.strip() for line in shown[-4:-1]] == ["no-such-suite: tests/test_copy.py::test_row", *failures[0][1:]]


def test_every_group_names_suites() -> None:
    assert {name for names in GROUPS.values() for name in names} <= SUITES.keys()
