"""Every document in `docs` is in the list of documents, or in that of its own folder."""

from pathlib import Path

from dev.layout import ROOT

DOCS = ROOT / "docs"
NAME = "README.md"


def find(docs: Path = DOCS) -> list[str]:
    indexes = sorted(docs.rglob(NAME))
    problems = []
    for index in indexes:
        listed = index.read_text()
        below = [other.parent for other in indexes if other != index and index.parent in other.parents]
        documents = [path for path in index.parent.rglob("*.md") if path != index and path.parent not in below]
        names = sorted(path.relative_to(index.parent).as_posix() for path in [*documents, *(d / NAME for d in below)])
        shown = f"docs/{index.relative_to(docs).as_posix()}"
        problems += [f"{shown}: does not list {name}" for name in names if f"]({name})" not in listed]
    return problems
