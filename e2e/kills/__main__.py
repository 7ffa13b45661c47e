"""`python -m kills --seed 1 --kills 50 --database postgres`: see the package's text."""

import argparse
import random
import sys
import time
from dataclasses import dataclass

from harness import waiting
from harness.envoy import SHELL
from kills import check
from kills.clients import Client, Reader, Run, Writer
from kills.databases import DATABASES, Database
from kills.ledger import Ledger

WRITERS, READERS = 3, 2
# Changes that are acknowledged between two kills, and the seconds after the last of them: at random, up to these.
CHANGES, PAUSE_SECONDS = 60, 0.02


@dataclass
class Report:
    seed: int
    kills: int
    seconds: float
    done: dict[str, int]
    rows: int
    wrong: list[str]
    ledger: Ledger

    @property
    def in_doubt(self) -> int:
        """Changes that were on their way when Envoy was killed."""
        return sum(count for what, count in self.done.items() if what.startswith("changes in doubt"))

    def __str__(self) -> str:
        counts = ", ".join(f"{what} {count}" for what, count in sorted(self.done.items()))
        lines = [
            f"seed {self.seed}, shell {SHELL}: {self.kills} kills in {self.seconds:.0f} s; {counts}; {self.rows} rows",
            *(f"WRONG: {text}" for text in self.wrong),
            f"{len(self.wrong)} wrong",
        ]
        return "\n".join(lines)


def run(database: Database, seed: int, kills: int) -> Report:
    """Kills Envoy so often; the database's stack has started. Its server is ended by the last check."""
    started, rng, work = time.monotonic(), random.Random(seed), Run(database)
    clients: list[Client] = [Writer(work, rng.random(), number) for number in range(1, WRITERS + 1)]
    clients += [Reader(work, rng.random()) for _ in range(READERS)]
    for client in clients:
        client.thread.start()
    killed = 0
    try:
        while killed < kills and not work.stopping.is_set():
            _let_work(work, rng.randrange(1, CHANGES))
            time.sleep(rng.uniform(0, PAUSE_SECONDS))
            database.envoy.process.kill()
            killed += 1
            database.envoy.start()
        _let_work(work, CHANGES)
    finally:
        work.stopping.set()
        for client in clients:
            client.thread.join()
    wrong = [*work.wrong, *check.of_rows(database, work.ledger), *check.of_files(database)]
    return Report(seed, killed, time.monotonic() - started, dict(work.done), len(work.numbers), wrong, work.ledger)


def _let_work(work: Run, changes: int) -> None:
    """Until so many more changes are acknowledged, or a client has seen what must not be."""
    before = work.done["changes acknowledged"]
    waiting.until(
        lambda: work.stopping.is_set() or work.done["changes acknowledged"] >= before + changes,
        "changes to be acknowledged",
        poll=0.005,
    )


def main() -> int:
    arguments = argparse.ArgumentParser(description="kill Envoy at random moments, and look for what is lost or wrong")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--kills", type=int, default=50)
    arguments.add_argument("--database", choices=DATABASES, default="postgres")
    told = arguments.parse_args()
    database = DATABASES[told.database]()
    with database.stack.start():
        report = run(database, told.seed, told.kills)
    print(report)
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
