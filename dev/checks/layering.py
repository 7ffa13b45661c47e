"""Holds the workspace's crates to `filters/layering.json`: which may depend on which, and on what of others'.

Standard library only. Test-only dependencies are held to it too: a test that reaches sideways is a sign.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RULES = ROOT / "filters" / "layering.json"


def main() -> int:
    problems = find(json.loads(RULES.read_text()), workspace())
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def workspace() -> dict[str, set[str]]:
    """Each of our crates with the names of its direct dependencies."""
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1", "--locked"]
    shown = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    packages = json.loads(shown)["packages"]
    return {package["name"]: {dependency["name"] for dependency in package["dependencies"]} for package in packages}


def find(rules: dict, crates: dict[str, set[str]]) -> list[str]:
    allowed, only = rules["crates"], rules["only"]
    problems = [f"{name}: not in {RULES.name}; say there what it may use" for name in crates.keys() - allowed.keys()]
    problems += [f"{name}: in {RULES.name}, but no such crate" for name in allowed.keys() - crates.keys()]
    for name, dependencies in crates.items():
        for other in sorted(dependencies):
            if other in crates and other not in allowed.get(name, []):
                problems.append(f"{name}: may not depend on {other}")
            if other in only and name not in only[other]:
                problems.append(f"{name}: may not name {other}; only {', '.join(only[other])} may")
    return sorted(problems)


if __name__ == "__main__":
    sys.exit(main())
