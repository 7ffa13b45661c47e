"""Results as a run might find them, made of a fixed seed: with all that a report has to show."""

import random
from dataclasses import replace

from loadtests import body_costs
from loadtests.body_costs import BYTES
from loadtests.report import document
from loadtests.results import (
    PERCENTILES,
    Made,
    Measurement,
    Published,
    Results,
    ScenarioResult,
    SuiteResult,
    Table,
    TargetInfo,
    ThresholdResult,
    Usage,
)
from loadtests.summary import SuiteSummary

MIB = 1 << 20
# What a name should never do.
EVIL = "<img src=x onerror=\"document.title='taken'\">"
# How much slower than the server itself, and the CPU of the proxy in µs for each row of an operation.
TARGETS = {"direct": (1.0, None), "envoy-tcp": (1.25, 14.0), "envoy-noop": (1.4, 22.0), "fieldveil": (1.9, 42.0)}
HTTP_TARGETS = {"direct-http": (1.0, None), "envoy-http": (1.6, 45.0), "fieldveil-json": (3.0, 160.0)}
ABOUT = {
    "direct": "straight to PostgreSQL",
    "envoy-tcp": "Envoy's TCP proxy, no filter",
    "envoy-noop": "the filter with an empty plan",
    "fieldveil": "the filter, the fields protected",
}
OLTP = [
    f"{what}-{mode}-{clients}"
    for what in ("point-read", "insert", "update", "equality-search")
    for mode in ("prepared", "extended", "simple")
    for clients in (1, 8)
]


def results(seed: int = 1, *, slower: float = 1.0, rounds: int = 3) -> Results:
    """`slower`: what the filter costs, times this."""
    return _Maker(random.Random(seed), slower, rounds).results()


def with_bodies(found: Results, *, slower: float = 1.0) -> Results:
    """With a suite of bodies over HTTP, whose targets are others."""
    suite = _Maker(random.Random(7), slower, found.made.rounds).bodies()
    targets = [*found.targets, *(TargetInfo(name, name) for name in HTTP_TARGETS)]
    others = [one for one in found.suites if one.name != suite.name]
    return replace(found, suites=[*others, suite], targets=targets)


def evil(found: Results) -> Results:
    """With markup wherever a name or a text can stand."""
    first = found.suites[0]
    named = replace(first.scenarios[0], name=EVIL, what=EVIL, unit=EVIL)
    # A key of a scenario, a series, a column; a title; a cell.
    table = Table(EVIL, [EVIL, "100"], [[EVIL, "1"]], EVIL, {EVIL: {EVIL: 1.0}, "other": {EVIL: 2.0}}, EVIL)
    published = Published(EVIL, EVIL, EVIL, table)
    suite = SuiteResult(EVIL, EVIL, [named], published, [table], [table])
    limit = ThresholdResult(EVIL, EVIL, EVIL, 1.0, 2.0, False, EVIL)
    made = replace(found.made, commit=EVIL, started=EVIL, machine={"processor": EVIL}, versions={EVIL: EVIL})
    return replace(found, suites=[suite, *found.suites[1:]], thresholds=[limit], made=made)


def documents(*runs: Results) -> str:
    """All documents that are made from these runs, one after the other."""
    return "\n".join(document.pages(list(runs)).values())


