"""Whether the sidecar's memory and descriptors stay flat: clients that do a mix of everything for some minutes.

By hand (`make soak MINUTES=10`). The memory of a Wasm module never shrinks, so what leaks shows as a slope: the
medians of the second and of the last quarter are compared. The first quarter is for caches to fill.
"""

import argparse
import itertools
import random
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import psycopg

from harness import Options, Stack

CLIENTS = 4
ROWS = 500
SAMPLE_SECONDS = 1.0
TABLE_ROWS = 20
# What the last quarter may have more than the second: fragmentation, and buffers that were never needed before.
TOLERANCE, SLACK_BYTES = 0.02, 2 * 2**20
# Each client has one connection at a time, and Envoy two descriptors for it: what is sampled as one begins or ends.
SLACK_DESCRIPTORS = CLIENTS
MIB = 2**20
NOT_SUPPORTED, DENIED = "0A000", "42501"

UPSERT = (
    "INSERT INTO customer (id, name, email, ssn, phone, card, notes) VALUES (%s, %s, %s, %s, %s, %s, %s)"
    " ON CONFLICT (id) DO UPDATE SET phone = EXCLUDED.phone, notes = EXCLUDED.notes RETURNING ssn"
)
REFUSED = ("SELECT upper(ssn) FROM customer", "SELECT id FROM customer WHERE ssn LIKE '0%'", "SELEC ssn FROM customer")
# Texts that nobody sent before.
_serial = itertools.count()


@dataclass
class Work:
    """What all clients share."""

    stack: Stack
    until: float
    done: Counter = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


def row(number: int, notes: str = "a note") -> tuple:
    phone, card = f"+1 555 {number:07}", f"4111 1111 {number:08}"
    return number, "n", f"u{number}@example.com", f"{number:09}", phone, card, notes


def read(app: psycopg.Connection, rng: random.Random) -> None:
    number = rng.randrange(ROWS)
    app.execute("SELECT * FROM customer WHERE id = %s", [number], prepare=True).fetchall()
    app.cursor(binary=True).execute("SELECT email, card FROM customer WHERE ssn = %s", [f"{number:09}"]).fetchall()


def new_texts(app: psycopg.Connection, rng: random.Random) -> None:
    for _ in range(20):
        number = next(_serial)
        app.execute(f"SELECT ssn AS s_{number}, '{number}' FROM customer WHERE id = {number % ROWS}", prepare=False)
        app.execute(f"UPDATE customer SET notes = 'note {number}' WHERE ssn = '{number % ROWS:09}'")


def prepared(app: psycopg.Connection, rng: random.Random) -> None:
    name = f"p{next(_serial)}".encode()
    app.pgconn.prepare(name, b"SELECT ssn FROM customer WHERE email = $1")
    app.pgconn.exec_prepared(name, [b"u1@example.com"])
    app.execute(f"DEALLOCATE {name.decode()}")


def write(app: psycopg.Connection, rng: random.Random) -> None:
    number = rng.randrange(ROWS)
    app.execute(UPSERT, row(number))
    if rng.random() < 0.2:
        app.execute("DELETE FROM customer WHERE ssn = %s", [f"{number:09}"])


def large(app: psycopg.Connection, rng: random.Random) -> None:
    app.execute(UPSERT, row(rng.randrange(5), "x" * rng.randrange(200_000)))
    app.execute("SELECT notes FROM customer WHERE id < 5").fetchall()


def pipeline(app: psycopg.Connection, rng: random.Random) -> None:
    with app.pipeline():
        # In one order for all clients, or they would lock each other out.
        for number in sorted(rng.sample(range(5, ROWS), 50)):
            app.execute(UPSERT, row(number))


def transaction(app: psycopg.Connection, rng: random.Random) -> None:
    with app.transaction(force_rollback=rng.random() < 0.5):
        # One row in a transaction: two of them in another order would be a deadlock.
        app.execute(UPSERT, row(rng.randrange(5, ROWS)))


def refusals(app: psycopg.Connection, rng: random.Random) -> None:
    result = app.pgconn.exec_(rng.choice(REFUSED).encode())
    code = (result.error_field(psycopg.pq.DiagnosticField.SQLSTATE) or b"").decode()
    if code != NOT_SUPPORTED:
        raise AssertionError(f"a statement to refuse ended with {code or 'success'}")


def scan(app: psycopg.Connection, rng: random.Random) -> None:
    app.execute("SELECT id, email, ssn, phone, card FROM customer").fetchall()


MIX: tuple[tuple[Callable, int], ...] = (
    (read, 40), (write, 20), (new_texts, 10), (prepared, 10), (transaction, 8), (refusals, 6), (pipeline, 4),
    (large, 2), (scan, 2),
)  # fmt: skip


