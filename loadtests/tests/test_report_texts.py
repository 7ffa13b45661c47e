"""Markdown, the comparison of two runs, and the document."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from loadtests import report
from loadtests.__main__ import main
from loadtests.figures import number
from loadtests.report import answer, charts, document, markdown
from loadtests.report.words import RATE, SQL
from loadtests.results import Results, SuiteResult, Table, UnreadableResults
from loadtests.summary import SuiteSummary
from loadtests.tests import sample

GOLDEN = Path(__file__).parent / "testdata" / "report.md"


@pytest.fixture(scope="module")
def run() -> Results:
    return sample.results()


def small(found: Results) -> Results:
    """One scenario of each suite."""
    return replace(found, suites=[replace(suite, scenarios=suite.scenarios[:1]) for suite in found.suites])


def suite_of(found: Results, name: str) -> SuiteResult:
    return next(suite for suite in found.suites if suite.name == name)


def of(found: Results, name: str) -> Results:
    return replace(found, suites=[suite_of(found, name)])


def section(text: str, title: str) -> str:
    """From this title's line to the next empty one."""
    return text.split(f"\n{title}", 1)[1].split("\n\n", 1)[0].rstrip()


def test_markdown_is_as_it_was(run: Results, tmp_path: Path) -> None:
    """FIELDVEIL_WRITE_GOLDEN=1 writes it anew: look at the difference before it is kept."""
    report.write_markdown(small(run), tmp_path / "report.md")
    made = (tmp_path / "report.md").read_text()
    if os.environ.get("FIELDVEIL_WRITE_GOLDEN"):
        GOLDEN.write_text(made)
    assert made == GOLDEN.read_text()


def test_markup_in_names_is_text_in_markdown(run: Results) -> None:
    for text in (markdown.render(sample.evil(run)), sample.documents(sample.evil(run))):
        assert "\\<img src=x" in text
        assert "<img" not in text.replace("\\<img", "")


def test_tables_of_markdown_have_as_many_cells_in_each_row(run: Results) -> None:
    for text in (markdown.render(sample.evil(run)), sample.documents(run)):
        widths: list[int] = []
        for line in text.splitlines():
            if not line.startswith("|"):
                widths = []
                continue
            widths.append(line.replace("\\|", "").count("|"))
            assert widths[-1] == widths[0], line


def test_same_run_has_not_changed(run: Results) -> None:
    text = report.compare(run, run)
    assert "Worse: nothing" in text
    assert "Better: nothing" in text
    assert "only" not in text


def test_noise_of_another_run_does_not_count(run: Results) -> None:
    text = report.compare(of(run, "oltp"), of(sample.results(2), "oltp"))
    assert "Worse: nothing" in text
    assert "Better: nothing" in text


def test_dearer_filter_is_worse_and_a_cheaper_one_better(run: Results) -> None:
    dearer = sample.results(2, slower=1.5)
    worse, better = report.compare(run, dearer), report.compare(dearer, run)
    for text, title, other, sign in ((worse, "Worse:", "Better:", "+"), (better, "Better:", "Worse:", "-")):
        assert section(text, other) == " nothing"
        ours = section(text, title)
        assert "oltp, insert-prepared-1, fieldveil" in ours
        assert "CPU of the sidecar / envoy-tcp: " in ours
        # More operations a second are better, of all else less.
        rates = [line for line in ours.splitlines() if "operations a second" in line]
        assert rates
        assert all(("-" if sign == "+" else "+") in line.rsplit(",", 1)[1] for line in rates)


def test_what_is_in_one_run_only_is_named(run: Results) -> None:
    fewer = replace(run, suites=[suite for suite in small(run).suites if suite.name != "ztpf-crypto"])
    text = report.compare(run, fewer)
    assert "suite ztpf-crypto: in A only" in text
    assert "scenario of oltp insert-simple-1: in A only" in text
    assert "suite ztpf-crypto: in B only" in report.compare(fewer, run)


