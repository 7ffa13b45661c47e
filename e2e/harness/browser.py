"""Chromium with a page open, and all that the page did: errors, and requests to elsewhere."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from dev.layout import CHROMIUM
from harness.waiting import patience

# What the page waits for at most, in milliseconds on a machine that does nothing else.
PATIENCE = 30_000
# It draws without a graphics card, real or made up.
ARGUMENTS = ["--disable-gpu", "--disable-software-rasterizer"]

# Each text against the nearest background, by the formula of WCAG 2; 4.5 is what it asks for. What its argument, a
# selector, finds is left out.
CONTRAST = """(leftOut) => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => numbers(colour).slice(0, 3).map((v) => v / 255)
    .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const found = numbers(getComputedStyle(e).backgroundColor);
      if (found.length === 3 || found[3] === 1) return getComputedStyle(e).backgroundColor;
    }
    return "rgb(255, 255, 255)";
  };
  const said = [...document.querySelectorAll("body *")].filter((e) => e.checkVisibility() &&
    !(leftOut && e.closest(leftOut)) &&
    [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.textContent.trim()));
  return said.map((e) => [light(getComputedStyle(e).color), light(behind(e)), e]).map(([a, b, e]) =>
    [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.className + ": " + e.textContent.slice(0, 40)])
    .filter(([ratio]) => ratio < 4.5);
}"""


@dataclass
class Watched:
    """A page, and what it did that no page should do."""

    page: Page
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser of `.tools/`, with the libraries and the fonts beside it."""
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": str(CHROMIUM / "lib"),
        "FONTCONFIG_FILE": str(CHROMIUM / "fonts.conf"),
    }
    # Playwright's own five seconds are few where both cores are busy.
    expect.set_options(timeout=patience(PATIENCE))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM / "chromium", env=environment, args=ARGUMENTS, timeout=patience(4 * PATIENCE)
        )
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(
    browser: Browser, file: Path, *, fragment: str = "", width: int = 1280, height: int = 900, scheme: str = "light"
) -> Iterator[Watched]:
    """The file, in a window of this size."""
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    context.set_default_timeout(patience(PATIENCE))
    watched = Watched(context.new_page())
    page = watched.page
    page.on("pageerror", lambda error: watched.errors.append(str(error)))
    # Violations of the content security policy are told there too.
    page.on("console", lambda said: watched.errors.append(said.text) if said.type in ("error", "warning") else None)
    page.on("request", lambda request: watched.requests.append(request.url))
    try:
        page.goto(f"{file.as_uri()}{'#' if fragment else ''}{fragment}")
        yield watched
    finally:
        context.close()
