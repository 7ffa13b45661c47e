"""Where the instructions of one transaction go, as `dev/instructions.py --shares` keeps them."""

import json
from collections.abc import Iterator

from dev.instructions import SHARES
from loadtests.report.grids import Cell, Grid
from loadtests.report.markdown import table

# Those of the load tests, by the names that they have in `filters/bench`.
SHOWN = {
    "nothing protected": "postgres: nothing protected",
    "point read, 3 opened": "postgres: point read, 3 opened",
    "insert, 3 sealed": "postgres: insert, 3 sealed",
    "100 rows, 300 opened": "postgres: 100 rows, 300 opened",
    "100 rows copied out": "postgres: 100 rows copied out, 300 opened",
    "100 rows copied in": "postgres: 100 rows copied in, 300 sealed",
    "ever new texts, 3 opened": "postgres: ever new texts, 3 opened",
    "MySQL, point read": "mysql: point read, 3 opened",
    "MySQL, 100 rows": "mysql: 100 rows, 300 opened",
    "JSON, 10 opened": "json: response of 1 KB, 10 opened",
}
AFTER = "after"
TITLE = "Where the instructions of one transaction go"
ABOUT = (
    "What the filter executes for a transaction, in thousands of instructions, by the part of the filter whose "
    "function they stand in. Counted natively, where a processor's own instructions do AES: in Envoy's V8 the ciphers' "
    "part is greater, and copies between Envoy and the VM, and calls of Envoy, come in addition. What the compiler "
    "drew into a function counts as that function's. Not times, so the same on every machine."
)


def lines() -> Iterator[str]:
    """The page; nothing where nothing is kept."""
    kept = json.loads(SHARES.read_text()) if SHARES.exists() else {}
    if AFTER not in kept:
        return
    yield from (f"# {TITLE}", "", ABOUT, "")
    yield from table(grid(kept[AFTER]))


def grid(counts: dict[str, dict[str, int]]) -> Grid:
    def cell(count: int) -> Cell:
        return Cell(f"{count / 1000:,.1f}")

    parts = list(counts[next(iter(SHOWN.values()))])
    rows = [[Cell(part), *(cell(counts[name].get(part, 0)) for name in SHOWN.values())] for part in parts]
    rows.append([Cell("all"), *(cell(sum(counts[name].values())) for name in SHOWN.values())])
    return Grid(TITLE, ["", *SHOWN], rows)