def test_target_of_one_run_only_is_named(run: Results) -> None:
    scenario = suite_of(run, "oltp").scenarios[0]
    without = replace(scenario, measurements=[one for one in scenario.measurements if one.target != "envoy-noop"])
    old, new = (replace(run, suites=[SuiteResult("oltp", "", [one])]) for one in (scenario, without))
    assert "target envoy-noop: in A only in oltp, point-read-prepared-1" in report.compare(old, new)


def test_other_machine_has_only_its_ratios_compared(run: Results) -> None:
    elsewhere = replace(run, made=replace(run.made, machine={"processor": "another"}))
    text = report.compare(elsewhere, sample.results(2, slower=1.5))
    assert "Other machines: ratios are compared, absolutes are not." in text
    assert "CPU of the sidecar / envoy-tcp" in text
    assert "µs an operation" not in text


def test_other_scale_is_said(run: Results) -> None:
    text = report.compare(run, replace(run, made=replace(run.made, scale=0.1)))
    assert "Other scales (1 and 0.1)" in text


def test_other_workload_is_not_compared(run: Results) -> None:
    suite = suite_of(run, "oltp")
    first = replace(suite.scenarios[0], workload={**suite.scenarios[0].workload, "clients": 3})
    text = report.compare(run, replace(run, suites=[replace(suite, scenarios=[first])]))
    assert "oltp, point-read-prepared-1: clients was 1, is 3" in text


def test_one_round_changes_nothing(run: Results) -> None:
    text = report.compare(run, sample.results(2, slower=1.5, rounds=1))
    assert "its spread is not known" in text
    assert "Worse: nothing" in text


def test_single_numbers_stand_apart(run: Results) -> None:
    suite = suite_of(run, "ztpf-crypto")
    table = suite.extra[0]
    values = {**table.values, "randomized": {**table.values["randomized"], "64": 4_000.0}}
    text = report.compare(run, replace(run, suites=[replace(suite, extra=[replace(table, values=values)])]))
    assert "ztpf-crypto, One seal in Envoy's V8, randomized, 64: 2,354 -> 4,000, +70 %" in text


