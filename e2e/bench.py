"""What the sidecar costs, in a few minutes: the module's size, Envoy's start, Envoy's CPU per transaction.

A smoke measurement on whatever machine this is: quote the ratios, not the absolutes. Rounds are interleaved, so
that a machine whose speed drifts slows all targets alike; the figures are medians, with the smallest and the
largest beside them.
"""

import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

from harness import Options, Stack, shop
from harness.stack import PLAIN, SEALED
from tools.layout import FILTER_WASM, TOOLS

STARTS = 5
ROUNDS = 5
SECONDS = 4
CLIENTS = 4
ROWS = 1000
SCRIPT = f"\\set id random(1, {ROWS})\nSELECT email, ssn, phone FROM customer WHERE id = :id;\n"
RESULT = TOOLS / "bench-smoke.json"

# Name, listener, database, what it is.
TARGETS = (
    ("envoy-tcp", PLAIN, shop.PLAIN_DATABASE, "Envoy's TCP proxy alone"),
    ("empty-plan", SEALED, shop.PLAIN_DATABASE, "the filter, nothing protected"),
    ("fieldveil", SEALED, shop.DATABASE, "the filter, three columns opened"),
)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def fill(stack: Stack) -> None:
    """The same rows in both databases: sealed through the sidecar in one, plain in the other."""
    with stack.direct(database=shop.PLAIN_DATABASE) as direct:
        direct.execute(shop.CREATE_TABLE)
        shop.allow_all(direct, shop.TABLE)
    for database in (shop.DATABASE, shop.PLAIN_DATABASE):
        with stack.connect("app", database) as connection:
            connection.cursor().executemany(
                "INSERT INTO customer (id, email, ssn, phone) VALUES (%s, %s, %s, %s)",
                [(n, f"u{n}@example.com", f"{n:03d}-55-{n:04d}", f"+1 555 {n:07d}") for n in range(1, ROWS + 1)],
            )


def transactions(stack: Stack, script: Path, listener: str, database: str) -> tuple[float, float]:
    """Transactions per second, and microseconds of Envoy's CPU for each."""
    folder = stack.socket_dir if listener == SEALED else stack.plain_socket_dir
    command = [
        stack.postgres.program("pgbench"), "-n", "-M", "prepared", "-c", CLIENTS, "-j", 1, "-T", SECONDS, "-f", script,
        "-h", folder, "-p", 5432, "-U", "app", database,
    ]  # fmt: skip
    before = stack.envoy.cpu_seconds()
    done = subprocess.run(
        [str(word) for word in command],
        env={**os.environ, "PGPASSWORD": shop.PASSWORD},
        capture_output=True,
        text=True,
        check=True,
    )
    cpu = stack.envoy.cpu_seconds() - before
    count = int(re.search(r"transactions actually processed: (\d+)", done.stdout)[1])
    if re.search(r"number of failed transactions: [1-9]", done.stdout):
        raise SystemExit(f"a transaction failed\n{done.stdout}{done.stderr}")
    return count / SECONDS, cpu / count * 1e6


def starts(options: Options) -> list[float]:
    """Seconds from Envoy's start until it is ready, several times."""
    found = []
    with Stack(options).start() as stack:
        for _ in range(STARTS):
            stack.envoy.stop()
            stack.envoy.start()
            found.append(stack.envoy.ready_seconds)
    return found


def spread(values: list[float], digits: int = 2) -> str:
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def main() -> None:
    say(f"Envoy's start, {STARTS} times each …")
    start = {"without the filter": starts(Options(filter=False)), "with the filter": starts(Options())}
    rates: dict[str, list[float]] = {name: [] for name, *_ in TARGETS}
    cpu: dict[str, list[float]] = {name: [] for name, *_ in TARGETS}
    with Stack(Options(plain=True, envoy_log_level="warn")).start() as stack:
        fill(stack)
        script = stack.work.path / "point-read.sql"
        script.write_text(SCRIPT)
        for number in range(ROUNDS):
            say(f"round {number + 1} of {ROUNDS} …")
            for name, listener, database, _ in TARGETS:
                rate, microseconds = transactions(stack, script, listener, database)
                rates[name].append(rate)
                cpu[name].append(microseconds)
        memory = stack.envoy.memory_bytes()
    size = FILTER_WASM.stat().st_size
    RESULT.write_text(
        json.dumps({"module_bytes": size, "ready_seconds": start, "rates": rates, "cpu_us": cpu, "rss": memory})
    )

    print(f"\nModule: {size:,} bytes. Envoy's memory at the end: {memory / 2**20:.0f} MiB.\n")
    print("| Envoy | seconds until ready, median (min to max) |\n| --- | --- |")
    for name, seconds in start.items():
        print(f"| {name} | {spread(seconds)} |")
    print("\n| target | | Envoy CPU, µs a transaction | more than envoy-tcp, µs | ratio | transactions a second |")
    print("| --- | --- | --- | --- | --- | --- |")
    base = cpu["envoy-tcp"]
    for name, _, _, what in TARGETS:
        added = [ours - theirs for ours, theirs in zip(cpu[name], base, strict=True)]
        ratio = [ours / theirs for ours, theirs in zip(cpu[name], base, strict=True)]
        figures = (spread(cpu[name], 1), spread(added, 1), spread(ratio), spread(rates[name], 0))
        print(f"| {name} | {what} | {' | '.join(figures)} |")
    print(
        f"\npgbench -M prepared, {CLIENTS} clients, one Envoy worker, {ROUNDS} rounds of {SECONDS} s each, interleaved."
    )
    print(f"The figures are in {RESULT.relative_to(TOOLS.parent)}.")


if __name__ == "__main__":
    main()
