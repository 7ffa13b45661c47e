"""Cryptography on z/TPF with CPACF, re-run: messages, the cipher calls themselves, and sessions.

- Messages of six lengths at a steady rate: a row with one field is written and read back. CPU a message, protected
  against not. The field's column is stored without compression, which would favour what is not sealed.
- The calls themselves (`loadtests/sealing`, `filters/bench`): what the filter calls to seal and to open one value, for
  every protection and key type, timed inside Envoy's V8 and natively, each normalised to the cheapest; and beside them
  all that the filter does in whole transactions, and where the microseconds of one go.
- Sessions: connect, SELECT 1, close. At every target that begins one at the server; and with and without TLS to the
  server, where there is one that takes it (`loadtests/sessions.py`).
"""

from dev.layout import BENCH_SEALING, BENCH_SEALING_SMOKE
from loadtests import sealing, sessions
from loadtests.figures import added, spread
from loadtests.results import Published, Table
from loadtests.rig import Live, Rig
from loadtests.runner import RunFailed
from loadtests.scenario import Arrival, Scenario, Suite
from loadtests.summary import SuiteSummary

# Bytes of a message, as theirs.
MESSAGES = (100, 250, 500, 1000, 10_000, 32_000)
# Messages begun each second: what every target can do with the longest on two cores. Of fewer, most of what is read is
# the proxy's waking.
RATE = 400
# For messages: `envoy-noop` is the same filter with the same statements, but for what protection adds.
TARGETS = ("direct", "envoy-tcp", "envoy-noop", "fieldveil", "fieldveil-native")
TABLE = """
CREATE TABLE message (id bigint PRIMARY KEY, body text);
ALTER TABLE message ALTER body SET STORAGE EXTERNAL;
"""
# Bytes of a value that is sealed and opened.
VALUES = (64, 256, 1024, 4096, 65_536)
SIDECAR = "cpu_us.sidecar"
# Below this scale answers are looked at, and nothing is timed.
TIMED = 0.01


def prepare(rig: Rig, scale: float) -> None:
    rig.tables(TABLE)


def empty(rig: Rig, live: Live) -> None:
    with rig.direct(live.database) as connection:
        connection.execute("TRUNCATE message")


def look(rig: Rig, live: Live) -> None:
    if live.sealed:
        rig.assert_sealed("message", "body")


def scenarios(scale: float) -> list[Scenario]:
    steady = Arrival(rate=RATE, seconds=max(0.3, 1.5 * scale), clients=8)
    messages = [
        Scenario(
            name=_name(size),
            what=f"a row with one protected field of {size:,} bytes, written and read back, {RATE} a second",
            script="message",
            workload=steady,
            unit="message",
            data={"bytes": size},
            targets=TARGETS,
            before=empty,
            after=look,
        )
        for size in MESSAGES
    ]
    return [*messages, sessions.scenario(scale)]


def _name(size: int) -> str:
    return f"message-{size}"


def extra(rig: Rig, scale: float) -> list[Table]:
    # Not where the parts run elsewhere: these run here.
    if not isinstance(rig, Rig):
        return []
    if scale < TIMED:
        amount, turns = sealing.Amount(VALUES, rounds=1, batch_ms=0, warm_up_ms=0), 1
        whole = sealing.Transactions(rounds=1, batch_ms=0, warm_up_ms=0)
        program = BENCH_SEALING_SMOKE
    else:
        amount, turns = sealing.Amount(VALUES, max(3, round(8 * scale)), batch_ms=1, warm_up_ms=20), 3
        whole = sealing.Transactions(max(3, round(8 * scale)), batch_ms=10, warm_up_ms=300)
        program = BENCH_SEALING
    try:
        found = sealing.tables(sealing.measure(rig.work, amount, turns, program))
        found += sealing.transaction_tables(sealing.measure(rig.work, whole, turns, program))
    except sealing.NotMeasured as error:
        raise RunFailed(str(error)) from error
    return [*found, sessions.with_and_without_tls(rig, scale, timed=scale >= TIMED)]


def beside(summary: SuiteSummary) -> list[Table]:
    """CPU a message, protected against not, by the length of their messages."""
    rows, values = [], {}
    found = summary.scenarios()
    for size in MESSAGES:
        scenario = found[_name(size)]
        rows.append(
            [
                f"{size:,}",
                *(spread(scenario.figure(SIDECAR, target)) for target in TARGETS[1:]),
                added(scenario, SIDECAR, "fieldveil", "envoy-noop"),
                spread(scenario.ratio(SIDECAR, "fieldveil", "envoy-noop")),
                spread(scenario.ratio(SIDECAR, "fieldveil", "envoy-tcp")),
                spread(scenario.ratio(SIDECAR, "fieldveil-native", "envoy-tcp")),
                spread(scenario.ratio("cpu_us.total", "fieldveil", "direct")),
            ]
        )
        for target in TARGETS[1:]:
            figure = scenario.figure(SIDECAR, target)
            if figure:
                values.setdefault(target, {})[str(size)] = figure.median
    columns = [
        "bytes",
        *(f"{target}, µs" for target in TARGETS[1:]),
        "fieldveil more than envoy-noop, µs",
        "fieldveil / envoy-noop",
        "fieldveil / envoy-tcp",
        "fieldveil-native / envoy-tcp",
        "with the server: fieldveil / direct",
    ]
    title = f"CPU of the sidecar a message, protected against not, {RATE} messages a second"
    note = f"{NO_FIGURES} {NOISE.format(_least(summary))}"
    return [Table(title, columns, rows, note, values, "µs a message")]


def _least(summary: SuiteSummary) -> int:
    found = summary.scenarios()
    return min((one.operations for size in MESSAGES for one in found[_name(size)].result.measurements), default=0)


NOISE = (
    "Rounds of {:,} messages or more. A message's CPU holds what the proxy takes to wake for it, which on a virtual "
    "machine differs by tens of microseconds from round to round: of short messages, look at the ranges."
)
NO_FIGURES = "Lengths and method are theirs. Their figures are not at hand, so none stand beside ours."
PUBLISHED = Published(
    title="Cryptography on z/TPF with CPACF",
    source="IBM, z/TPF and the CP Assist for Cryptographic Functions (CPACF), 2005",
    system="z/TPF on IBM mainframes whose processors have instructions for ciphers",
    figures=Table(
        title="What was measured",
        columns=["experiment", "theirs", "ours"],
        rows=[
            [
                "CPU a message, encrypted against not",
                "messages of 100 to 32,000 bytes at a steady rate",
                "a row with one field of that length, written and read back",
            ],
            [
                "ciphers side by side",
                "ratios to the cheapest",
                "the filter's own calls, for every protection and key type, in V8 and natively",
            ],
            [
                "sessions started a second",
                "with and without SSL",
                "with and without TLS from the sidecar to the server",
            ],
        ],
        note=NO_FIGURES,
    ),
)

SUITE = Suite(
    name="ztpf-crypto",
    what="messages of 100 to 32,000 bytes, the calls that seal and open, and sessions with and without TLS",
    scenarios=scenarios,
    prepare=prepare,
    fields={"public.message": {"body": {"protection": "randomized", "type": "text"}}},
    published=PUBLISHED,
    beside=beside,
    extra=extra,
)
