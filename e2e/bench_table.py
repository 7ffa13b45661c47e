"""What it costs to seal a large table in place, and to read and update it through the sidecar afterwards.

`ROWS=1000000` in one table with one protected column, and in one with twenty; each step in five parts or rounds, and
medians of them. Rows a second, and CPU seconds of each program for the whole step. A measurement on whatever machine
this is, on a server that does not wait for its disk: quote ratios rather than absolutes.
"""

import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import psycopg

from harness import Options, Stack, shop
from tools.layout import FIELDVEIL, TOOLS

ROWS = int(os.environ.get("ROWS", "1000000"))
PARTS = 5
SECONDS = 4
CLIENTS = 4
DATABASE = "bench"
# Table: how many of its columns are protected. Odd ones are randomized, even ones deterministic.
TABLES = {"one": 1, "twenty": 20}
SETTINGS = {"log_statement": "none", "log_checkpoints": "off", "shared_buffers": "512MB", "max_wal_size": "8GB",
            "autovacuum": "off"}  # fmt: skip
RESULT = TOOLS / "bench-table.json"


@dataclass
class Step:
    """One step in its parts: rows a second of each, and CPU seconds of all."""

    name: str
    rows: int = 0
    rates: list[float] = field(default_factory=list)
    cpu: dict[str, float] = field(default_factory=dict)


class Meter:
    def __init__(self, stack: Stack) -> None:
        self._stack = stack

    def part(self, step: Step, work: Callable[[], int]) -> None:
        """`work` gives the rows it did."""
        before, began = self._cpu(), time.monotonic()
        rows = work()
        seconds = time.monotonic() - began
        step.rows += rows
        step.rates.append(rows / seconds)
        for name, value in self._cpu().items():
            step.cpu[name] = step.cpu.get(name, 0) + value - before[name]

    def _cpu(self) -> dict[str, float]:
        own = resource.getrusage(resource.RUSAGE_CHILDREN)
        return {
            "client": own.ru_utime + own.ru_stime,
            "Envoy": self._stack.envoy.cpu_seconds(),
            "PostgreSQL": _with_children(self._stack.postgres.process.pid),
        }


def _with_children(pid: int) -> float:
    """Of a process, of its children that ended, and of those that live."""
    server = psutil.Process(pid)
    while True:
        try:
            living = sum(sum(child.cpu_times()[:2]) for child in server.children())
        except psutil.NoSuchProcess:
            continue  # it ended just now, and the server counts it
        return sum(server.cpu_times()[:4]) + living


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def columns(table: str) -> list[str]:
    return [f"c{number}" for number in range(1, TABLES[table] + 1)]


def write_policies(folder: Path) -> Path:
    def label(number: int) -> dict:
        protection = "randomized" if number % 2 else "deterministic"
        return {"protection": protection, "keyset": "pii", "type": "text", "on_plaintext": "reveal"}

    fields = {
        f"public.{table}": {name: label(int(name[1:])) for name in columns(table)} for table in TABLES
    }  # fmt: skip
    rule = {
        "name": "the application works with everything",
        "who": {"session": {"user": ["app"]}},
        "labels": ["public.*.*"],
        "read": {"treatment": "reveal"},
        "write": "seal",
    }
    database = {"protocol": "postgres", "database": DATABASE, "columns": fields}
    for name, data in (("catalog", {"databases": [database]}), ("rules", {"rules": [rule]})):
        path = folder / name / "bench" / "data.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(data))
    return folder / "catalog"


def fill(stack: Stack, table: str) -> None:
    names = columns(table)
    values = ", ".join(f"lpad((i * {7 + n} %% 1000000007)::text, 11, '0')" for n in range(len(names)))
    with stack.direct(database=DATABASE) as direct:
        direct.execute(f"CREATE TABLE {table} (id bigint PRIMARY KEY, {', '.join(f'{name} text' for name in names)})")
        direct.execute(f"INSERT INTO {table} SELECT i, {values} FROM generate_series(1::bigint, %s) i", [ROWS])
        shop.allow_all(direct, table)
        direct.execute(f"VACUUM ANALYZE {table}")
        direct.execute("CHECKPOINT")


