"""The first run that is kept of a suite beside the last."""

from dataclasses import replace
from pathlib import Path

from loadtests.report import history
from loadtests.tests import sample


def kept(folder: Path, *starts: str) -> Path:
    """A run at each of these times, of commits numbered from 1."""
    for number, started in enumerate(starts, 1):
        run = sample.results()
        made = replace(run.made, started=started, commit=f"{number:07}ffff")
        replace(run, made=made).write(folder / f"{number}.json")
    return folder


def test_first_run_stands_beside_the_last(tmp_path: Path) -> None:
    folder = kept(tmp_path, "2026-02-01T00:00:00Z", "2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z")
    text = "\n".join(history.lines(folder))
    assert "0000002 (2026-01-01) and 0000003 (2026-03-01)" in text
    assert "0000001" not in text


def test_one_run_has_no_history(tmp_path: Path) -> None:
    assert list(history.lines(kept(tmp_path, "2026-01-01T00:00:00Z"))) == []
