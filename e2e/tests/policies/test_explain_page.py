"""The pages of `fieldveil policy explain` in a real browser."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dev.setup import chromium as setup
from tests.policies import explained

if not setup.is_possible():
    pytest.skip(f"there is no Chromium of the set-up for {sys.platform}", allow_module_level=True)

from playwright.sync_api import Browser, Page, expect

from harness.browser import CONTRAST, Watched, chromium, opened

LABELS = ["customer.born", "customer.card", "customer.email", "customer.notes", "customer.ssn"]
PRINCIPALS = ["app", "support", "analyst", "anybody else"]
WIDTHS = (1280, 390)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    policies = explained.write(folder / "policies")
    return explained.explain(folder / "report.html", policies, "--database", "shop")


@pytest.fixture(scope="module")
def diff(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("diff")
    old = explained.write(folder / "old")
    new = explained.write(
        folder / "new",
        **{
            '{treatment: "null"}': "{treatment: reveal}",
            "rows: 500": "rows: 10",
            "format: last4}\n  - name: support looks": "format: first1}\n  - name: support looks",
        },
    )
    return explained.explain(folder / "diff.html", "--diff", old, new, "--database", "shop", status=4)


@pytest.fixture
def page(browser: Browser, report: Path) -> Iterator[Page]:
    with opened(browser, report) as watched:
        yield watched.page


def shown(page: Page, selector: str) -> list[str]:
    """The first line of each element that is to be seen."""
    return [text.split("\n")[0].strip() for text in page.locator(selector).filter(visible=True).all_inner_texts()]


def rows(page: Page) -> list[str]:
    return shown(page, ".matrix tbody th")


def columns(page: Page) -> list[str]:
    return shown(page, ".matrix thead th[data-principal]")


def chips(page: Page) -> list[str]:
    bright = page.locator(".matrix td:not(.dim) .kind").filter(visible=True)
    return bright.all_inner_texts()


def assert_quiet(watched: Watched, file: Path) -> None:
    assert watched.errors == []
    assert [url for url in watched.requests if url.split("#")[0] != file.as_uri() and not url.startswith("data:")] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["report", "diff"])
def test_page_keeps_its_width_without_an_error_or_a_request(
    browser: Browser, name: str, width: int, scheme: str, request: pytest.FixtureRequest
) -> None:
    file = request.getfixturevalue(name)
    with opened(browser, file, width=width, scheme=scheme) as watched:
        expect(watched.page.locator("#status")).to_contain_text("Showing")
        wide = watched.page.evaluate(TOO_WIDE)
        assert wide == []
        assert watched.page.evaluate("document.documentElement.scrollWidth") <= width
        assert_quiet(watched, file)


def test_table_shows_who_gets_what_and_by_which_rule(page: Page) -> None:
    assert rows(page) == LABELS
    assert columns(page) == PRINCIPALS
    cards = page.locator(".matrix tbody tr").nth(1)
    assert [" ".join(chip.split()) for chip in cards.locator(".chip").all_inner_texts()] == [
        "reveal",
        "reveal 500 rows / 1 min, then mask last4",
        "refuse",
        "conceal",
    ]
    assert cards.locator(".by").all_inner_texts()[-1] == "no rule"
    assert page.locator(".rules li").count() == 6


def test_labels_are_filtered(page: Page) -> None:
    page.get_by_role("searchbox", name="Label").fill("SSN")
    assert rows(page) == ["customer.ssn"]
    assert columns(page) == PRINCIPALS
    page.get_by_role("searchbox", name="Label").fill("customer.*n*")
    assert rows(page) == ["customer.born", "customer.notes", "customer.ssn"]
    page.get_by_role("searchbox", name="Label").fill("payments")
    assert rows(page) == ["customer.card"]
    page.get_by_role("searchbox", name="Label").fill("(none")
    expect(page.locator(".empty")).to_be_visible()
    assert rows(page) == []


def test_principals_are_filtered(page: Page) -> None:
    page.get_by_role("searchbox", name="Principal").fill("anal")
    assert columns(page) == ["analyst"]
    assert rows(page) == LABELS
    expect(page.locator("#status")).to_have_text("Showing 5 of 5 labels, 1 of 4 principals.")


def test_treatments_are_filtered(page: Page) -> None:
    mask = page.get_by_role("button", name="mask", exact=False).first
    mask.click()
    expect(mask).to_have_attribute("aria-pressed", "true")
    assert rows(page) == ["customer.born", "customer.ssn"]
    assert columns(page) == ["support", "analyst"]
    assert chips(page) == ["mask", "mask"]
    mask.click()
    assert rows(page) == LABELS
    page.get_by_role("button", name="may write").click()
    assert columns(page) == ["app"]
    page.get_by_role("button", name="Clear filters").click()
    assert columns(page) == PRINCIPALS


def test_fragment_keeps_the_view(page: Page, browser: Browser, report: Path) -> None:
    page.get_by_role("searchbox", name="Principal").fill("support")
    page.locator(".toggle[data-kind=budget]").click()
    page.locator(".toggle[data-kind=null]").click()
    assert rows(page) == ["customer.card", "customer.notes"]
    with opened(browser, report, fragment=page.url.split("#")[1]) as watched:
        again = watched.page
        assert rows(again) == ["customer.card", "customer.notes"]
        assert columns(again) == ["support"]
        expect(again.get_by_role("searchbox", name="Principal")).to_have_value("support")
        expect(again.locator(".toggle[data-kind=budget]")).to_have_attribute("aria-pressed", "true")
        again.get_by_role("button", name="Clear filters").click()
        expect(again).not_to_have_url(re.compile("#"))
        assert rows(again) == LABELS


def test_cell_tells_rule_budget_example_place_and_storage(browser: Browser, report: Path) -> None:
    with opened(browser, report, fragment="show=customer.card&for=support") as watched:
        details = watched.page.get_by_role("dialog")
        for text in (
            "support looks at few cards",
            "500 rows in 1 min",
            "mask last4",
            "123-45-6789",
            "***-**-6789",
            "shop.public.customer.card",
            "payments",
            "user:support",
        ):
            expect(details).to_contain_text(text)
        watched.page.keyboard.press("Escape")
        expect(details).to_be_hidden()
        expect(watched.page).not_to_have_url(re.compile("show="))
        watched.page.locator("tr[data-label='customer.ssn'] td[data-principal=support] .cell").click()
        expect(details).to_contain_text("orders-api $.customer.ssn")
        assert_quiet(watched, report)


def test_keys_move_between_cells_and_open_them(page: Page) -> None:
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Label")).to_be_focused()
    page.locator(".cell").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#details-title")).to_contain_text("customer.card")
    expect(page.locator("#details-title")).to_contain_text("support")
    page.keyboard.press("Escape")
    expect(page.locator("tr[data-label='customer.card'] td[data-principal=support] .cell")).to_be_focused()
    # One cell alone is in the order of Tab.
    assert page.locator(".cell[tabindex='0']").count() == 1


def test_texts_of_policies_are_shown_as_text(browser: Browser, report: Path, diff: Path) -> None:
    for file in (report, diff):
        with opened(browser, file, fragment="show=customer.ssn&for=support") as watched:
            expect(watched.page.get_by_text(explained.EVIL).first).to_be_visible()
            assert watched.page.locator("img").count() == 0
            assert "taken" not in watched.page.title()
            assert_quiet(watched, file)


def test_markup_that_comes_in_all_the_same_is_not_run(browser: Browser, report: Path, tmp_path: Path) -> None:
    tampered = tmp_path / "tampered.html"
    tampered.write_text(report.read_text().replace("<main>", f"<main>{explained.EVIL}", 1))
    with opened(browser, tampered) as watched:
        assert "taken" not in watched.page.title()
        assert any("Content Security Policy" in error for error in watched.errors)


def test_widened_comes_first_and_verdicts_are_filtered(browser: Browser, diff: Path) -> None:
    with opened(browser, diff) as watched:
        page = watched.page
        assert shown(page, ".group h2 .verdict") == ["Widened", "Changed", "Narrowed"]
        assert shown(page, ".group tbody th") == ["customer.notes", "customer.ssn", "customer.card"]
        assert page.locator("#group-widened ~ table .chip").all_inner_texts() == ["null", "reveal"]
        page.locator(".toggle[data-kind=narrowed]").click()
        assert shown(page, ".group tbody th") == ["customer.card"]
        expect(page).to_have_url(re.compile("#verdict=narrowed$"))
        page.get_by_role("searchbox", name="Label").fill("ssn")
        expect(page.locator(".empty")).to_be_visible()
        page.locator(".toggle[data-kind=narrowed]").click()
        assert shown(page, ".group tbody th") == ["customer.ssn"]
        assert_quiet(watched, diff)


def test_table_is_marked_up_for_those_who_do_not_see_it(page: Page) -> None:
    tree = page.locator(".matrix").aria_snapshot()
    for role in ("grid", 'columnheader "support', 'rowheader "customer.ssn', "gridcell"):
        assert role in tree
    unnamed = page.evaluate(UNNAMED)
    assert unnamed == 0
    assert page.evaluate("document.documentElement.lang") == "en"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_what_is_behind_them(browser: Browser, report: Path, diff: Path, scheme: str) -> None:
    for file in (report, diff):
        with opened(browser, file, scheme=scheme) as watched:
            faint = watched.page.evaluate(CONTRAST)
            assert faint == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_prints_dark_on_white_and_within_the_sheet(
    browser: Browser, report: Path, diff: Path, scheme: str
) -> None:
    for file in (report, diff):
        # A4 across, without its margins, in pixels of CSS.
        with opened(browser, file, width=1030, height=700, scheme=scheme) as watched:
            watched.page.emulate_media(media="print", color_scheme=scheme)
            assert watched.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
            assert watched.page.evaluate("document.documentElement.scrollWidth") <= 1030
            assert watched.page.evaluate(CONTRAST) == []
            expect(watched.page.locator("#label")).to_be_hidden()


# What reaches past the window; the table of many principals scrolls in a window of its own.
TOO_WIDE = """() => [...document.querySelectorAll("body, body *")]
  .filter((e) => e.checkVisibility() && !e.closest("svg, .hidden, thead, .matrix table"))
  .filter((e) => e.getBoundingClientRect().right > innerWidth + 0.5)
  .map((e) => e.outerHTML.slice(0, 80))"""

UNNAMED = """() => [...document.querySelectorAll("button, input")]
  .filter((e) => !(e.textContent.trim() || e.labels?.length || e.ariaLabel)).length"""
