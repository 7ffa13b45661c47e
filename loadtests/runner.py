"""Runs suites: each scenario on each target in interleaved rounds.

So a machine whose speed drifts slows all targets alike.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import msgspec

from dev.layout import K6, ROOT
from loadtests import cores, environment
from loadtests.failures import Failed
from loadtests.figures import plural
from loadtests.results import Made, Measurement, Results, ScenarioResult, SuiteResult, TargetInfo
from loadtests.rig import Databases, LiveDatabase, LiveHttp, MySqlLive, Rig
from loadtests.scenario import Arrival, Fixed, Mode, Scenario, Suite
from loadtests.summary import SuiteSummary

SCRIPT = ROOT / "loadtests" / "k6" / "main.js"
# Connections are opened, plans are fetched and statements prepared before anything is measured.
WARM_UP_SECONDS = 0.25
# What other programs may take of the cores, beside a latency that is to hold no wait for them; how often it is measured
# until they take no more; and how long, in all, a suite waits until they do not before it measures.
QUIET_PERCENT = 10.0
TRIES = 2
PATIENCE_SECONDS = 150.0
LOOK_SECONDS = 0.2
# Of PostgreSQL, the driver that speaks in each mode, and the option that makes it.
DRIVERS: dict[Mode, tuple[str, dict[str, str]]] = {
    "prepared": ("pgx", {}),
    "extended": ("postgres", {}),
    "simple": ("pgx", {"default_query_exec_mode": "simple_protocol"}),
}
# Everything stays on this machine.
ENVIRONMENT = {"K6_AUTO_EXTENSION_RESOLUTION": "false", "K6_NO_USAGE_REPORT": "true"}


class RunFailed(Failed):
    """A measurement that could not be made; the text carries the end of k6's log."""


@dataclass
class Measured:
    """What a suite's scenarios found so far."""

    scenarios: list[Scenario] = field(default_factory=list)
    measurements: dict[str, list[Measurement]] = field(default_factory=dict)

    def result(self, suite: Suite) -> SuiteResult:
        results = [scenario_result(one, self.measurements.get(one.name, [])) for one in self.scenarios]
        return SuiteResult(suite.name, suite.what, results, suite.published)

    def begun(self, suite: Suite) -> SuiteResult:
        """Without scenarios of which nothing was measured before the suite ended."""
        result = self.result(suite)
        return replace(result, scenarios=[one for one in result.scenarios if one.measurements])


