"""A source file has at most 400 lines, and a Rust type at most 8 fields and 25 methods.

A type may have more if its documentation gives a reason behind the word "Large:".

Methods are those of the type itself, in all files of its crate; those of a trait are the trait's. Each of the mirrored
modules of the two databases has its own. Standard library only.
"""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from dev.checks.names import shown, sources
from dev.layout import ROOT

SOURCES = ("*.rs", "*.go", "*.py", "*.rego", "*.js")
MAX_LINES = 400
MAX_FIELDS = 8
MAX_METHODS = 25
REASON = re.compile(r"^/// Large: \w+ ", re.M)
TESTS = re.compile(r"^#\[cfg\(test\)\]\n(?:#\[.*\]\n)*mod \w+ \{.*", re.M | re.S)
STRUCT = re.compile(
    r"((?:^(?:///|#\[)[^\n]*\n)*)^(?:pub(?:\([^)]*\))? )?struct (\w+)(?:<[^;({]*)? \{\n(.*?)^\}", re.M | re.S
)
IMPL = re.compile(r"^impl(?:<[^{]*?>)? (\w+)(?:<[^{]*?)? \{\n(.*?)^\}", re.M | re.S)
FIELD = re.compile(r"^    (?:pub(?:\([^)]*\))? )?\w+: ", re.M)
METHOD = re.compile(r"^    (?:pub(?:\([^)]*\))? )?(?:const |unsafe |async )*fn \w+", re.M)


def main() -> int:
    problems = [*find(sources()), *long_files(ROOT)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def find(texts: dict[Path, str]) -> list[str]:
    texts = {path: TESTS.sub("", text) for path, text in texts.items() if not path.stem.endswith("tests")}
    methods: Counter[tuple[str, str]] = Counter()
    for path, text in texts.items():
        for name, body in IMPL.findall(text):
            methods[_room(path), name] += len(METHOD.findall(body))
    problems = []
    for path, text in texts.items():
        for documentation, name, body in STRUCT.findall(text):
            fields, own = len(FIELD.findall(body)), methods[_room(path), name]
            is_large = fields > MAX_FIELDS or own > MAX_METHODS
            if is_large != bool(REASON.search(documentation)):
                problems.append(f"{shown(path)}: {name} has {fields} fields and {own} methods: {_remedy(is_large)}")
    return problems


def long_files(repository: Path) -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", *SOURCES], cwd=repository, capture_output=True, text=True, check=True
    )
    lines = {name: len((repository / name).read_text().splitlines()) for name in listed.stdout.split("\0") if name}
    return [
        f"{name} has {count} lines: split it into files of at most {MAX_LINES}"
        for name, count in lines.items()
        if count > MAX_LINES
    ]


def _remedy(is_large: bool) -> str:
    if is_large:
        return f"split it, or say above it why it has more than {MAX_FIELDS} or {MAX_METHODS}: `/// Large: …`"
    return "it is not large any more; take the line `/// Large: …` away"


def _room(path: Path) -> str:
    """The crate, and which database's part of it."""
    crate, within = shown(path).split("/src/")
    return crate + next((side for side in ("mysql", "postgres") if side in Path(within).with_suffix("").parts), "")


if __name__ == "__main__":
    sys.exit(main())
