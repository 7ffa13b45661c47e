"""The report's page in a real browser."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dev.setup import chromium as setup
from loadtests import report
from loadtests.report import html
from loadtests.results import SuiteResult
from loadtests.tests import sample

if not setup.is_possible():
    pytest.skip(f"there is no Chromium of the set-up for {sys.platform}", allow_module_level=True)

from playwright.sync_api import Browser, Page, expect

from harness.browser import CONTRAST, Watched, chromium, opened

WIDTHS = (1280, 390)
SCHEMES = ("light", "dark")
# Of the sample: three suites with scenarios show two charts of ratios and four of the scenario, two tables have one.
CHARTS = 3 * (2 + 4) + 2


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("report") / "report.html"
    report.write_html(sample.results(), file)
    return file


@pytest.fixture
def page(browser: Browser, page_file: Path) -> Iterator[Page]:
    with opened(browser, page_file) as watched:
        yield watched.page


def draw_all(page: Page) -> None:
    """Looks at every chart: one is drawn when it comes near the window."""
    page.wait_for_function(DRAW)


def assert_quiet(watched: Watched, file: Path) -> None:
    assert watched.errors == []
    assert [url for url in watched.requests if url.split("#")[0] != file.as_uri() and not url.startswith("data:")] == []


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_every_chart_is_drawn_within_the_window_without_an_error_or_a_request(
    browser: Browser, page_file: Path, width: int, scheme: str
) -> None:
    with opened(browser, page_file, width=width, scheme=scheme) as watched:
        page = watched.page
        draw_all(page)
        charts = page.locator(".chart").filter(visible=True)
        assert charts.count() == CHARTS
        assert page.evaluate(EMPTY) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(TOO_WIDE) == []
        assert page.evaluate(TOO_SMALL) == []
        assert page.evaluate(CONTRAST, "svg, option") == []
        assert_quiet(watched, page_file)


def test_dark_scheme_is_dark(browser: Browser, page_file: Path) -> None:
    colours = []
    for scheme in SCHEMES:
        with opened(browser, page_file, scheme=scheme) as watched:
            draw_all(watched.page)
            colours.append(watched.page.evaluate(COLOURS))
    (light_page, light_text), (dark_page, dark_text) = colours
    assert light_page != dark_page
    assert light_text != dark_text


def test_charts_take_the_other_scheme_while_they_are_shown(page: Page) -> None:
    draw_all(page)
    before = page.evaluate(COLOURS)[1]
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(
        "(before) => getComputedStyle(document.querySelector('.xtick text')).fill !== before", arg=before
    )


def test_head_says_what_is_wrong_and_where(page: Page) -> None:
    expect(page.locator(".top .verdict")).to_contain_text("WRONG: 2 wrong answers and 1 error")
    expect(page.locator(".faults")).to_have_text("oltp, point-read-prepared-8, fieldveil: 2 wrong answers, 1 error")
    for text in ("AMD EPYC 7B13, 2 cores, 8 GiB", "cb332fa", "scale 1, 3 rounds", "an even machine", "PostgreSQL 18.4"):
        expect(page.locator(".facts")).to_contain_text(text)


def test_summary_has_the_added_cpu_of_each_suite(page: Page) -> None:
    rows = page.locator("#summary table").first.locator("tbody tr")
    assert rows.count() == 9
    assert rows.nth(6).locator("th, td").all_inner_texts()[:3] == ["oltp", "point-read-prepared-8", "8"]
    assert rows.nth(6).locator("td").nth(3).locator("small").inner_text().count(" to ") == 1
    # An arrival rate has no capacity.
    assert rows.nth(3).locator("td").last.inner_text() == "-"


def test_thresholds_that_failed_come_first(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    report.write_html(sample.results(slower=1.4), file)
    with opened(browser, file) as watched:
        states = watched.page.locator("#thresholds tbody th").all_inner_texts()
    assert states == ["FAILED", "not measured", "held"]


def test_chart_has_its_room_before_it_is_drawn(page: Page) -> None:
    undrawn = page.evaluate_handle(UNDRAWN)
    heights = undrawn.evaluate(HEIGHTS)
    assert len(heights) > 2
    draw_all(page)
    assert undrawn.evaluate(HEIGHTS) == heights


def test_another_scenario_is_chosen(page: Page) -> None:
    chapter = page.locator("section[data-suite=oltp]")
    expect(chapter.locator("h3").filter(visible=True)).to_have_text(["point-read-prepared-1"])
    assert chapter.get_by_label("Scenario").locator("option").first.inner_text() == "point-read-prepared-1"
    chapter.get_by_role("button", name="Next").click()
    expect(chapter.locator("h3").filter(visible=True)).to_have_text(["point-read-prepared-8"])
    expect(chapter.locator(".verdict.wrong")).to_be_visible()
    chapter.get_by_label("Scenario").select_option("update-simple-8")
    expect(chapter.locator("h3").filter(visible=True)).to_have_text(["update-simple-8"])
    draw_all(page)
    assert chapter.locator(".scenario .chart").filter(visible=True).count() == 4
    expect(chapter).to_contain_text("400 begun each second")


def test_link_to_a_scenario_shows_it(browser: Browser, page_file: Path) -> None:
    with opened(browser, page_file, fragment="suite-2-3") as watched:
        expect(watched.page.locator("#suite-2-3")).to_be_visible()
        expect(watched.page.locator("#suite-2-3")).to_be_in_viewport()
        expect(watched.page.locator("#suite-2-0")).to_be_hidden()


def test_another_measure_is_held_against_the_server(page: Page) -> None:
    draw_all(page)
    chart = page.locator("section[data-suite=oltp] [data-chart=ratio][data-base=direct]")
    before = chart.evaluate("(e) => e.data.at(-1).x[0]")
    page.locator("section[data-suite=oltp] select[data-base=direct]").select_option("operations_per_second")
    after = chart.evaluate("(e) => e.data.at(-1).x[0]")
    assert before > 1 > after
    # Its spread.
    assert chart.evaluate("(e) => e.data.at(-1).error_x.array.some((value) => value > 0)")


def test_curves_are_logarithmic_and_of_every_target(page: Page) -> None:
    draw_all(page)
    curve = page.locator("section[data-suite=oltp] .scenario .chart").filter(visible=True).first
    assert curve.evaluate("(e) => e.layout.yaxis.type") == "log"
    shown = curve.evaluate("(e) => e.data.filter((trace) => trace.showlegend !== false).map((trace) => trace.name)")
    assert shown == list(sample.TARGETS)


@pytest.mark.parametrize("width", WIDTHS)
def test_bodies_are_drawn_against_their_own_targets(browser: Browser, tmp_path: Path, width: int) -> None:
    file = tmp_path / "bodies.html"
    report.write_html(sample.with_bodies(sample.results()), file)
    with opened(browser, file, width=width) as watched:
        page = watched.page
        draw_all(page)
        chapter = page.locator("section[data-suite=json]")
        assert page.evaluate(EMPTY) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        # The filter looks as it does among statements.
        colours = [
            one.evaluate("(e) => e.data.at(-1).marker.color")
            for one in (
                chapter.locator("[data-chart=ratio][data-base=envoy-http]"),
                page.locator("section[data-suite=fieldproc] [data-chart=ratio][data-base=envoy-tcp]"),
            )
        ]
        assert colours[0] == colours[1]
        expect(chapter.locator("select[data-base=direct-http]")).to_have_value("latency_us.50")
        expect(page.locator("#summary")).to_contain_text("What it costs bodies over HTTP")
        assert_quiet(watched, file)


def test_what_was_not_measured_is_a_dash(page: Page) -> None:
    table = page.locator("#suite-2-1 table").first
    noop = table.locator("tbody tr").filter(has_text="envoy-noop").locator("td").all_inner_texts()
    assert noop.count("-") >= 3


def test_scenario_without_a_figure_has_no_chart(browser: Browser, tmp_path: Path) -> None:
    found = sample.results()
    first = found.suites[0].scenarios[0]
    nothing = [replace(one, operations=0, seconds=0.0, latency_us={}, usage={}) for one in first.measurements]
    suite = SuiteResult("empty", "", [replace(first, measurements=nothing)])
    file = tmp_path / "report.html"
    report.write_html(replace(found, suites=[suite], thresholds=[]), file)
    with opened(browser, file) as watched:
        draw_all(watched.page)
        assert watched.page.locator(".chart .none").all_inner_texts() == ["Not measured."] * 6
        assert_quiet(watched, file)


def test_costs_of_single_calls_are_drawn_and_their_figures_unfold(page: Page) -> None:
    draw_all(page)
    extra = page.locator("section[data-suite=ztpf-crypto] .extra")
    chart = extra.locator(".chart")
    assert chart.evaluate("(e) => [e.data.length, e.layout.xaxis.type, e.layout.yaxis.type]") == [4, "log", "log"]
    extra.locator("summary").click()
    expect(extra.locator("tbody tr").first).to_contain_text("722,546")


def test_theirs_stand_beside_ours(page: Page) -> None:
    chapter = page.locator("section[data-suite=fieldproc]")
    expect(chapter).to_contain_text("Townsend Security, 2011.")
    expect(chapter.locator("table").filter(has_text="34.33")).to_be_visible()
    expect(chapter.locator("table").filter(has_text="21,000")).to_be_visible()


@pytest.mark.parametrize("width", WIDTHS)
def test_markup_in_names_is_shown_as_text(browser: Browser, tmp_path: Path, width: int) -> None:
    file = tmp_path / "evil.html"
    report.write_html(sample.evil(sample.results()), file)
    with opened(browser, file, width=width) as watched:
        draw_all(watched.page)
        expect(watched.page.get_by_text(sample.EVIL).first).to_be_visible()
        assert watched.page.locator("img").count() == 0
        assert watched.page.title() != "taken"
        labels = watched.page.locator("section.chapter").first.locator("svg text").all_text_contents()
        assert any("<img" in label for label in labels)
        assert watched.page.evaluate("document.documentElement.scrollWidth") <= width
        assert_quiet(watched, file)


def test_script_that_comes_in_all_the_same_is_not_run(browser: Browser, page_file: Path, tmp_path: Path) -> None:
    tampered = tmp_path / "tampered.html"
    tampered.write_text(page_file.read_text().replace("<main>", f"<main>{sample.EVIL}", 1))
    with opened(browser, tampered) as watched:
        assert watched.page.title() != "taken"
        assert any("Content Security Policy" in error for error in watched.errors)


def test_without_plotly_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(html, "PLOTLY", tmp_path / "none.js")
    with pytest.raises(report.ReportFailed, match=r"none\.js.*dev/setup plotly"):
        report.write_html(sample.results(), tmp_path / "report.html")


# Brings the next chart that is not drawn into the window; true when there is none.
DRAW = """() => {
  const next = [...document.querySelectorAll(".chart")].find((e) => e.checkVisibility() && !e.dataset.drawn);
  next?.scrollIntoView();
  return document.body.dataset.ready === "yes" && !next;
}"""

# Charts that are too far below the window to be drawn, and how high each stands in the page.
UNDRAWN = """() => [...document.querySelectorAll(".chart")].filter((e) => e.checkVisibility() && !e.dataset.drawn)"""
HEIGHTS = "(charts) => charts.map((e) => e.offsetHeight)"

# Charts without a drawn mark.
EMPTY = """() => [...document.querySelectorAll(".chart")].filter((e) => e.checkVisibility())
  .filter((e) => !e.querySelector(".main-svg .trace") || !e.querySelector(".main-svg .point, .main-svg path.js-line"))
  .map((e) => e.outerHTML.slice(0, 100))"""

# What reaches past the window; tables scroll within their own.
TOO_WIDE = """() => [...document.querySelectorAll("body, body *")]
  .filter((e) => e.checkVisibility() && !e.closest("svg defs, .wide table, nav ul, .js-plotly-plot .svg-container *"))
  .filter((e) => e.getBoundingClientRect().right > innerWidth + 0.5)
  .map((e) => e.outerHTML.slice(0, 80))"""

# Texts of less than 11.5 px, those of the charts too.
TOO_SMALL = """() => [...document.querySelectorAll("body *")].filter((e) => e.checkVisibility() &&
    [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.textContent.trim()))
  .filter((e) => parseFloat(getComputedStyle(e).fontSize) < 11.5)
  .map((e) => getComputedStyle(e).fontSize + " " + e.textContent.slice(0, 40))"""

# The page's background, and the colour of a chart's text.
COLOURS = """() => [["body", "backgroundColor"], [".xtick text", "fill"]]
  .map(([selector, property]) => getComputedStyle(document.querySelector(selector))[property])"""
