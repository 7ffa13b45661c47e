"""A value as SQL source, in one of the ways that MySQL and MariaDB read."""

import random

from canary.marks import TAG


def literal(rng: random.Random, type_: str, value: str) -> str:
    """The value in its text form, as `Marks` makes it."""
    base = type_.partition("(")[0]
    often = rng.random() < 0.6
    match base:
        case "int4" | "numeric":
            return value if often else rng.choice((f"({value})", quote(value), f"'{value}'"))
        case "bool":
            return rng.choice((value, value.upper(), "1" if value == "true" else "0"))
        case "bytea":
            digits = value[2:]
            return rng.choice((f"x'{digits}'", f"X'{digits.upper()}'", f"0x{digits}", f"_binary x'{digits}'"))
        case "date":
            return quote(value) if often else rng.choice((f"DATE'{value}'", f'"{value}"', f"DATE '{value}'"))
    return quote(value) if often else _text(rng, value)


def quote(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"


def _text(rng: random.Random, value: str) -> str:
    match rng.randrange(6):
        case 0:
            return '"' + value.replace("\\", "\\\\").replace('"', rng.choice(('""', '\\"'))) + '"'
        case 1:
            written = value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\t", "\\t")
            return f"'{written}'"
        case 2:
            # Not within the mark.
            half = max(0, value.find(TAG))
            return f"{quote(value[:half])}\n  {quote(value[half:])}"
        case 3:
            return f"_utf8mb4{quote(value)}"
        case 4:
            # Letters that need no escape stand for themselves behind one.
            return quote(value).replace(TAG, f"\\{TAG}")
        case _:
            return f"(({quote(value)}))"