@dataclass
class Runner:
    suites: list[Suite]
    scale: float
    rounds: int
    # Where k6's work documents, results and logs go.
    folder: Path
    # So many calls of a script in place of so many seconds: to look at answers, and time nothing.
    calls: int | None = None
    # Names of those that are looked at; None: all.
    targets: tuple[str, ...] | None = None
    # How the cores are divided while a suite runs that asks for it.
    _division: cores.Division | None = field(default=None, init=False)
    # Seconds for which that suite still waits for other programs.
    _patience: float = field(default=0.0, init=False)

    def run(self) -> Results:
        started = time.monotonic()
        noise = environment.Noise()
        found: list[SuiteResult] = []
        failures: list[str] = []
        with self.rig() as rig:
            for suite in self.suites:
                measured = Measured()
                try:
                    with self._divided(rig, suite) as divided:
                        found.append(replace(self._suite(rig, suite, noise, measured), cores=divided))
                except Failed as failure:
                    say(f"  FAILED: {failure}")
                    failures.append(f"{suite.name}: {failure}")
                    found.append(measured.begun(suite))
            servers = self._servers(rig)
            # The same ways to another server are the same targets.
            targets = dict.fromkeys(TargetInfo(live.target.name, live.target.what) for live in rig.live.values())
        made = self.made(time.monotonic() - started, noise, servers)
        return Results(made, list(targets), found, failures=failures)

    def rig(self) -> Rig:
        """What they run on; another runner has another."""
        return Rig(self.suites)

    def made(self, seconds: float, noise: environment.Noise, servers: dict[str, str]) -> Made:
        """Where it was run, and of what; `servers` with their versions."""
        return environment.made(seconds, self.scale, self.rounds, noise, servers)

    def others(self) -> environment.Others | None:
        """What else runs where the suites do; None where that is not this machine."""
        return environment.Others()

    def _servers(self, rig: Rig) -> dict[str, str]:
        """The versions of those that a suite asks."""
        asked = {suite.protocol for suite in self.suites}
        found = {"postgresql": rig.version()} if "postgres" in asked else {}
        return {**found, "mariadb": rig.mysql.version()} if "mysql" in asked else found

    def _suite(self, rig: Rig, suite: Suite, noise: environment.Noise, found: "Measured") -> SuiteResult:
        say(f"{suite.name}: {suite.what}")
        suite.prepare(_place(rig, suite), self.scale)
        self._rounds(rig, suite, suite.scenarios(self.scale), noise, found)
        if paced := suite.paced(SuiteSummary(found.result(suite)), self.scale):
            self._rounds(rig, suite, paced, noise, found)
        extra = suite.extra(rig, self.scale) if suite.extra else []
        result = replace(found.result(suite), extra=extra)
        return replace(result, beside=suite.beside(SuiteSummary(result)))

    def _rounds(
        self, rig: Rig, suite: Suite, scenarios: list[Scenario], noise: environment.Noise, found: "Measured"
    ) -> None:
        found.scenarios += scenarios
        for number in range(1, self.rounds + 1):
            noise.sample()
            for scenario in scenarios:
                for live in self._turned(rig, suite, scenario, number):
                    measured = self._undisturbed(rig, suite, scenario, live, number)
                    found.measurements.setdefault(scenario.name, []).append(measured)

    def _undisturbed(
        self, rig: Rig, suite: Suite, scenario: Scenario, live: LiveDatabase | LiveHttp, number: int
    ) -> Measurement:
        """Where the generator has a core of its own, other programs may still take it: then once more, and of all
        tries that which they disturbed least. What was found has no say in it, unless it is wrong."""
        tries: list[Measurement] = []
        for _ in range(TRIES if self._division else 1):
            self._await_quiet()
            measured = self.measure(rig, suite, scenario, live, number)
            if measured.wrong_answers or measured.errors:
                return measured
            tries.append(measured)
            if measured.others_percent <= QUIET_PERCENT:
                break
        return min(tries, key=lambda one: one.others_percent)

    def _await_quiet(self) -> None:
        """Returns when other programs leave the cores, or the suite's patience has ended."""
        while self._division and self._patience > 0:
            others = environment.Others()
            time.sleep(LOOK_SECONDS)
            self._patience -= LOOK_SECONDS
            if others.percent() <= QUIET_PERCENT:
                # Only what was waited in vain counts.
                self._patience += LOOK_SECONDS
                return

    @contextmanager
    def _divided(self, rig: Rig, suite: Suite) -> Iterator[str]:
        """The generator has a core of its own where the suite asks for it; gives how that is, in words."""
        # Where nothing is timed, nothing is gained by it.
        if not suite.own_core or self.calls is not None:
            yield ""
            return
        self._division, self._patience = cores.division(), PATIENCE_SECONDS
        try:
            if not self._division:
                yield cores.described(None)
                return
            with cores.confined(_pids(rig), self._division.others):
                yield cores.described(self._division)
        finally:
            self._division = None

    def measure(
        self, rig: Rig, suite: Suite, scenario: Scenario, live: LiveDatabase | LiveHttp, number: int
    ) -> Measurement:
        """One scenario at one target, once."""
        place = _place(rig, suite)
        more = (scenario.before(place, live) or {}) if scenario.before else {}
        name = f"{suite.name}.{scenario.name}.{live.name}.{number}"
        work = self._work(rig, suite, scenario, live, more)
        others = self.others()
        found = self.k6(name, work)
        taken = others.percent() if others else None
        known = {"target": live.name, "round": number, "others_percent": taken}
        calls = sum(found.get("histogram", {}).get("counts", {}).values())
        measured = msgspec.convert({"calls": calls, **found, **known}, Measurement)
        if scenario.after:
            scenario.after(place, live)
        # After an error nobody knows which writes there were; that fails the run by itself.
        if scenario.stored and not measured.errors:
            scenario.stored(place, live, measured.answers)
        rate = measured.operations / measured.seconds if measured.seconds else 0
        dropped = f", {measured.dropped:,} dropped" if measured.dropped else ""
        said = f"{rate:>12,.0f} {plural(scenario.unit)}/s{dropped}"
        say(f"  {number}/{self.rounds} {scenario.name:<32} {live.name:<14} {said}")
        if measured.wrong_answers or measured.errors:
            say(f"  WRONG: {measured.wrong_answers} wrong answers, {measured.errors} errors")
        return measured

    def k6(self, name: str, work: dict) -> dict:
        """What k6 found for one work document."""
        document, result, log = (self.folder / f"{name}.{kind}" for kind in ("work.json", "result.json", "log"))
        document.touch(mode=0o600)
        document.write_text(json.dumps({**work, "result": str(result)}))
        try:
            with (
                log.open("wb") as output,
                cores.inherited(self._division.generator) if self._division else nullcontext(),
            ):
                done = subprocess.run(
                    [K6, "run", "--quiet", "--no-color", "--address", "", SCRIPT],
                    env={**os.environ, **ENVIRONMENT, "WORK": str(document)},
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    check=False,
                )
        finally:
            # A password stands in it.
            document.unlink()
        if not result.exists():
            tail = "\n".join(f"  k6 | {line}" for line in log.read_text(errors="replace").splitlines()[-20:])
            raise RunFailed(f"{name}: k6 ended with {done.returncode} and no result; its log is {log}\n{tail}")
        found = json.loads(result.read_text(), parse_float=_rounded)
        for failure in found.get("failures", []):
            say(f"    | {failure}")
        if done.returncode and not (found["wrong_answers"] or found["errors"]):
            raise RunFailed(f"{name}: k6 ended with {done.returncode}; its log is {log}")
        return found

    def _work(self, rig: Rig, suite: Suite, scenario: Scenario, live: LiveDatabase | LiveHttp, more: dict) -> dict:
        workload = scenario.workload
        if self.calls is not None and not isinstance(workload, Fixed):
            workload = Fixed(workload.clients, max(self.calls, workload.clients))
        return {
            "suite": suite.name,
            "scenario": scenario.name,
            "script": scenario.script,
            "target": live.name,
            "sealed": live.sealed,
            **_way(scenario, live),
            "mode": scenario.mode,
            "user": scenario.user,
            # What the script and the suite share: files to copy from and to.
            "folder": str(rig.work.path),
            "data": {**scenario.data, **more},
            "workload": {"rate": 0, "seconds": 0, "operations": 0, **asdict(workload)},
            "warm_up_seconds": 0 if isinstance(workload, Fixed) else self._warm_up(workload),
            "processes": live.processes(),
        }

    def _warm_up(self, workload: object) -> float:
        # Each client has its turn before the window opens.
        turns = 1.5 * workload.clients / workload.rate if isinstance(workload, Arrival) else 0
        return max(WARM_UP_SECONDS, turns)

    def _turned(self, rig: Rig, suite: Suite, scenario: Scenario, number: int) -> list[LiveDatabase | LiveHttp]:
        """The scenario's targets, each round beginning with another."""

        def wanted(name: str) -> bool:
            return all(names is None or name in names for names in (scenario.targets, self.targets))

        ours = [
            live
            for live in rig.live.values()
            if live.target.protocol == suite.protocol and (suite.tls or not live.target.over_tcp)
        ]
        targets = [live for live in ours if wanted(live.name)]
        first = (number - 1) % max(1, len(targets))
        return targets[first:] + targets[:first]


