"""How the demo shows things on a terminal."""

import os
import sys

# Wide enough to tell the values apart, narrow enough for four of them side by side.
CELL = 24
BOLD, DIM, GREEN, RED, CYAN = "1", "2", "32", "31", "36"


def paint(text: str, colour: str) -> str:
    plain = not sys.stdout.isatty() or "NO_COLOR" in os.environ
    return text if plain else f"\x1b[{colour}m{text}\x1b[0m"


def heading(text: str) -> None:
    print(f"\n{paint(text, BOLD)}", flush=True)


def side_by_side(columns: list[str], views: dict[str, tuple]) -> None:
    """A line for each column, and a place in it for each view."""
    print(f"  {'':<8}" + "".join(paint(f"{title:<{CELL + 2}}", BOLD) for title in views))
    for number, column in enumerate(columns):
        cells = (_shown(row[number]) for row in views.values())
        print(f"  {column:<8}" + "".join(cells))


def _shown(value: object) -> str:
    if value is None:
        return paint(f"{'NULL':<{CELL + 2}}", DIM)
    text = str(value)
    short = text if len(text) <= CELL else text[: CELL - 1] + "…"
    colour = DIM if text.startswith("fv1.") else CYAN if "*" in text else GREEN
    return paint(f"{short:<{CELL + 2}}", colour)
