"""Entry point: `python -m loadtests run|smoke|compare|document|list …`."""

import argparse
import datetime
import sys
from dataclasses import replace
from pathlib import Path

from dev.layout import TOOLS
from loadtests import report, thresholds
from loadtests.failures import Failed
from loadtests.report.document import ANSWER, DOCS, MEASUREMENTS, RUNS, committed
from loadtests.results import Results, UnreadableResults, read
from loadtests.runner import Runner, say
from loadtests.scenario import Suite
from loadtests.suites import SUITES, present
from loadtests.summary import SuiteSummary

FOLDER = TOOLS / "loadtests"
# Every suite, all ways through the filter, every answer looked at; nothing that depends on how fast the machine is.
SMOKE_SCALE = 0.001
SMOKE_CALLS = 10
SMOKE_TARGETS = (
    *("envoy-noop", "fieldveil", "fieldveil-native"),
    *("envoy-http", "fieldveil-json", "fieldveil-json-native"),
)


def main(words: list[str]) -> int:
    arguments = _parser().parse_args(words)
    return arguments.do(arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="loadtests", description=__doc__)
    commands = parser.add_subparsers(required=True)
    run = commands.add_parser("run", help="measure, and write a report")
    add_amount(run)
    run.set_defaults(do=_run)
    smoke = commands.add_parser("smoke", help="look at every answer of every suite once, and time nothing")
    smoke.add_argument("--suite", type=suites, default=present())
    smoke.set_defaults(do=_smoke)
    comparing = commands.add_parser("compare", help="say what changed between two runs beyond the noise")
    comparing.add_argument("old", type=Path, metavar="A.json")
    comparing.add_argument("new", type=Path, metavar="B.json")
    comparing.set_defaults(do=_compare)
    document = commands.add_parser("document", help="write the documents of costs from the last runs in loadtests/runs")
    document.set_defaults(do=_document)
    listing = commands.add_parser("list", help="the suites")
    listing.set_defaults(do=_list)
    return parser


def add_amount(run: argparse.ArgumentParser) -> None:
    """What is run, and how much of it."""
    run.add_argument("--suite", type=suites, default=present(), help="names divided by commas; all")
    run.add_argument("--scale", type=_scale, default=1.0, help="how much of it; 1 takes some 35 minutes")
    run.add_argument("--rounds", type=int, choices=range(1, 100), default=3, metavar="N")


def _run(arguments: argparse.Namespace) -> int:
    folder = new_folder()
    found = Runner(arguments.suite, arguments.scale, arguments.rounds, folder / "k6").run()
    judged = thresholds.judge(thresholds.read(), found.suites)
    results = replace(found, thresholds=judged)
    write(results, folder)
    over = [result for result in judged if not result.passed]
    for result in over:
        measured = "not measured" if result.measured is None else f"{result.measured:.2f}"
        print(f"OVER: {result.suite}, {result.scenario}, {result.measure}: {measured}, at most {result.limit}")
    return 0 if is_right(results) and not over else 1


def write(results: Results, folder: Path) -> None:
    """The run, and its report."""
    results.write(folder / "results.json")
    report.write_markdown(results, folder / "report.md")
    report.write_html(results, folder / "report.html")
    print(f"report: {folder / 'report.html'}")


def _smoke(arguments: argparse.Namespace) -> int:
    folder = new_folder()
    results = Runner(arguments.suite, SMOKE_SCALE, 1, folder / "k6", SMOKE_CALLS, SMOKE_TARGETS).run()
    results.write(folder / "results.json")
    return 0 if is_right(results) else 1


def _compare(arguments: argparse.Namespace) -> int:
    print(report.compare(read(arguments.old), read(arguments.new)), end="")
    return 0


def _document(_: argparse.Namespace) -> int:
    runs = committed()
    if not runs:
        raise UnreadableResults(f"{RUNS}: no run is kept there; copy the results.json of one to it")
    report.write_document(runs)
    print(f"written from {', '.join(run.made.started for run in runs)}: {DOCS / ANSWER}, {DOCS / MEASUREMENTS}")
    return 0


def _list(_: argparse.Namespace) -> int:
    for suite in SUITES.values():
        print(f"{suite.name:<12} {suite.what}")
    return 0


def is_right(results: Results) -> bool:
    """A line a suite, and one for each measurement that is wrong."""
    summaries = [SuiteSummary(suite) for suite in results.suites]
    failed = {failure.partition(":")[0] for failure in results.failures}
    for summary in summaries:
        verdict = "FAILED" if summary.wrong() or summary.result.name in failed else "ok"
        print(f"{summary.result.name}: {verdict}, {summary.answers():,} answers looked at")
        for line in summary.wrong():
            print(f"  WRONG: {line}")
    for failure in results.failures:
        print(f"WRONG: {failure}")
    return not results.failures and not any(summary.wrong() for summary in summaries)


def new_folder() -> Path:
    """A new folder for what this run writes, and a link to it."""
    folder = FOLDER / datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%SZ")
    (folder / "k6").mkdir(parents=True)
    latest = FOLDER / "latest"
    latest.unlink(missing_ok=True)
    latest.symlink_to(folder.name)
    return folder


def suites(words: str) -> list[Suite]:
    unknown = [word for word in words.split(",") if word not in SUITES]
    if unknown:
        raise argparse.ArgumentTypeError(f"no such suite: {', '.join(unknown)}; there are: {', '.join(SUITES)}")
    return [SUITES[word] for word in words.split(",")]


def _scale(word: str) -> float:
    scale = float(word)
    if not 0 < scale <= 1000:
        raise argparse.ArgumentTypeError(f"{word}: give a number above 0, at most 1000; 1 takes some 35 minutes")
    return scale


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (Failed, UnreadableResults, report.ReportFailed) as failure:
        say(str(failure))
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