class _Maker:
    def __init__(self, chance: random.Random, slower: float, rounds: int) -> None:
        self.chance = chance
        self.slower = slower
        self.rounds = rounds

    def results(self) -> Results:
        return Results(
            self._made(),
            [TargetInfo(name, what) for name, what in ABOUT.items()],
            [self._fieldproc(), self._ztpf(), self._oltp(), SuiteResult("json", "Bodies over HTTP: not yet.", [])],
            [
                ThresholdResult(
                    "oltp", OLTP[0], "cpu_us.sidecar / envoy-tcp", 4.0, 2.98 * self.slower, self.slower < 1.3,
                    "AES in software",
                ),
                ThresholdResult("oltp", OLTP[0], "latency_us.50 / direct", 3.0, 1.92, True, "a hop and the AES"),
                ThresholdResult("mysql", "point-read", "latency_us.50 / direct", 3.0, None, False, "as above"),
            ],
        )  # fmt: skip

    def _made(self) -> Made:
        return Made(
            commit="cb332fa0c0f3010b0bb5292062dba2c0a0738cc2",
            modified=False,
            started="2026-11-22T00:17:03Z",
            seconds=912.4,
            scale=1.0,
            rounds=self.rounds,
            machine={
                "processor": "AMD EPYC 7B13",
                "cores": "2",
                "memory_bytes": str(8 << 30),
                "kernel": "Linux 6.1.0",
                "system": "Debian GNU/Linux 12 (bookworm)",
            },
            versions={
                "envoy": "1.40.0",
                "postgresql": "18.4",
                "opa": "1.22.0",
                "k6": "1.8.1",
                "filter_bytes": "4970000",
            },
            noise={"spin_ms": [41.2, 42.0, 44.9, 41.5], "steal_percent": [0.0, 0.4, 0.1, 0.2]},
        )

    def _oltp(self) -> SuiteResult:
        found = []
        for name in OLTP:
            clients = int(name.rsplit("-", 1)[1])
            mode = name.rsplit("-", 2)[1]
            work = {"kind": "closed", "clients": clients, "seconds": 2.0}
            if name.startswith("update"):
                work = {"kind": "arrival", "clients": clients, "seconds": 2.0, "rate": 400.0}
            scenario = self._scenario(
                name, "Three protected columns of one row.", "transaction", work, 120.0 * clients, mode
            )
            found.append(scenario)
        # One target answered wrongly, one has no figures of the server.
        found[1] = self._spoilt(found[1])
        return SuiteResult("oltp", "Point reads, inserts, updates and searches with three protected columns.", found)

    def _spoilt(self, scenario: ScenarioResult) -> ScenarioResult:
        def spoil(one: Measurement) -> Measurement:
            if one.target == "fieldveil" and one.round == 2:
                return replace(one, wrong_answers=2, errors=1)
            if one.target == "envoy-noop":
                return replace(one, usage={"proxy": one.usage["proxy"]}, latency_us={"50": one.latency_us["50"]})
            return one

        return replace(scenario, measurements=[spoil(one) for one in scenario.measurements])

    def _fieldproc(self) -> SuiteResult:
        calls = 500
        found = [
            self._scenario(
                f"{what}-{fields}", f"The whole table, {fields} of its fields protected.", "row",
                {"kind": "fixed", "clients": 1, "operations": calls}, 40.0,
            )
            for what in ("protect", "read", "update")
            for fields in (1, 5, 20)
        ]  # fmt: skip
        theirs = Table(
            "1,000,000 rows, one field of six",
            ["what", "records/s", "application CPU, s"],
            [["protect", "14,705", "34.33"], ["read", "16,129", "37.43"], ["update", "11,363", "81.26"]],
        )
        published = Published("FIELDPROC on IBM i", "Townsend Security, 2011.", "IBM i 7.1, one POWER7 core.", theirs)
        beside = Table(
            "Records a second, one protected field",
            ["what", "theirs", "ours"],
            [["protect", "14,705", "21,000"], ["read", "16,129", "48,000"], ["update", "11,363", "9,800"]],
            "On other machines, fifteen years apart: set beside each other, not against.",
            {
                "theirs": {"protect": 14705, "read": 16129, "update": 11363},
                "ours": {"protect": 21000, "read": 48000, "update": 9800},
            },
            "records/s",
        )
        return SuiteResult(
            "fieldproc", "A table of six fields, protected, read and updated as a whole.", found, published, [beside]
        )

    def _ztpf(self) -> SuiteResult:
        found = [
            self._scenario(
                f"message-{size}", f"Messages of {size} bytes.", "message",
                {"kind": "arrival", "clients": 4, "seconds": 2.0, "rate": 500.0}, 90.0 + size / 50,
            )
            for size in (100, 1_000, 32_000)
        ]  # fmt: skip
        sizes = (64, 256, 1_024, 4_096, 65_536)
        costs = {
            name: {str(size): round(base + size * each) for size in sizes}
            for name, base, each in (
                ("randomized", 1_650, 11.0),
                ("deterministic", 3_900, 24.0),
                ("indexed", 3_200, 11.2),
                ("format_preserving", 48_000, 90.0),
            )
        }
        rows = [[name, *(f"{series[str(size)]:,}" for size in sizes)] for name, series in costs.items()]
        seal = Table("One seal in Envoy's V8", ["protection", *map(str, sizes)], rows, "", costs, "ns an operation")
        theirs = Table("Added CPU", ["bytes", "%"], [["100", "12"], ["32,000", "140"]])
        published = Published("z/TPF and CPACF", "IBM, 2005.", "System z990.", theirs)
        return SuiteResult(
            "ztpf-crypto",
            "Messages of many sizes at a steady rate, and the ciphers alone.",
            found,
            published,
            [],
            [seal],
        )

    def bodies(self) -> SuiteResult:
        kinds = [("1KB", 1), *((size, fields) for size in ("1MB", "10MB") for fields in (1, 10, 100))]
        # µs of a byte and of a field.
        latencies = {kind: 80 + BYTES[kind[0]] / 500 + 8.0 * kind[1] for kind in kinds}
        found = [
            self._scenario(
                f"{operation}-{size}-{fields}", "A body.", "body", {"kind": "closed", "clients": 1, "seconds": 2.0},
                latency, "http/1.1", HTTP_TARGETS,
            )
            for operation in ("open", "seal")
            for (size, fields), latency in latencies.items()
        ]  # fmt: skip
        steady = {"kind": "arrival", "clients": 8, "seconds": 2.0, "rate": 400.0}
        found.append(
            self._scenario("open-1KB-10-400-a-second", "A body.", "body", steady, 90.0, "http/1.1", HTTP_TARGETS)
        )
        suite = SuiteResult("json", "JSON bodies.", found)
        return replace(suite, beside=body_costs.tables(SuiteSummary(suite)))

    def _scenario(
        self,
        name: str,
        what: str,
        unit: str,
        work: dict,
        latency: float,
        mode: str = "prepared",
        targets: dict[str, tuple] = TARGETS,
    ) -> ScenarioResult:
        ours = [
            self._measurement(target, number, work, latency)
            for number in range(1, self.rounds + 1)
            for target in targets
        ]
        return ScenarioResult(name, what, unit, work, mode, "app", ours)

    def _measurement(self, target: str, number: int, work: dict, latency: float) -> Measurement:
        slow, cpu = {**TARGETS, **HTTP_TARGETS}[target]
        if target in ("fieldveil", "fieldveil-json"):
            slow, cpu = slow * self.slower, cpu * self.slower
        middle = latency * slow * self._about(0.03)
        clients = work["clients"]
        match work["kind"]:
            case "closed":
                seconds = work["seconds"]
                operations = int(seconds * clients / middle * 1e6)
            case "arrival":
                seconds = work["seconds"]
                operations = int(seconds * work["rate"])
            case _:
                # A hundred rows a call.
                operations = 100 * work["operations"]
                seconds = operations * middle / 1e6
        names = ("min", *PERCENTILES, "max")
        curve = (0.6, 0.65, 0.72, 0.78, 0.88, 1.0, 1.15, 1.4, 1.7, 2.8, 3.4, 7.0, 30.0)
        usage = {
            "server": self._usage(60.0 * latency / 120, operations, 300),
            "client": self._usage(30, operations, 90),
        }
        if cpu is not None:
            usage["proxy"] = self._usage(cpu * latency / 120, operations, 60 if target == "envoy-tcp" else 210)
        if target in ("fieldveil", "fieldveil-json"):
            usage["opa"] = self._usage(0.2, operations, 45)
            usage["agent"] = self._usage(0.05, operations, 18)
        latencies = {
            name: round(middle * factor * self._about(0.02), 1) for name, factor in zip(names, curve, strict=True)
        }
        calls = work["operations"] if work["kind"] == "fixed" else operations
        statements = {name: round(0.8 * latency, 1) for name, latency in latencies.items()}
        return Measurement(
            target, number, operations, round(seconds, 4), latencies, usage, operations, 0, 0,
            sql_us=statements if work["kind"] == "closed" else {}, calls=calls,
        )  # fmt: skip

    def _usage(self, cpu_us: float, operations: int, mebibytes: int) -> Usage:
        cpu = cpu_us * operations / 1e6 * self._about(0.03)
        return Usage(round(cpu, 6), int(mebibytes * MIB * self._about(0.01)), int(operations * 1.4 * self._about(0.03)))

    def _about(self, share: float) -> float:
        return 1 + self.chance.uniform(-share, share)
