"""Every document in `docs` is in the list of documents."""

from dev.layout import ROOT

DOCS = ROOT / "docs"
NAME = "README.md"


def find() -> list[str]:
    listed = (DOCS / NAME).read_text()
    names = sorted(path.name for path in DOCS.glob("*.md") if path.name != NAME)
    return [f"docs/{NAME}: does not list {name}" for name in names if f"]({name})" not in listed]
