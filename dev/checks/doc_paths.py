"""Every path that a document of ours names in backticks or links to exists. Standard library only.

A word in backticks is taken for a path when it begins with one of the top folders of this project, or
with the document's own folder's names in a link. `<...>`, `*` and `{` make it a pattern, which is left alone.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IN_BACKTICKS = re.compile(r"`([^`\s]+)`")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
PATTERN = re.compile(r"[<>*{}$…]")
# Made, not kept: they may be named, and need not be there.
MADE = (".tools", "target")


def main() -> int:
    documents = sorted(ROOT / name for name in tracked() if name.endswith(".md"))
    problems = [problem for document in documents for problem in find(document)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def find(document: Path) -> list[str]:
    shown = document.relative_to(ROOT)
    text = document.read_text()
    tops = {path.name for path in ROOT.iterdir() if path.is_dir() and path.name not in (*MADE, ".git")}
    problems = []
    for word in IN_BACKTICKS.findall(text):
        # `path:12` and `path.` are ways of writing.
        name = re.sub(r"(:\d+)?[.,;]?$", "", word)
        if "/" in name and name.split("/")[0] in tops and not PATTERN.search(name) and not (ROOT / name).exists():
            problems.append(f"{shown}: `{word}` does not exist")
    for target in LINK.findall(text):
        if "://" in target or target.startswith("mailto:"):
            continue
        if not (document.parent / target).exists():
            problems.append(f"{shown}: the link to {target} leads nowhere")
    return problems


def tracked() -> list[str]:
    """What git keeps or would keep, so that fetched things are no business of ours."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return [name for name in done.stdout.splitlines() if (ROOT / name).exists()]
    # Without git (an unpacked archive): everything but the made folders.
    found = (path.relative_to(ROOT) for path in ROOT.rglob("*.md"))
    return [str(path) for path in found if path.parts[0] not in MADE]


if __name__ == "__main__":
    sys.exit(main())
