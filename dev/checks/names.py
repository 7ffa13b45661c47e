"""A type's name stands once in a Rust crate, and no name is one that misled readers before. Standard library only.

Parts of a crate that mirror each other, such as those of the two databases, may have types of one name.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CRATES = ROOT / "filters"
MIRRORED = ({"postgres", "mysql"}, {"postgres_server", "mysql"}, {"x86", "wasm"})
TYPE = re.compile(r"^\s*(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait|union) (\w+)", re.M)
# Names that said too little, each with one that says more.
AVOIDED = {
    "client_again": "resume_client",
    "goes_on": "can_resume, is_continued",
    "has_several": "has_several_ciphertexts",
    "held_besides": "bytes_of_state",
    "is_all": "is_unchanged",
    "next_of_client": "read_client",
    "next_of_server": "read_server",
    "refuse_bind": "refuse_extended_message",
}


def main() -> int:
    texts = sources()
    problems = [*repeated(texts), *avoided(texts)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def sources() -> dict[Path, str]:
    """The texts of all crates."""
    folders = [*CRATES.glob("*/src"), *CRATES.glob("*/*/src")]
    return {path: path.read_text() for folder in sorted(folders) for path in sorted(folder.rglob("*.rs"))}


def repeated(sources: dict[Path, str]) -> list[str]:
    places = defaultdict(list)
    for path, text in sources.items():
        for name in TYPE.findall(text):
            places[_crate(path), name].append(path)
    return [
        f"filters/{crate}: the type {name} is in {', '.join(shown(path) for path in paths)}; name each by its subject"
        for (crate, name), paths in places.items()
        if len(paths) > 1 and not _are_mirrored(paths)
    ]


def avoided(sources: dict[Path, str]) -> list[str]:
    found = re.compile(rf"\b({'|'.join(AVOIDED)})\b")
    return [
        f"{shown(path)}:{number}: {match[1]} says too little; say what it does, such as {AVOIDED[match[1]]}"
        for path, text in sources.items()
        for number, line in enumerate(text.splitlines(), 1)
        if (match := found.search(line))
    ]


def _crate(path: Path) -> str:
    return str(path.relative_to(CRATES)).split("/src/")[0]


def _are_mirrored(paths: list[Path]) -> bool:
    parts = [{*path.relative_to(CRATES).with_suffix("").parts} for path in paths]
    return any(
        len(paths) == len(sides) and all(any(side in part for part in parts) for side in sides) for sides in MIRRORED
    )


def shown(path: Path) -> str:
    """The file as it is named to people."""
    return str(path.relative_to(CRATES.parent))


if __name__ == "__main__":
    sys.exit(main())
