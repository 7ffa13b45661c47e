"""What the report says of bodies over HTTP, which have targets of their own."""

from dataclasses import replace

import pytest

from loadtests import body_costs, report
from loadtests.report import bodies, charts, grids, html, markdown, words
from loadtests.results import Results, SuiteResult
from loadtests.summary import SuiteSummary
from loadtests.tests import sample

TITLES = ("What the filter adds to a body", "Added CPU by the field and by the megabyte")


@pytest.fixture(scope="module")
def run() -> Results:
    return sample.with_bodies(sample.results())


def suite_of(found: Results) -> SuiteResult:
    return next(suite for suite in found.suites if suite.name == "json")


def alone(found: Results) -> Results:
    return replace(found, suites=[suite_of(found)])


def figure(text: str) -> float:
    """The median of a spread."""
    return float(text.split(" ")[0].replace(",", ""))


def test_bodies_have_a_table_of_their_own_at_the_top(run: Results) -> None:
    page = html.render(run)
    for text in (markdown.render(run), sample.documents(run), page):
        assert bodies.TITLE in text
        assert "p50 ÷ envoy-http" in text
    assert bodies.summary(sample.results()) is None
    assert bodies.TITLE not in html.render(sample.results())
    # That of statements holds none of theirs.
    assert not [row for row in grids.summary(run).rows if row[0].text == "json"]


def test_run_of_bodies_alone_has_no_empty_tables(run: Results) -> None:
    for text in (markdown.render(alone(run)), sample.documents(alone(run)), html.render(alone(run))):
        assert "÷ envoy-tcp" not in text
        assert "Where it costs most" not in text


def test_every_scenario_says_what_is_added_to_envoy_alone(run: Results) -> None:
    found = bodies.summary(run)
    assert len(found.rows) == len(suite_of(run).scenarios)
    cells = {row[1].text: dict(zip(found.columns, (cell.text for cell in row), strict=True)) for row in found.rows}
    large, steady = cells["open-10MB-100"], cells["open-1KB-10-400-a-second"]
    assert float(large["added to p50, µs"].replace(",", "")) > 10_000
    assert 1.7 < float(large["p50 ÷ envoy-http"]) < 2.1
    assert 3.2 < float(large["CPU ÷ envoy-http"]) < 4.0
    # An arrival rate has no capacity.
    assert steady["rate ÷ envoy-http"] == "-" != large["rate ÷ envoy-http"]


def test_chapter_speaks_of_requests_and_of_its_own_targets(run: Results) -> None:
    for text in (markdown.render(alone(run)), sample.documents(alone(run))):
        assert "p50 of a request, µs" in text
        assert "p50 of a statement" not in text
    assert "HTTP/1.1, as app" in markdown.render(alone(run))
    assert "added to envoy-http, µs" in sample.documents(alone(run))
    page = html.render(run)
    assert 'data-base="envoy-http"' in page
    ratios = charts.data(run)["suites"]["json"]["ratios"]
    assert {*ratios} == {"direct-http", "envoy-http"}
    assert {*ratios["envoy-http"]["cpu_us.sidecar"]} == {"fieldveil-json"}


def test_ratios_are_to_the_same_protocols_targets(run: Results) -> None:
    summary = SuiteSummary(suite_of(run)).scenarios()["open-1MB-10"]
    rows = [row[0].text for row in grids.ratios(summary).rows]
    assert rows == ["envoy-http ÷ direct-http", "fieldveil-json ÷ direct-http", "fieldveil-json ÷ envoy-http"]


def test_dearer_filter_is_worse_for_bodies_too(run: Results) -> None:
    dearer = sample.with_bodies(sample.results(), slower=1.5)
    worse = report.compare(run, dearer).split("Worse:")[1].split("Better:")[0]
    assert "json, open-1MB-1, fieldveil-json" in worse
    assert "CPU of the sidecar / envoy-http: " in worse
    assert "p50 of a request, µs" in worse
    assert "Worse: nothing" in report.compare(run, run)


def test_costs_of_a_body_stand_beside(run: Results) -> None:
    titles = [table.title for table in suite_of(run).beside]
    assert titles == [*TITLES]
    for text in (markdown.render(run), sample.documents(run), html.render(run)):
        assert all(title in text for title in TITLES)
    added = suite_of(run).beside[0]
    row = next(row for row in added.rows if row[0] == "open-10MB-1")
    # A tenth of what is added to ten.
    assert figure(row[-1]) == pytest.approx(figure(row[5]) / 10, rel=0.05)
    small = next(row for row in added.rows if row[0] == "open-1KB-1")
    assert small[-1] == "-"


def test_field_and_megabyte_are_what_one_more_adds() -> None:
    scenarios = [
        result
        for result in suite_of(sample.with_bodies(sample.results())).scenarios
        if result.name in ("open-1MB-1", "open-1MB-100", "open-10MB-1")
    ]
    costs = {"open-1MB-1": 1000.0, "open-1MB-100": 1000.0 + 99 * 5, "open-10MB-1": 1000.0 + 9 * 700}
    exact = [
        replace(
            result,
            measurements=[
                replace(one, operations=1, usage={"proxy": replace(one.usage["proxy"], cpu_seconds=cpu / 1e6)})
                for one in result.measurements
                if one.target != "direct-http"
                for cpu in [costs[result.name] + 50 if one.target == "fieldveil-json" else 50]
            ],
        )
        for result in scenarios
    ]
    _, shares = body_costs.tables(SuiteSummary(SuiteResult("json", "", exact)))
    assert {(bodies, of): figure(cell) for bodies, of, cell in shares.rows} == {
        ("responses opened, 1MB", "a field"): 5.0,
        ("responses opened", "a MB"): 700.0,
    }


def test_targets_of_statements_are_theirs(run: Results) -> None:
    assert {words.of_suite(suite).ours for suite in run.suites if suite.name != "json"} == {"fieldveil"}
    assert words.of_suite(suite_of(run)) is words.BODIES