def _place(rig: Rig, suite: Suite) -> Rig | Databases:
    """What a suite is given: of MySQL's protocol the other server's databases."""
    return rig.mysql if suite.protocol == "mysql" else rig


def _pids(rig: Rig) -> set[int]:
    """Of everything that stands between the clients and what is stored."""
    words = {word for live in rig.live.values() for given in live.processes().values() for word in given}
    return {int(number) for kind, _, number in (word.partition(":") for word in words) if kind in ("pid", "tree")}


def _way(scenario: Scenario, live: LiveDatabase | LiveHttp) -> dict:
    """What speaks to the target, and where."""
    if isinstance(live, LiveHttp):
        return {"driver": "http", "dsn": "", "socket": str(live.socket), "headers": live.headers(scenario.user)}
    if isinstance(live, MySqlLive):
        return {"driver": "mysql", "dsn": live.dsn(scenario.user)}
    driver, options = DRIVERS[scenario.mode]
    dsn = live.dsn(scenario.user) + "".join(f" {k}={v}" for k, v in options.items())
    return {"driver": driver, "dsn": dsn}


def scenario_result(scenario: Scenario, measurements: list[Measurement]) -> ScenarioResult:
    workload = asdict(scenario.workload)
    return ScenarioResult(
        scenario.name, scenario.what, scenario.unit, workload, scenario.mode, scenario.user, measurements
    )


def _rounded(number: str) -> float:
    """To millionths, of seconds and of microseconds alike: more is noise, and makes results large."""
    return round(float(number), 6)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
