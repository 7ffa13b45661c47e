"""The texts: those written by hand in `*.sql`, apart by blank lines, and those made by `generate`."""

from pathlib import Path

from sqldiff.corpus.generate import generated

HERE = Path(__file__).parent


def by_hand() -> list[str]:
    blocks = (block.strip("\n") for path in sorted(HERE.glob("*.sql")) for block in path.read_text().split("\n\n"))
    return [block for block in blocks if block.strip()]


def texts() -> list[str]:
    """Each once, always in the same order."""
    return list(dict.fromkeys([*by_hand(), *generated()]))
