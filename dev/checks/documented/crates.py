"""The table and the picture of crates in `docs/internals/architecture.md`."""

import json
import re
import tomllib
from pathlib import Path

from dev.layout import ROOT

NAME = "docs/internals/architecture.md"
DOCUMENT = ROOT / NAME
RULES = ROOT / "filters" / "layering.json"
BEGIN = "<!-- The table of crates: written by `python3 dev/checks/facts.py --write`. -->"
END = "<!-- The end of the table of crates. -->"


def find() -> list[str]:
    text = DOCUMENT.read_text()
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        return [f"{NAME}: the two comments around the table of crates are not there once each"]
    if _with_table(text) != text:
        return [f"{NAME}: the table of crates is not up to date: python3 dev/checks/facts.py --write"]
    return []


def write() -> None:
    DOCUMENT.write_text(_with_table(DOCUMENT.read_text()))


def table() -> str:
    """One row for each crate of the workspace, in the workspace's order."""
    arrows, folders = _arrows(), _folders()
    rows = ["| crate | what it is | depends on |", "| --- | --- | --- |"]
    for name, folder in folders.items():
        others = ", ".join(f"`{Path(folders[other]).relative_to('filters')}`" for other in arrows[name])
        rows.append(f"| `{folder}` | {purpose(ROOT / folder / 'src' / 'lib.rs')} | {others or 'none of these'} |")
    return "\n".join(rows)


def picture() -> str:
    """The crates as a Mermaid flowchart, without the one that measures them."""
    folders = _folders()
    short = {name: str(Path(folder).relative_to("filters")) for name, folder in folders.items()}
    short = {name: room for name, room in short.items() if room != "bench"}
    lines = ["```mermaid", "flowchart TD"]
    lines += [f'    {_node(room)}["{room}"]' for room in short.values()]
    for name, room in short.items():
        lines += [f"    {_node(room)} --> {_node(short[other])}" for other in _arrows()[name]]
    return "\n".join([*lines, "```"])


def _node(room: str) -> str:
    return room.replace("/", "_").replace("-", "_")


def _arrows() -> dict[str, list[str]]:
    return json.loads(RULES.read_text())["crates"]


def _folders() -> dict[str, str]:
    members = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["members"]
    return {tomllib.loads((ROOT / member / "Cargo.toml").read_text())["package"]["name"]: member for member in members}


def purpose(library: Path) -> str:
    """The first sentence of a crate's documentation."""
    lines = re.match(r"(?://! .*\n)+", library.read_text())[0].splitlines()
    paragraph = " ".join(line.removeprefix("//! ") for line in lines)
    sentence = re.match(r".*?\.(?= |$)", paragraph)[0].removesuffix(".")
    return re.sub(r"\[(`[^`]+`)\]", r"\1", sentence)


def _with_table(text: str) -> str:
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n\n{table()}\n\n{picture()}\n\n{END}{rest.split(END)[1]}"
