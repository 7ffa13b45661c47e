"""Every document in `docs` is in the list of documents."""

from dev.layout import ROOT

DOCS = ROOT / "docs"
NAME = "README.md"


def find() -> list[str]:
    listed = (DOCS / NAME).read_text()
    names = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md") if path != DOCS / NAME)
    return [f"docs/{NAME}: does not list {name}" for name in names if f"]({name})" not in listed]
