"""What the Python packages import of each other is there: a name that moved is found before a suite needs it."""

import ast
import subprocess
from pathlib import Path

from dev.layout import E2E, ROOT


def test_every_import_of_our_own_names_what_is_there() -> None:
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    checked, missing = 0, []
    for path in map(ROOT.joinpath, listed.splitlines()):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.ImportFrom) or node.level or not (file := source_of(node.module or "")):
                continue
            checked += 1
            gone = [name.name for name in node.names if not offers(file, name.name)]
            missing += [f"{path.relative_to(ROOT)}:{node.lineno}: {node.module} has no {name}" for name in gone]
    assert not missing
    assert checked > 500


def source_of(module: str) -> Path | None:
    """The file of a module of ours."""
    for folder in (ROOT, E2E):
        place = folder.joinpath(*module.split("."))
        for file in (place.with_suffix(".py"), place / "__init__.py"):
            if module and file.exists():
                return file
    return None


def offers(file: Path, name: str) -> bool:
    """Whether a module defines or imports the name, or is a package with a module of this name."""
    within = file.parent if file.name == "__init__.py" else None
    if within and ((within / f"{name}.py").exists() or (within / name).is_dir()):
        return True
    for node in ast.walk(ast.parse(file.read_text())):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() if node.name == name:
                return True
            case ast.Name(id=found, ctx=ast.Store()) if found == name:
                return True
            case ast.alias() if name in (node.asname, node.name):
                return True
    return False
