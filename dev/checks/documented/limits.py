"""Each number in the tables of `docs/reference/limits.md` stands in the code that its row names."""

import re
from pathlib import Path

from dev.layout import ROOT

NAME = "docs/reference/limits.md"
DOCUMENT = ROOT / NAME
HEADER = "| what | limit | where |"
UNITS = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
NUMBER = re.compile(r"(?<![\w.])(\d[\d,]*)(?: (KiB|MiB|GiB))?")
CONSTANT = re.compile(r"const (\w+): [^=;]+ = ([^;]+);")
# A field of a configuration's defaults.
DEFAULT = re.compile(r"^\s*(?:\w+: [\w <*]+, ?)+|\{ (?:\w+: [\w <*]+,? ?)+\}", re.M)
TERM = re.compile(r"\b\d[\d_]*(?: (?:<<|\*) [\d_]+)*")


def find() -> list[str]:
    problems = []
    for what, limit, where in rows(DOCUMENT.read_text()):
        files = re.findall(r"`([^`]+\.rs)`", where)
        known = {value for file in files if (ROOT / file).exists() for value in numbers_of(ROOT / file)}
        for number in numbers(limit):
            if number not in known:
                problems.append(f"{NAME}: limit {number:,} of {what!r} is no constant of {', '.join(files)}")
    return problems


def rows(text: str) -> list[list[str]]:
    """The rows of every table with this header."""
    found = []
    for table in text.split(f"\n{HEADER}\n")[1:]:
        lines = table.split("\n\n")[0].splitlines()[1:]
        found += [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines]
    return found


def numbers(limit: str) -> list[int]:
    """The numbers of a limit. What stands in code or in parentheses explains."""
    text = re.sub(r"`[^`]*`|\([^)]*\)", "", limit)
    return [int(number.replace(",", "")) * UNITS[unit] for number, unit in NUMBER.findall(text)]


def numbers_of(file: Path) -> set[int]:
    """The values of a file's constants and defaults: each number in them, and what those make that add others."""
    code = re.sub(r"//.*", "", file.read_text())
    named: dict[str, int] = {}
    found = set()
    for name, expression in CONSTANT.findall(code):
        found |= {_value(term) for term in TERM.findall(expression)}
        spelled = re.sub(r"\b[A-Z][A-Z\d_]+\b", lambda match: str(named.get(match[0], "?")), expression)
        if re.fullmatch(r"[\d_\s<*+()]+", spelled):
            named[name] = _value(spelled)
    for default in DEFAULT.findall(code):
        found |= {_value(term) for term in TERM.findall(default)}
    return found | set(named.values())


def _value(expression: str) -> int:
    # Nothing but digits, `_`, `<<`, `*`, `+` and parentheses gets here; Rust binds them as Python does.
    return eval(expression)
