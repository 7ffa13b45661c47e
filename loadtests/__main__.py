"""Entry point: `python -m loadtests run|smoke|list …`."""

import argparse
import datetime
import sys
from pathlib import Path

from loadtests.runner import Outcome, RunFailed, Runner, say
from loadtests.scenario import Suite
from loadtests.suites import SUITES
from tools.layout import TOOLS

FOLDER = TOOLS / "loadtests"
# Every suite, every target, every answer looked at; nothing that depends on how fast the machine is.
SMOKE_SCALE = 0.001
SMOKE_WARM_UP_SECONDS = 0.1


def main(words: list[str]) -> int:
    arguments = _parser().parse_args(words)
    return arguments.do(arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="loadtests", description=__doc__)
    commands = parser.add_subparsers(required=True)
    run = commands.add_parser("run", help="measure, and write a report")
    run.add_argument("--suite", type=_suites, default=list(SUITES.values()), help="names divided by commas; all")
    run.add_argument("--scale", type=_scale, default=1.0, help="how much of it; 1 takes about a quarter of an hour")
    run.add_argument("--rounds", type=int, choices=range(1, 100), default=3, metavar="N")
    run.set_defaults(do=_run)
    smoke = commands.add_parser("smoke", help="look at every answer of every suite once, and time nothing")
    smoke.add_argument("--suite", type=_suites, default=list(SUITES.values()))
    smoke.set_defaults(do=_smoke)
    listing = commands.add_parser("list", help="the suites")
    listing.set_defaults(do=_list)
    return parser


def _run(arguments: argparse.Namespace) -> int:
    folder = _folder()
    outcome = Runner(arguments.suite, arguments.scale, arguments.rounds, folder / "k6").run()
    outcome.results.write(folder / "results.json")
    print(f"results: {folder / 'results.json'}")
    return _verdict(outcome)


def _smoke(arguments: argparse.Namespace) -> int:
    folder = _folder()
    outcome = Runner(arguments.suite, SMOKE_SCALE, 1, folder / "k6", SMOKE_WARM_UP_SECONDS).run()
    outcome.results.write(folder / "results.json")
    return _verdict(outcome)


def _list(_: argparse.Namespace) -> int:
    for suite in SUITES.values():
        print(f"{suite.name:<12} {suite.what}")
    return 0


def _verdict(outcome: Outcome) -> int:
    answers = sum(
        measurement.answers
        for suite in outcome.results.suites
        for scenario in suite.scenarios
        for measurement in scenario.measurements
    )
    for line in outcome.wrong:
        print(f"WRONG: {line}")
    print(f"{answers:,} answers looked at, {'some were WRONG' if outcome.wrong else 'all right'}")
    return 1 if outcome.wrong else 0


def _folder() -> Path:
    """A new folder for what this run writes, and a link to it."""
    folder = FOLDER / datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%SZ")
    (folder / "k6").mkdir(parents=True)
    latest = FOLDER / "latest"
    latest.unlink(missing_ok=True)
    latest.symlink_to(folder.name)
    return folder


def _suites(words: str) -> list[Suite]:
    unknown = [word for word in words.split(",") if word not in SUITES]
    if unknown:
        raise argparse.ArgumentTypeError(f"no such suite: {', '.join(unknown)}; there are: {', '.join(SUITES)}")
    return [SUITES[word] for word in words.split(",")]


def _scale(word: str) -> float:
    scale = float(word)
    if not 0 < scale <= 1000:
        raise argparse.ArgumentTypeError(f"{word}: give a number above 0, at most 1000; 1 takes a quarter of an hour")
    return scale


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except RunFailed as failure:
        say(str(failure))
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
