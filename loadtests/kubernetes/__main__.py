"""`python -m loadtests.kubernetes run|merge|policies …`: the suites in the cluster that kubectl is set up for."""

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psycopg

from loadtests import __main__ as command
from loadtests.failures import Failed
from loadtests.kubernetes import logs, places
from loadtests.kubernetes.cluster import Cluster, ClusterFailed
from loadtests.kubernetes.histogram import UnequalHistograms
from loadtests.kubernetes.merge import UnmergeableResults
from loadtests.kubernetes.remote import NotReady
from loadtests.kubernetes.runner import ClusterRunner
from loadtests.results import Results
from loadtests.rig import policies
from loadtests.runner import say
from loadtests.scenario import Scenario, Suite


class UnknownScenario(Exception):
    """A name that no suite has."""


FAILURES = (
    places.BadPlaces,
    ClusterFailed,
    NotReady,
    Failed,
    UnequalHistograms,
    UnknownScenario,
    UnmergeableResults,
    psycopg.Error,
)


def main(words: list[str]) -> int:
    arguments = _parser().parse_args(words)
    try:
        return arguments.do(arguments)
    except FAILURES as failure:
        say(str(failure))
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="loadtests.kubernetes", description=__doc__)
    commands = parser.add_subparsers(required=True)
    run = commands.add_parser("run", help="fill the tables, measure, and write the results")
    run.add_argument("places", type=Path, help="the file that says where the targets are")
    command.add_amount(run)
    # Runners begin some tens of milliseconds after each other: against windows of ten seconds, that is little.
    run.set_defaults(scale=10.0)
    run.add_argument("--scenario", help="names of theirs divided by commas; all")
    run.add_argument("--parallelism", type=int, choices=range(1, 1000), default=2, metavar="N", help="runners; 2")
    run.add_argument("--image", default="fieldveil-loadtests:1", help="as the nodes pull it")
    run.add_argument("--namespace", default="loadtests", help="of runners and meters")
    run.add_argument("--drop", action="store_true", help="drop what is in schema public of both databases")
    run.set_defaults(do=_run)
    merged = commands.add_parser("merge", help="make results of the logs of a TestRun that was made by hand")
    merged.add_argument("work", type=Path, help="its work document")
    merged.add_argument("runners", type=Path, nargs="+", help="a log each")
    merged.add_argument("--meter", type=Path, action="append", default=[], help="a meter's log")
    merged.set_defaults(do=_merge)
    told = commands.add_parser("policies", help="write the catalog and the rules that the targets' OPA needs")
    told.add_argument("--suite", type=command.suites, default=[one for one in command.SUITES.values() if not one.tls])
    told.add_argument("folder", type=Path)
    told.set_defaults(do=_policies)
    return parser


def narrowed(suites: list[Suite], names: str | None, scale: float) -> list[Suite]:
    """The suites as they run here, with these scenarios alone; a name that none of them has is refused."""
    # What is measured by other means than k6 is of the machine that measures it.
    here = [replace(suite, extra=None, own_core=False) for suite in suites]
    if names is None:
        return here
    wanted = names.split(",")
    known = {scenario.name for suite in suites for scenario in suite.scenarios(scale)}
    if unknown := [name for name in wanted if name not in known]:
        raise UnknownScenario(f"no such scenario: {', '.join(unknown)}; there are: {', '.join(sorted(known))}")

    def chosen(suite: Suite) -> Callable[[float], list[Scenario]]:
        return lambda scale: [scenario for scenario in suite.scenarios(scale) if scenario.name in wanted]

    # Figures of others are set beside those of all scenarios, and what is paced needs what all of them found.
    nothing = {"beside": lambda summary: [], "paced": lambda summary, scale: []}
    return [replace(suite, scenarios=chosen(suite), **nothing) for suite in here]


def _run(arguments: argparse.Namespace) -> int:
    known = places.read(arguments.places)
    folder = command.new_folder()
    runner = ClusterRunner(
        narrowed(arguments.suite, arguments.scenario, arguments.scale),
        arguments.scale,
        arguments.rounds,
        folder / "k6",
        places=known,
        cluster=Cluster(arguments.namespace),
        parallelism=arguments.parallelism,
        image=arguments.image,
        drop=arguments.drop,
    )
    return _finish(runner.run(), folder)


def _merge(arguments: argparse.Namespace) -> int:
    results = logs.results(arguments.work, arguments.runners, arguments.meter)
    return _finish(results, command.new_folder())


def _finish(results: Results, folder: Path) -> int:
    command.write(results, folder)
    return 0 if command.is_right(results) else 1


def _policies(arguments: argparse.Namespace) -> int:
    policies.write(arguments.suite, arguments.folder)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        # What was made in the cluster is gone by now.
        sys.exit(130)
