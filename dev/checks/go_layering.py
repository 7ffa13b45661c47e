"""Holds the packages of `keys/` to `keys/layering.json`: which may use which, and which may use a library.

Standard library only. Imports are read from the files, so that those for other systems are held to it too.
"""

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEYS = ROOT / "keys"
RULES = KEYS / "layering.json"
MODULE = "github.com/fieldveil/fieldveil/keys/"
BLOCK = re.compile(r"^import \((.*?)^\)", re.MULTILINE | re.DOTALL)
SINGLE = re.compile(r'^import (?:[\w.]+ )?"([^"]+)"$', re.MULTILINE)
LINE = re.compile(r'^\t(?:[\w.]+ )?"([^"]+)"', re.MULTILINE)


@dataclass(frozen=True)
class Import:
    package: str
    imported: str
    in_test: bool


def main() -> int:
    sources = {path.relative_to(KEYS).as_posix(): path.read_text() for path in KEYS.rglob("*.go")}
    problems = find(json.loads(RULES.read_text()), imports(sources))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def imports(sources: dict[str, str]) -> set[Import]:
    """The imports of files, by their paths in the module. A package that imports nothing is in it too, with ""."""
    found = set()
    for path, text in sources.items():
        package, in_test = path.rpartition("/")[0], path.endswith("_test.go")
        named = SINGLE.findall(text)
        for block in BLOCK.findall(text):
            named += LINE.findall(block)
        found |= {Import(package, name, in_test) for name in ["", *named]}
    return found


def find(rules: dict, found: set[Import]) -> list[str]:
    allowed, in_tests, common = rules["packages"], rules["tests"], set(rules["common"])
    packages = {one.package for one in found}
    problems = {f"{name}: not in {RULES.name}; say there what it may use" for name in packages - allowed.keys()}
    problems |= {f"{name}: in {RULES.name}, but no such package" for name in allowed.keys() - packages}
    unused = {(name, other) for part in (allowed, in_tests) for name, others in part.items() for other in others}
    for one in found:
        other = one.imported.removeprefix(MODULE)
        if other == one.imported:
            problems |= library(rules["only"], one)
            continue
        unused -= {(one.package, other), ("*", other)}
        usable = {one.package, *common, *allowed.get(one.package, [])}
        if one.in_test:
            usable.update(in_tests.get("*", []), in_tests.get(one.package, []))
        if other not in usable:
            problems.add(f"{one.package}: may not use {other}")
    problems |= {f"{name}: may use {other}, and does not; take it out of {RULES.name}" for name, other in unused}
    return sorted(problems)


def library(only: dict[str, list[str]], one: Import) -> set[str]:
    return {
        f"{one.package}: may not use {one.imported}; only {', '.join(folders)} may"
        for name, folders in only.items()
        if beneath(one.imported, name) and not any(beneath(one.package, folder) for folder in folders)
    }


def beneath(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")


if __name__ == "__main__":
    sys.exit(main())
