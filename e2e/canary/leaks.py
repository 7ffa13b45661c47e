"""Looks for marks in bytes, in every spelling that SQL, logs and encodings have for them."""

import base64
import re
from collections.abc import Iterator
from pathlib import Path

from canary.marks import TAG, UUID_PREFIX, Marks


def _spellings() -> dict[bytes, str]:
    tag = TAG.encode()
    found = {
        tag: "as it is",
        tag.lower(): "in lower case",
        tag.upper(): "in upper case",
        tag[::-1]: "backwards",
        tag.hex().encode(): "in hex",
        tag.hex().upper().encode(): "in hex",
        TAG.encode("utf-16-le"): "in UTF-16",
        TAG.encode("utf-16-be"): "in UTF-16",
        TAG.encode("utf-32-le"): "in UTF-32",
        UUID_PREFIX.encode(): "uuid",
        UUID_PREFIX.upper().encode(): "uuid in upper case",
        UUID_PREFIX.replace("-", "").encode(): "uuid without dashes",
        bytes.fromhex(UUID_PREFIX.replace("-", "")): "uuid in binary",
    }
    for form in ("\\x{:02x}", "\\x{:02X}", "\\{:03o}", "\\u{:04x}", "\\{:04X}", "%{:02X}", "\\\\x{:02x}", "\\\\{:03o}"):
        found["".join(form.format(byte) for byte in tag).encode()] = "escaped"
    for offset in range(3):
        # Whole groups of three bytes alone: the others depend on what stands beside them.
        whole = tag[(3 - offset) % 3 :]
        whole = whole[: len(whole) // 3 * 3]
        for encode in (base64.standard_b64encode, base64.urlsafe_b64encode):
            found[encode(whole)] = "in base64"
    return found


SPELLINGS = _spellings()
_PATTERN = re.compile(b"|".join(re.escape(spelling) for spelling in sorted(SPELLINGS, key=len, reverse=True)))
_DIGITS = re.compile(rb"[0-9]{10,}")
# Bytes in hexadecimal digits, as envelopes in bytea are written. Ten decimal digits in a row are frequent in them.
_HEX = re.compile(rb"(?=[0-9]*[a-fA-F])[0-9a-fA-F]{32,}")
_DATES = re.compile(rb"[5-9][0-9]{3}-[0-9]{2}-[0-9]{2}")
# Before and behind what was found, in a report.
AROUND = 60


def found_in(data: bytes, marks: Marks) -> str:
    """The first mark in `data` with what stands around it; empty if there is none."""
    hit = _PATTERN.search(data)
    if hit:
        return _shown(data, hit.span(), SPELLINGS[hit[0]])
    for run in _DIGITS.finditer(data):
        for at in range(run.start(), run.end() - 9):
            if data[at : at + 10].decode() in marks.numbers and not _in_hex(data, at):
                return _shown(data, (at, at + 10), "number")
    for run in _DATES.finditer(data):
        if run[0].decode() in marks.dates:
            return _shown(data, run.span(), "date")
    return ""


def _in_hex(data: bytes, at: int) -> bool:
    return any(run.start() <= at < run.end() for run in _HEX.finditer(data))


def files_with_marks(folder: Path, marks: Marks) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            what = found_in(path.read_bytes(), marks)
            if what:
                yield f"{path.relative_to(folder)}: {what}"


def _shown(data: bytes, span: tuple[int, int], how: str) -> str:
    return f"a mark ({how}): …{bytes(data[max(0, span[0] - AROUND) : span[1] + AROUND])!r}…"
