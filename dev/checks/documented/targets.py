"""Every target of make that a text of ours names exists, and every target has a line in `make help`."""

import re

from dev.checks.doc_paths import tracked
from dev.layout import ROOT

MAKEFILE = ROOT / "Makefile"
TARGET = re.compile(r"^([a-z0-9-]+):(?!=)(.*)$", re.M)
# Other targets need it; nobody calls it.
HIDDEN = {"python"}
# Where a text names targets, by how its file ends.
CODE = {
    ".md": re.compile(r"```.*?```|`[^`\n]+`", re.S),
    ".py": re.compile(r"`[^`\n]+`"),
    ".ci/run": re.compile(r"^[^#\n]+$", re.M),
}
OPTION = r"(?:-{1,2}[\w-]+|[A-Z_]+=(?:\"[^\"]*\"|[^\s`]+))"
CALL = re.compile(rf"\bmake (?:{OPTION} )*([a-z][a-z0-9-]*)")


def find() -> list[str]:
    makefile = MAKEFILE.read_text()
    targets = dict(TARGET.findall(makefile))
    phony = set(re.search(r"^\.PHONY: (.*)$", makefile, re.M)[1].split())
    problems = [f"Makefile: {name} is not among .PHONY" for name in targets if name not in phony]
    problems += [f"Makefile: .PHONY names {name}, which is no target" for name in sorted(phony - targets.keys())]
    for name, rest in targets.items():
        if name not in HIDDEN and "## " not in rest:
            problems.append(f"Makefile: {name} has no `## ` with its line for `make help`")
    for document in tracked():
        problems += [f"{document}: `make {name}` is no target" for name in sorted(_named(document) - targets.keys())]
    return problems


def _named(document: str) -> set[str]:
    # The tests of this have examples of targets that are not there.
    if "/tests/" in document:
        return set()
    for ending, code in CODE.items():
        if document.endswith(ending) and (ROOT / document).is_file():
            parts = code.findall((ROOT / document).read_text())
            return {target for part in parts for target in CALL.findall(part)}
    return set()
