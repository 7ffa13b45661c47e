"""What the sidecar takes before anybody asks anything: its size, its start, its memory."""

import contextlib
import statistics

from dev.layout import FILTER_NATIVE, FILTER_WASM
from harness.envoy import Envoy
from loadtests import figures
from loadtests.results import Table
from loadtests.rig import TARGETS, Rig, Target
from loadtests.scenario import Suite
from loadtests.summary import Figure

STARTS = 5
CONNECTIONS = 300
WAYS = ("envoy-tcp", "fieldveil", "fieldveil-native")
FIELDS = {"ssn": {"protection": "deterministic", "type": "text"}}


def prepare(rig: Rig, scale: float) -> None:
    rig.tables("CREATE TABLE idle (id bigint PRIMARY KEY, ssn text)")


def measure(rig: Rig, scale: float) -> list[Table]:
    starts = max(1, round(STARTS * min(scale, 1)))
    connections = max(10, round(CONNECTIONS * min(scale, 1)))
    found: dict[str, dict[str, list[float]]] = {name: {} for name in WAYS}
    for number in range(starts):
        for name in WAYS:
            for what, value in _start(rig, TARGETS[name], number, 0 if number else connections).items():
                found[name].setdefault(what, []).append(value)
    sizes = (f"{module.stat().st_size / 1e6:.2f}" for module in (FILTER_WASM, FILTER_NATIVE))
    rows = [["size of the module, MB", "", *sizes]]
    for what in found["fieldveil"]:
        rows.append([what, *(figures.spread(Figure.of(found[name][what])) for name in WAYS)])
    return [
        Table(
            title=f"Envoy with one worker, {starts} starts each in turn",
            columns=["", *WAYS],
            rows=rows,
            note="Ready when its admin interface says so: with the WebAssembly filter, V8 has compiled it then. "
            "Memory is what is resident, of Envoy alone. An idle connection has read a protected table once.",
            values={name: {what: statistics.median(values) for what, values in found[name].items()} for name in found},
        )
    ]


def _start(rig: Rig, target: Target, number: int, connections: int) -> dict[str, float]:
    name = f"start-{target.name}-{number}"
    envoy = rig.envoy(name, with_filter=target.filter, native=target.native)
    try:
        envoy.start()
        found = {"seconds until ready": envoy.ready_seconds, "memory when ready, MiB": envoy.memory_bytes() / 2**20}
        if connections:
            _idle(rig, envoy, connections)
            found[f"memory with {connections} idle connections, MiB"] = envoy.memory_bytes() / 2**20
        return found
    finally:
        envoy.stop()


def _idle(rig: Rig, envoy: Envoy, connections: int) -> None:
    """So many at once, each of which has read a protected table."""
    live = rig.live["fieldveil"].at(envoy.socket("postgres").parent)
    with contextlib.ExitStack() as stack:
        for _ in range(connections):
            stack.enter_context(live.connect()).execute("SELECT ssn FROM idle WHERE id = 1")


SUITE = Suite(
    name="sidecar",
    what="what the sidecar takes before anybody asks: size, time to start, memory",
    scenarios=lambda scale: [],
    prepare=prepare,
    fields={"public.idle": FIELDS},
    extra=measure,
)
