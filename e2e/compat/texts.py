"""Reads what suites print: in several encodings, and with carriage returns that are no ends of lines."""

from pathlib import Path


def read(path: Path) -> str:
    with path.open(encoding="utf-8", errors="surrogateescape", newline="") as file:
        return file.read()
