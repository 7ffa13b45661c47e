"""Chromium with a page open, and all that the page did: errors, and requests to elsewhere."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tools.layout import CHROMIUM

# What the page waits for at most, in milliseconds: a busy machine is slow.
PATIENCE = 30_000
# It draws without a graphics card, real or made up.
ARGUMENTS = ["--disable-gpu", "--disable-software-rasterizer"]


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
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM / "chromium", env=environment, args=ARGUMENTS, timeout=4 * PATIENCE
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
    context.set_default_timeout(PATIENCE)
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
