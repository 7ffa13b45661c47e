"""`docs/start/performance.md`, `docs/start/capacity.md` and the pages of measurements, from committed runs."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from dev.layout import LOADTESTS, ROOT
from loadtests.report import answer, bodies, capacity, facts, grids, shares, suite_page, words
from loadtests.report.markdown import escape, section, table
from loadtests.results import Results, read

RUNS = LOADTESTS / "runs"
DOCS = ROOT / "docs"
ANSWER = "start/performance.md"
CAPACITY = "start/capacity.md"
MEASUREMENTS = "reference/measurements"
INSTRUCTIONS = "instructions.md"
# Written by hand, with a place for what the runs say: no figure of a run is in it.
TEXT = Path(__file__).with_name("performance.md.in")
WRITTEN = (
    "Written by `python -m loadtests document` from the last runs that are kept, and compared by a test; don't edit."
)


def write_document(runs: list[Results], docs: Path = DOCS) -> None:
    made = pages(runs)
    for old in (docs / MEASUREMENTS).glob("*.md"):
        old.unlink()
    for name, text in made.items():
        (docs / name).parent.mkdir(parents=True, exist_ok=True)
        (docs / name).write_text(text, encoding="utf-8")


def committed(folder: Path = RUNS) -> list[Results]:
    """What the pages are made from: of each suite the last run that is kept, and first the run of the most suites."""
    runs = sorted(map(read, folder.glob("*.json")), key=lambda run: run.made.started, reverse=True)
    chosen, known = [], set()
    for run in runs:
        last = [suite for suite in run.suites if suite.name not in known]
        known.update(suite.name for suite in last)
        if last:
            names = {suite.name for suite in last}
            thresholds = [limit for limit in run.thresholds if limit.suite in names]
            failures = [failure for failure in run.failures if failure.partition(":")[0] in names]
            chosen.append(replace(run, suites=last, thresholds=thresholds, failures=failures))
    return sorted(chosen, key=lambda run: len(run.suites), reverse=True)


def pages(runs: list[Results]) -> dict[str, str]:
    """By their names in `docs`: first what people read, then all measurements, and what to plan."""
    made = {ANSWER: _answer(runs), f"{MEASUREMENTS}/README.md": _text(_overview(runs))}
    for run in runs:
        for suite in run.suites:
            made[f"{MEASUREMENTS}/{suite_page.file_name(suite)}"] = _text(suite_page.lines(run, suite))
    if counted := list(shares.lines()):
        made[f"{MEASUREMENTS}/{INSTRUCTIONS}"] = _text(counted)
    made[CAPACITY] = capacity.page(runs, WRITTEN)
    return made


def _answer(runs: list[Results]) -> str:
    every = _together(runs)
    parts = {
        "written": WRITTEN,
        "verdict": _text(_verdict(every)).strip(),
        "answer": _text(line for grid in answer.tables(runs) for line in section(grid, 3)).strip(),
        "start": _text(_start(runs)).strip(),
        "dearest": _text(_dearest(every)).strip(),
        "tls": _text(_tls(runs)).strip(),
        "measured": _text(_measured(runs)).strip(),
        "pages": _text(_links(runs, f"../{MEASUREMENTS}/")).strip(),
    }
    text = TEXT.read_text(encoding="utf-8")
    for name, said in parts.items():
        text = text.replace(f"{{{name}}}", said)
    return text


def _together(runs: list[Results]) -> Results:
    """What all runs say, as one."""
    return replace(
        runs[0],
        suites=[suite for run in runs for suite in run.suites],
        thresholds=[limit for run in runs for limit in run.thresholds],
        failures=[failure for run in runs for failure in run.failures],
    )


def _verdict(results: Results) -> Iterator[str]:
    verdict = facts.verdict(results)
    yield f"**{escape(verdict.said)}.** {verdict.thresholds}."
    if verdict.faults:
        yield ""
        yield from (f"- {escape(one)}" for one in verdict.faults)
    if verdict.lateness:
        yield from ("", f"Late, not wrong: {verdict.lateness}.")
    failed = [limit for limit in results.thresholds if limit.measured is not None and not limit.passed]
    if failed:
        yield from ("", "Over their threshold:", "")
        yield from table(grids.thresholds(failed))


def _start(runs: list[Results]) -> Iterator[str]:
    """What the sidecar takes before anybody asks."""
    suites = (suite for run in runs for suite in run.suites if suite.name == "sidecar")
    for suite in suites:
        for one in suite.extra:
            yield from section(grids.of_table(one), 3)


def _tls(runs: list[Results]) -> Iterator[str]:
    """What the bridges take, and what TLS takes without them."""
    for suite in (suite for run in runs for suite in run.suites if suite.name == "tls"):
        for one in (*suite.beside, *suite.extra):
            yield from section(grids.of_table(one), 3)


def _dearest(results: Results) -> Iterator[str]:
    if (dearest := grids.dearest(results)).rows:
        yield from ("## Where it costs most", "")
        yield from table(dearest)


def _measured(runs: list[Results]) -> Iterator[str]:
    first = runs[0]
    yield f"{escape(facts.machine(first))}. With {escape(facts.versions(first))}."
    yield ""
    for run in runs:
        suites = ", ".join(escape(suite.name) for suite in run.suites)
        verdict = facts.verdict(run)
        yield (
            f"- {suites}: commit {escape(facts.commit(run))}, {escape(run.made.started)}, {facts.amount(run)}; "
            f"{escape(facts.noise(run))}. {escape(verdict.said)}."
        )


def _overview(runs: list[Results]) -> Iterator[str]:
    yield from ("# Measurements", "", WRITTEN, f"What they come to is in [what it costs](../../{ANSWER}).", "")
    yield from _links(runs, "")
    yield from ("", "## How to read them", "")
    yield "Figures are medians over the rounds, and in parentheses the least to the most; ratios are taken within a"
    yield f"round, and a dash is what was not measured. {words.SIDECAR}"
    yield ""
    targets = {target.name: target.what for run in runs for target in run.targets}
    yield from (f"- `{name}`: {escape(what)}" for name, what in targets.items())
    yield ""
    yield from (f"- {escape(one)}" for one in (*words.READING, grids.COST_NOTE, f"{bodies.TITLE}: {bodies.NOTE}"))


def _links(runs: list[Results], folder: str) -> Iterator[str]:
    for run in runs:
        for suite in run.suites:
            yield f"- [{escape(suite.name)}]({folder}{suite_page.file_name(suite)}): {escape(suite.what)}"
    yield f"- [instructions]({folder}{INSTRUCTIONS}): where the instructions of one transaction go"


def _text(lines: Iterator[str] | list[str]) -> str:
    return "\n".join(lines) + "\n"
