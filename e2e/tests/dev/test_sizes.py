"""What the check of sizes finds."""

import subprocess
from pathlib import Path

from dev.checks import sizes
from dev.checks.names import CRATES

FIELDS = "".join(f"    pub field_{number}: (u8, u8),\n" for number in range(9))
METHODS = "".join(f"    pub const fn method_{number}(&self) {{}}\n" for number in range(25))
LARGE = "/// A type.\n///\n/// Large: it has the members of a message.\n#[derive(Debug)]\n"


def found(**texts: str) -> list[str]:
    sources: dict[Path, str] = {CRATES / "engine/src" / f"{name}.rs": text for name, text in texts.items()}
    return sizes.find(sources)


def test_type_with_many_fields_is_found_unless_it_says_why() -> None:
    struct = f"pub(crate) struct Row<'a> {{\n{FIELDS}}}\n"
    (problem,) = found(row=f"/// A row.\n{struct}")
    assert problem.startswith("filters/engine/src/row.rs: Row has 9 fields and 0 methods: split it")
    assert found(row=LARGE + struct) == []


def test_methods_are_counted_in_all_files_but_tests_and_traits() -> None:
    texts = {
        "row": "struct Row<'a> {\n    field: u8,\n}\nimpl<'a> Row<'a> {\n    fn one_more() {}\n}\n",
        "more": f"impl Row<'_> {{\n{METHODS}}}\nimpl Default for Row<'_> {{\n    fn default() {{}}\n}}\n",
        "row_tests": "impl Row<'_> {\n    fn only_here() {}\n}\n",
    }
    (problem,) = found(**texts)
    assert "Row has 1 fields and 26 methods" in problem
    assert found(row=texts["row"]) == []


def test_reason_that_is_not_needed_any_more_is_found() -> None:
    (problem,) = found(row=f"{LARGE}struct Row {{\n    field: u8,\n}}\n")
    assert "not large any more" in problem


def test_long_source_files_are_found(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    for name, lines in (("long.rs", 401), ("short.rs", 400), ("data.json", 401)):
        (tmp_path / name).write_text("\n" * lines)
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    (problem,) = sizes.long_files(tmp_path)
    assert problem.startswith("long.rs has 401 lines")
