"""`python -m canary --seed 1 --count 2000`: see the package's text."""

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

from canary import database
from canary.differential import Differential
from canary.report import Report
from harness import Options, Stack
from harness.postgres import Postgres
from harness.workdir import WorkDir


def run(seed: int, count: int, verbose: bool = False) -> Report:
    """Starts both servers and everything between, and stops them again."""

    started = time.monotonic()

    def say(text: str) -> None:
        if verbose:
            print(f"{time.monotonic() - started:4.0f} s  {text}", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory() as folder:
        policies = database.write_policies(Path(folder))
        options = Options(relay=True, policies=(policies,), envoy_log_level="debug")
        work = WorkDir()
        plain = Postgres(work)
        try:
            with Stack(options, say).start() as stack:
                plain.start()
                database.create(stack.postgres, sealed=True)
                database.create(plain, sealed=False)
                return Differential(stack, plain, seed, say).run(count)
        finally:
            plain.stop()
            work.remove()


def main() -> int:
    arguments = argparse.ArgumentParser(description="random statements against the sidecar and a plain database")
    arguments.add_argument("--seed", type=int, default=random.randrange(10**6))
    arguments.add_argument("--count", type=int, default=3000, help="statements")
    given = arguments.parse_args()
    started = time.monotonic()
    report = run(given.seed, given.count, verbose=True)
    print(report)
    print(f"\n{time.monotonic() - started:.0f} s; again: make canary SEED={given.seed} COUNT={given.count}")
    return 0 if report.clean else 1


if __name__ == "__main__":
    sys.exit(main())