class Bench:
    def __init__(self, stack: Stack, catalog: Path) -> None:
        self.stack = stack
        self.catalog = catalog
        self.meter = Meter(stack)
        server = stack.postgres
        self.direct = psycopg.conninfo.make_conninfo(
            host=str(server.socket_dir), port=server.port, user="postgres", dbname=DATABASE
        )
        self.through = stack.dsn("app", DATABASE)

    def table(self, table: str) -> list[Step]:
        say(f"{table}: filling {ROWS:,} rows …")
        fill(self.stack, table)
        plain_read = self.read(table, "read, plaintext, direct", self.direct)
        plain_update = Step("update, plaintext, direct")
        sealed = self.seal(table)
        with self.stack.direct(database=DATABASE) as direct:
            direct.execute(f"VACUUM ANALYZE {table}")
            direct.execute("CHECKPOINT")
        verified = Step("verify")
        self.meter.part(verified, lambda: self.run("verify", table)["rows"])
        sealed_read = self.read(table, "read, through the sidecar", self.through)
        sealed_update = Step("update, through the sidecar")
        for number in range(PARTS):
            say(f"{table}: update {number + 1} of {PARTS} …")
            self.meter.part(sealed_update, lambda: self.update(table, self.through))
            self.meter.part(plain_update, lambda: self.update(table, self.direct))
        return [sealed, verified, plain_read, sealed_read, plain_update, sealed_update]

    def seal(self, table: str) -> Step:
        step = Step("seal")
        for number, part in enumerate(self.run("ranges", table, "--count", PARTS)["ranges"]):
            say(f"{table}: seal {number + 1} of {PARTS} …")
            bounds = [word for name, key in part.items() if key for word in (f"--{name}", key[0])]
            self.meter.part(step, lambda bounds=bounds: self.run("seal", table, *bounds)["written"])
        return step

    def read(self, table: str, name: str, url: str) -> Step:
        step = Step(name)
        names = ", ".join(columns(table))
        for number in range(PARTS):
            first, last = ROWS * number // PARTS, ROWS * (number + 1) // PARTS
            rows = f"SELECT id, {names} FROM {table} WHERE id > {first} AND id <= {last}"

            def work(rows: str = rows) -> int:
                command = [self.stack.postgres.program("psql"), "-XAtq", "-c", f"COPY ({rows}) TO STDOUT", url]
                with tempfile.TemporaryFile() as out:
                    subprocess.run(command, stdout=out, check=True)
                return ROWS // PARTS

            self.meter.part(step, work)
        return step

    def update(self, table: str, url: str) -> int:
        sets = ", ".join(f"{name} = :v::text" for name in columns(table))
        script = self.stack.work.path / "update.sql"
        script.write_text(
            f"\\set id random(1, {ROWS})\n\\set v random(10000000000, 99999999999)\n"
            f"UPDATE {table} SET {sets} WHERE id = :id;\n"
        )
        pgbench = self.stack.postgres.program("pgbench")
        command = [pgbench, "-n", "-M", "prepared", "-c", CLIENTS, "-j", 1, "-T", SECONDS, "-f", script, url]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
        if done.returncode or re.search(r"failed transactions: [1-9]", done.stdout):
            raise SystemExit(f"an update failed\n{done.stdout}{done.stderr}")
        return int(re.search(r"transactions actually processed: (\d+)", done.stdout)[1])

    def run(self, command: str, table: str, *words: object) -> dict:
        given = ["--table", f"public.{table}", "--direct", self.direct, "--output", "json"]
        if command != "ranges":
            given += ["--catalog", self.catalog, "--keysets", self.stack.agent.keysets]
        if command == "seal":
            given += ["--through", self.through]
        done = subprocess.run(
            [str(word) for word in (FIELDVEIL, "table", command, *given, *words)],
            stdout=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip
        return json.loads(done.stdout)


def show(table: str, steps: list[Step]) -> None:
    print(f"\n{TABLES[table]} protected column(s), {ROWS:,} rows:\n")
    print("| step | rows | rows/s, median (min to max) | CPU s: client | Envoy | PostgreSQL | CPU µs a row, all |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for step in steps:
        rates = f"{statistics.median(step.rates):,.0f} ({min(step.rates):,.0f} to {max(step.rates):,.0f})"
        cpu = " | ".join(f"{step.cpu[name]:.1f}" for name in ("client", "Envoy", "PostgreSQL"))
        total = sum(step.cpu.values()) / step.rows * 1e6
        print(f"| {step.name} | {step.rows:,} | {rates} | {cpu} | {total:.0f} |")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        catalog = write_policies(Path(folder))
        options = Options(policies=(Path(folder),), envoy_log_level="warn", postgres_settings=SETTINGS)
        with Stack(options).start() as stack:
            with stack.postgres.connect() as superuser:
                superuser.execute(f"CREATE DATABASE {DATABASE}")
            bench = Bench(stack, catalog)
            results = {table: bench.table(table) for table in TABLES}
    RESULT.write_text(json.dumps({table: [vars(step) for step in steps] for table, steps in results.items()}))
    for table, steps in results.items():
        show(table, steps)
    print(f"\nThe client is fieldveil, psql or pgbench ({CLIENTS} clients). One Envoy worker; no waiting for the disk.")
    print(f"The figures are in {RESULT.relative_to(TOOLS.parent)}.")


if __name__ == "__main__":
    main()
