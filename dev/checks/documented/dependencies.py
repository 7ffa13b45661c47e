"""`docs/internals/dependencies.md` lists the crates that the workspace names, and the versions that are pinned."""

import re
import tomllib

from dev.checks.doc_paths import tracked
from dev.layout import ROOT

NAME = "docs/internals/dependencies.md"
CRATES = "## In the filter (Rust)"
MANIFESTS = ("Cargo.toml", "filters/fuzz/Cargo.toml")
# Files that pin versions of others' software.
PINS = ("go.mod", "package.json", "pom.xml", "requirements.txt", "Cargo.toml")
PINNING_FOLDERS = ("dev/", "e2e/kubernetes/node/")
VERSION = re.compile(r"(?<![\d.])\d+\.\d+\.\d+(?![\d.]*\d)")


def find() -> list[str]:
    text = (ROOT / NAME).read_text()
    return [*of_crates(text), *of_versions(text), *of_modules(text)]


def of_crates(text: str) -> list[str]:
    """Every crate of others that the workspace names has a row, and every row is of one."""
    named = {name for manifest in MANIFESTS for name in _crates(manifest)}
    rows = text.split(CRATES)[1].split("\n\n")[1].splitlines()[2:]
    cells = [row.split(" | ")[0] for row in rows]
    # In parentheses stands what comes with one.
    listed = {name for cell in cells for name in re.findall(r"`([^`]+)`", re.sub(r"\([^)]*\)", "", cell))}
    mentioned = {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}
    problems = [f"{NAME}: has no row for the crate {name}" for name in sorted(named - mentioned)]
    return problems + [f"{NAME}: has a row for {name}, which no crate names" for name in sorted(listed - named)]


def of_versions(text: str) -> list[str]:
    """Every version stands in a file that pins some."""
    pinned = set()
    for name in tracked():
        if name.split("/")[-1] in PINS or name.startswith(PINNING_FOLDERS):
            pinned |= set(VERSION.findall((ROOT / name).read_text(errors="ignore")))
    return [f"{NAME}: nothing pins version {version}" for version in VERSION.findall(text) if version not in pinned]


def of_modules(text: str) -> list[str]:
    """A Go module or a Python package that is named with a version is pinned at that version."""
    modules = dict(re.findall(r"^\t(\S+) v(\S+)", (ROOT / "keys" / "go.mod").read_text(), re.M))
    named = re.findall(r"`([\w.-]+\.\w+/[^`]+)` v(\d[\d.]*\d)", text)
    packages = re.findall(r"^([\w-]+)(?:\[\w+\])?==([\d.]*\d)", (ROOT / "e2e" / "requirements.txt").read_text(), re.M)
    problems = [
        f"{NAME}: {module} {version}, but {modules.get(module)} is pinned"
        for module, version in named
        if modules.get(module) != version
    ]
    for package, pinned in packages:
        for version in re.findall(rf"\b{re.escape(package)} (\d[\d.]*\d)", text, re.I):
            if not f"{pinned}.".startswith(f"{version}."):
                problems.append(f"{NAME}: {package} {version}, but {pinned} is pinned")
    return problems


def _crates(manifest: str) -> list[str]:
    read = tomllib.loads((ROOT / manifest).read_text())
    tables = [read.get("workspace", {}).get("dependencies", {}), read.get("dependencies", {})]
    items = [item for table in tables for item in table.items()]
    return [name for name, source in items if isinstance(source, str) or "version" in source]
