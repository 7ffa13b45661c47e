"""What the documents say of crates, versions, targets, limits and each other is so. Standard library only.

`--write` writes the generated table of crates anew.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from dev.checks.documented import crates, dependencies, index, limits, targets, versions


def main(words: list[str]) -> int:
    if words == ["--write"]:
        crates.write()
    problems = [problem for part in (crates, versions, dependencies, targets, limits, index) for problem in part.find()]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
