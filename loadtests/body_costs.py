"""What the filter adds to a JSON body: latency, CPU by the megabyte and by the field, memory."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from loadtests.figures import NONE, added, spread
from loadtests.results import Table
from loadtests.rig import HTTP_TARGETS, Rig
from loadtests.scenario import Fixed, Scenario, Suite
from loadtests.summary import Figure, ScenarioSummary, SuiteSummary

ENVOY, OURS, NATIVE = "envoy-http", "fieldveil-json", "fieldveil-json-native"
# Of a request alone, without the script's look at the answer; of an arrival rate from when it was due.
LATENCY = {"closed": "sql_us.50", "fixed": "sql_us.50", "arrival": "latency_us.50"}
CPU = "cpu_us.sidecar"
BYTES = {"1KB": 1e3, "10KB": 1e4, "1MB": 1e6, "10MB": 1e7}
# The smallest of which a megabyte's share says something.
BULK = ("1MB", "10MB")
FEW, MANY = 1, 100
OPERATIONS = {"open": "responses opened", "seal": "requests sealed"}
# Bodies at once, and so many of each size, for memory.
AT_ONCE = 4
AMOUNTS = {"1KB": 400, "1MB": 40, "10MB": 16}
MIB = 1 << 20
COLUMNS = [
    "scenario",
    f"p50 of a request, {ENVOY}, µs",
    "added, µs",
    "÷",
    f"CPU of a body, {ENVOY}, µs",
    "added, µs",
    "÷",
    "added a MB, µs",
]
ADDED_NOTE = (
    "A request is timed to its answer's last byte, without the client's look at it; of an arrival rate a call is, from "
    "when it was due. CPU is that of Envoy, OPA and the key agent. A MB is a million bytes of the body in clear."
)
SHARES_NOTE = (
    "A field: what bodies of 100 fields add more than those of 1, divided by 99. A MB: what bodies of 10 MB with 1 "
    "field add more than those of 1 MB, divided by 9. Differences within a round: where the range holds 0, it is noise."
)
MEMORY_NOTE = (
    f"A new Envoy with one worker, the steps one after the other; {AT_ONCE} bodies at once, with 100 fields (of 1 KB "
    "with 10), responses, then requests. The most that was ever resident until then (VmHWM); V8 is in the WebAssembly "
    "filter's."
)


def tables(summary: SuiteSummary) -> list[Table]:
    found = summary.scenarios()
    return [table for table in (_added(found), _shares(found)) if table.rows]


def _added(found: dict[str, ScenarioSummary]) -> Table:
    rows, values = [], {}
    for name, scenario in found.items():
        measure = LATENCY[scenario.kind or "closed"]
        size = next((size for size in BYTES if size in name.split("-")), "")
        more = scenario.added(CPU, OURS, ENVOY)
        rows.append(
            [
                name,
                spread(scenario.figure(measure, ENVOY)),
                added(scenario, measure, OURS, ENVOY),
                spread(scenario.ratio(measure, OURS, ENVOY)),
                spread(scenario.figure(CPU, ENVOY)),
                spread(more),
                spread(scenario.ratio(CPU, OURS, ENVOY)),
                spread(more, 1e6 / BYTES[size]) if size in BULK else NONE,
            ]
        )
        operation, _, kind = name.partition("-")
        if more and operation in OPERATIONS and scenario.kind != "arrival":
            values.setdefault(OPERATIONS[operation], {})[kind] = more.median
    return Table("What the filter adds to a body", COLUMNS, rows, ADDED_NOTE, values, "µs of CPU a body")


def _shares(found: dict[str, ScenarioSummary]) -> Table:
    """Of a field and of a megabyte, by what one more of it adds."""
    rows = []
    for operation, what in OPERATIONS.items():
        for size in BYTES:
            few, many = (found.get(f"{operation}-{size}-{fields}") for fields in (FEW, MANY))
            if few and many:
                rows.append([f"{what}, {size}", "a field", spread(_share(few, many, MANY - FEW))])
        small, large = (found.get(f"{operation}-{size}-{FEW}") for size in BULK)
        if small and large:
            rows.append([what, "a MB", spread(_share(small, large, (BYTES["10MB"] - BYTES["1MB"]) / 1e6))])
    return Table("Added CPU by the field and by the megabyte", ["bodies", "of", "added CPU, µs"], rows, SHARES_NOTE)


def _share(less: ScenarioSummary, more: ScenarioSummary, parts: float) -> Figure | None:
    """What one part of the difference adds, within each round."""
    first, second = (scenario.added_by_round(CPU, OURS, ENVOY) for scenario in (less, more))
    return Figure.of([(second[number] - first[number]) / parts for number in second if number in first])


@dataclass(frozen=True)
class _Step:
    name: str
    scenarios: list[Scenario]


def memory(rig: Rig, suite: Suite, scale: float, *, timed: bool) -> list[Table]:
    """Of new Envoys, with the filter and without, that bodies pass through, ever larger ones."""
    # Not where the answers alone are looked at: the scenarios did so.
    if not timed:
        return []
    steps = list(_steps(suite, scale))
    ways = {name: _most(rig, suite, name, steps, scale) for name in (ENVOY, OURS, NATIVE)}
    rows = [[what, *(f"{ways[name][what] / MIB:,.0f}" for name in ways)] for what in ways[OURS]]
    values = {name: {what: most / MIB for what, most in found.items()} for name, found in ways.items()}
    return [
        Table("Memory of a new Envoy", ["after", *(f"{name}, MiB" for name in ways)], rows, MEMORY_NOTE, values, "MiB")
    ]


def _steps(suite: Suite, scale: float) -> Iterator[_Step]:
    known = {scenario.name: scenario for scenario in suite.scenarios(scale)}
    for size, amount in AMOUNTS.items():
        fields = 10 if size == "1KB" else MANY
        ours = [known[f"{operation}-{size}-{fields}"] for operation in OPERATIONS]
        yield _Step(
            f"{amount:,} bodies of {size} each way", [replace(one, workload=Fixed(AT_ONCE, amount)) for one in ours]
        )


def _most(rig: Rig, suite: Suite, name: str, steps: list[_Step], scale: float) -> dict[str, float]:
    # The runner imports the suites' scenarios, not they it.
    from loadtests.runner import RunFailed, Runner

    target = HTTP_TARGETS[name]
    proxy = rig.service.envoy(target, f"memory-{name}")
    folder = rig.work.path / f"memory-{name}"
    folder.mkdir()
    runner = Runner([], scale, 1, folder)
    try:
        proxy.start()
        live = rig.service.live(target, proxy)
        found = {"start": _peak(proxy.process.pid)}
        for step in steps:
            for scenario in step.scenarios:
                measured = runner.measure(rig, suite, scenario, live, 1)
                if measured.errors or measured.wrong_answers or not measured.answers:
                    counts = f"{measured.errors} errors, {measured.wrong_answers} of {measured.answers} answers wrong"
                    raise RunFailed(f"{step.name} through a new {name}: {counts}")
            # The kernel's own figure is some pages off now and then, and may be less than the one before.
            found[step.name] = max(_peak(proxy.process.pid), *found.values())
        return found
    finally:
        proxy.stop()


def _peak(pid: int) -> float:
    """The most that was ever resident, in bytes."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return float(line.split()[1]) * 1024
    raise ValueError(f"the kernel tells no VmHWM of process {pid}")