def client(work: Work, seed: int) -> None:
    """One client after another: each does some of the mix and leaves."""
    rng = random.Random(seed)
    activities, weights = zip(*MIX, strict=True)
    try:
        while time.monotonic() < work.until:
            with work.stack.connect("app") as app:
                for _ in range(rng.randrange(1, 300)):
                    if time.monotonic() > work.until:
                        break
                    activity = rng.choices(activities, weights)[0]
                    activity(app, rng)
                    work.done[activity.__name__] += 1
            with work.stack.connect("support") as support:
                support.execute("SELECT ssn, email FROM customer WHERE id < 20").fetchall()
            work.done["connection"] += 2
    except Exception as error:
        work.failures.append(f"{type(error).__name__}: {error}")


@dataclass(frozen=True)
class Sample:
    at: float
    work: int
    rss: int
    # Open ones of Envoy's process: sockets, files and what its threads wait on.
    descriptors: int
    # By name, in bytes: Envoy's allocator, and gauges of the module if it has some.
    gauges: dict[str, int]


def sample(work: Work, started: float) -> Sample:
    stats = work.stack.envoy.stats()
    names = ("server.memory_allocated", "server.memory_heap_size")
    gauges = {name: value for name, value in stats.items() if name in names or _is_memory_of_module(name)}
    envoy = work.stack.envoy
    return Sample(time.monotonic() - started, work.done.total(), envoy.memory_bytes(), envoy.descriptor_count(), gauges)


def _is_memory_of_module(name: str) -> bool:
    return name.startswith("wasmcustom.fieldveil.") and "memory" in name


def is_flat(values: list[int], slack: int) -> tuple[bool, float, float]:
    """Whether the last quarter is as high as the second, and the two medians."""
    quarter = len(values) // 4
    second, last = statistics.median(values[quarter : 2 * quarter]), statistics.median(values[-quarter:])
    return last <= second * (1 + TOLERANCE) + slack, second, last


def table(samples: list[Sample]) -> None:
    names = list(samples[-1].gauges)
    print("\n| seconds | pieces of work | RSS, MiB | descriptors |" + "".join(f" {name}, MiB |" for name in names))
    print("| --- |" + " --- |" * (3 + len(names)))
    for each in samples[:: max(1, len(samples) // TABLE_ROWS)]:
        gauges = "".join(f" {each.gauges.get(name, 0) / MIB:.1f} |" for name in names)
        print(f"| {each.at:.0f} | {each.work} | {each.rss / MIB:.1f} | {each.descriptors} |{gauges}")


def verdict(samples: list[Sample]) -> bool:
    series = {"RSS": [each.rss for each in samples]}
    series |= {name: [each.gauges.get(name, 0) for each in samples] for name in samples[-1].gauges}
    print()
    results = []
    for name, values in series.items():
        flat, second, last = is_flat(values, SLACK_BYTES)
        results.append(flat)
        word = "flat" if flat else "NOT flat"
        print(f"{name}: {word}; median of the second quarter {second / MIB:.1f} MiB, of the last {last / MIB:.1f} MiB")
    flat, second, last = is_flat([each.descriptors for each in samples], SLACK_DESCRIPTORS)
    results.append(flat)
    word = "flat" if flat else "NOT flat"
    print(f"descriptors: {word}; median of the second quarter {second:.0f}, of the last {last:.0f}")
    return all(results)


def main() -> int:
    arguments = argparse.ArgumentParser(description="whether the sidecar's memory and descriptors stay flat")
    arguments.add_argument("--minutes", type=float, default=10.0)
    minutes = arguments.parse_args().minutes
    with Stack(Options(envoy_log_level="warn")).start() as stack:
        started = time.monotonic()
        work, pid = Work(stack, started + minutes * 60), stack.envoy.process.pid
        threads = [threading.Thread(target=client, args=(work, seed)) for seed in range(CLIENTS)]
        for thread in threads:
            thread.start()
        samples = []
        while any(thread.is_alive() for thread in threads):
            samples.append(sample(work, started))
            time.sleep(SAMPLE_SECONDS)
        lives = stack.envoy.process.running and stack.envoy.process.pid == pid
        stats = stack.envoy.stats("wasm.fieldveil.vm_reload")
    table(samples)
    print("\n" + ", ".join(f"{name} {count}" for name, count in work.done.most_common()))
    for failure in work.failures:
        print(f"FAILED: {failure}")
    flat = verdict(samples)
    good = flat and lives and not work.failures and not any(stats.values())
    reloads = stats.get("wasm.fieldveil.vm_reload_success", 0)
    print(f"\n{'flat' if flat else 'NOT flat'}; the module was reloaded {reloads} times")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