def test_results_are_compared_from_their_files(
    run: Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a", "b"):
        run.write(tmp_path / f"{name}.json")
    assert main(["compare", str(tmp_path / "a.json"), str(tmp_path / "b.json")]) == 0
    assert "Worse: nothing" in capsys.readouterr().out
    with pytest.raises(UnreadableResults, match=r"c\.json"):
        main(["compare", str(tmp_path / "a.json"), str(tmp_path / "c.json")])


def test_late_operations_are_late_and_not_wrong(run: Results) -> None:
    suite = suite_of(run, "ztpf-crypto")
    first = suite.scenarios[0]
    late = replace(
        first, measurements=[replace(one, dropped=3) for one in first.measurements if one.target == "direct"]
    )
    found = replace(run, suites=[replace(suite, scenarios=[late])])
    said = "9 operations found no connection free in time, in 1 pair of scenario and target"
    for text in (markdown.render(found), sample.documents(found)):
        assert "Right: " in text
        assert said in text


def test_measurement_without_an_answer_is_not_right(run: Results) -> None:
    suite = suite_of(run, "ztpf-crypto")
    first, *others = suite.scenarios
    blind = replace(first, measurements=[replace(one, answers=0) for one in first.measurements])
    text = markdown.render(replace(run, suites=[replace(suite, scenarios=[blind, *others])]))
    assert "NOT KNOWN" in text
    assert "message-100, fieldveil: no answer looked at in 3 rounds" in text


def test_numbers_of_no_kind_or_too_many_are_not_drawn() -> None:
    table = Table("", [], [], "", {"a": {"x": 1.0}}, "µs")
    assert charts.has_chart(table)
    assert not charts.has_chart(replace(table, unit=""))
    assert not charts.has_chart(replace(table, values={str(at): {"x": 1.0} for at in range(20)}))


def test_document_says_losses_first(run: Results) -> None:
    text = document.pages([sample.results(slower=1.4)])[document.ANSWER]
    assert text.index("WRONG: 2 wrong answers") < text.index("## The answer")
    assert text.index("Over their threshold") < text.index("## The answer")
    assert "AMD EPYC 7B13, 2 cores" in text
    assert "commit cb332fa" in text
    assert "Over their threshold" not in sample.documents(run)


def test_document_has_the_last_run_of_each_suite(run: Results, tmp_path: Path) -> None:
    alone = replace(run.made, started="2099-01-01T00:00:00Z", commit="later")
    # What ended a suite that was run again is no longer said, and the rest is.
    names = [suite.name for suite in run.suites]
    ended = replace(run, failures=[f"{names[0]}: it was stopped", f"{names[1]}: so was it"])
    last = replace(run, made=alone, suites=run.suites[:1])
    for name, kept in (("old", ended), ("new", last)):
        kept.write(tmp_path / f"{name}.json")
    first, other = document.committed(tmp_path)
    assert [*first.failures, *other.failures] == [f"{names[1]}: so was it"]
    first = replace(first, failures=[])
    assert [suite.name for suite in first.suites] == [suite.name for suite in run.suites[1:]]
    pages = document.pages([first, other])
    named = {suite.name: f"{document.MEASUREMENTS}/{suite.name}.md" for suite in run.suites}
    assert list(pages)[2:6] == [*(named[suite.name] for suite in run.suites[1:]), named[run.suites[0].name]]
    assert f"- {run.suites[0].name}: commit later" in pages[document.ANSWER]
    # What it was made of, and what it costs, before everything that was measured.
    own = pages[named[run.suites[0].name]]
    assert "Commit later" in own
    assert "With Envoy 1.40.0, PostgreSQL 18.4, OPA 1.22.0" in own
    assert own.index("## What it costs") < own.index("\n## All scenarios\n")
    assert all("Commit later" not in pages[named[suite.name]] for suite in run.suites[1:])
    # Right or wrong, and where it costs most, is said of all of them.
    before, text = document.pages([run])[document.ANSWER], pages[document.ANSWER]
    assert before.split("**")[1] in text
    assert before.split("## Where it costs most")[1].split("\n## ")[0] in text


def test_everyday_operations_stand_in_the_answer(run: Results) -> None:
    (statements,) = answer.tables([run])
    (read,) = (row for row in statements.rows if row[0].text == answer.STATEMENTS["oltp", "insert-prepared-8"])
    scenario = SuiteSummary(suite_of(run, "oltp")).scenarios()["insert-prepared-8"]
    rate = scenario.ratio(RATE.name, SQL.ours, SQL.direct)
    assert rate is not None
    assert read[5].text == number(rate.median)


def test_versions_name_every_server_and_module() -> None:
    found = sample.results()
    versions = {**found.made.versions, "mariadb": "10.11.5", "mysql_filter_bytes": "6650000"}
    text = document.pages([replace(found, made=replace(found.made, versions=versions))])[document.ANSWER]
    assert (
        "PostgreSQL 18.4, OPA 1.22.0, k6 1.8.1, MariaDB 10.11.5, a filter of 4.97 MB, one for MySQL of 6.65 MB." in text
    )


def test_committed_documents_are_what_the_last_runs_give() -> None:
    kept = document.committed()
    if not kept:
        pytest.skip("no run is kept in loadtests/runs yet")
    made = document.pages(kept)
    there = {str(file.relative_to(document.DOCS)) for file in (document.DOCS / document.MEASUREMENTS).iterdir()}
    assert {document.ANSWER, document.CAPACITY, *there} == made.keys()
    for name, text in made.items():
        assert (document.DOCS / name).read_text() == text, (
            "run `PYTHONPATH=e2e:. .tools/venv/bin/python -m loadtests document`"
        )
