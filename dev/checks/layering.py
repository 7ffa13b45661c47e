"""Holds the workspace to `filters/layering.json`: which crate may depend on which, and on what of others'; and in a
crate, which module may use which.

Standard library only. Test-only dependencies are held to it too: a test that reaches sideways is a sign.
"""

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from dev.checks.layers import modules, reader

ROOT = Path(__file__).resolve().parents[2]
RULES = ROOT / "filters" / "layering.json"


def main() -> int:
    rules, packages = json.loads(RULES.read_text()), workspace()
    problems = find(rules, {name: direct(package) for name, package in packages.items()})
    for name, layers in rules["modules"].items():
        if name in packages:
            folder = Path(packages[name]["manifest_path"]).parent
            problems += sorted(modules.find(name, layers, reader.read(folder)))
        else:
            problems.append(f"{name}: has layers in {RULES.name}, but no such crate")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def workspace() -> dict[str, dict]:
    """Each of our crates as cargo describes it."""
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1", "--locked"]
    shown = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return {package["name"]: package for package in json.loads(shown)["packages"]}


def direct(package: dict) -> set[str]:
    """The names of a crate's direct dependencies."""
    return {dependency["name"] for dependency in package["dependencies"]}


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
