"""`python -m canary --seed 1 --count 2000`: see the package's text."""

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from canary import database
from canary.differential import Differential
from canary.mysql import run as mysql
from canary.report import Report
from harness import Options, Stack
from harness.mysql_builds import MYSQL, OLDER
from harness.postgres import Postgres
from harness.workdir import WorkDir

KEYSET = "pii"
DATABASES = ("postgres", "mariadb", "mysql") if MYSQL.is_there else ("postgres", "mariadb")


def run(seed: int, count: int, say: Callable[[str], None] = lambda _: None, *, rotates: bool = False) -> Report:
    """Starts both servers and everything between, and stops them again. If it `rotates`, a deterministic key is added
    after a quarter of the statements, and is made the primary after half of them."""

    with tempfile.TemporaryDirectory() as folder:
        policies = database.write_policies(Path(folder))
        options = Options(
            relay=True, policies=(policies,), envoy_log_level="debug", filter_config={"keys": {"refresh_seconds": 1}}
        )
        work = WorkDir()
        plain = Postgres(work)
        try:
            with Stack(options, say).start() as stack:
                plain.start()
                database.create(stack.postgres, sealed=True)
                database.create(plain, sealed=False)
                if not rotates:
                    return Differential(stack, plain, seed, say).run(count)
                # It does not hold between rows of two keys.
                for server in (stack.postgres, plain):
                    database.drop_unique(server)
                differential = Differential(stack, plain, seed, say)
                differential.go_on(count // 4)
                rotate(stack, "--add")
                differential.go_on(count // 2)
                rotate(stack, "--promote", str(newest_key(stack)))
                differential.go_on(count)
                return differential.finish()
        finally:
            plain.stop()
            work.remove()


def rotate(stack: Stack, *words: str) -> None:
    stack.agent.keys("rotate", KEYSET, "--purpose", "deterministic", *words)


def newest_key(stack: Stack) -> int:
    keyset = json.loads((stack.agent.keysets / f"{KEYSET}.deterministic.json").read_text())
    return keyset["keysetInfo"]["keyInfo"][-1]["keyId"]


def progress() -> Callable[[str], None]:
    started = time.monotonic()
    return lambda text: print(f"{time.monotonic() - started:4.0f} s  {text}", file=sys.stderr, flush=True)


def main() -> int:
    arguments = argparse.ArgumentParser(description="random statements against the sidecar and a plain database")
    arguments.add_argument("--seed", type=int, default=random.randrange(10**6))
    arguments.add_argument("--count", type=int, default=3000, help="statements")
    arguments.add_argument("--rotate", action="store_true", help="a key is added and promoted meanwhile")
    arguments.add_argument("--database", choices=DATABASES, action="append", help="one or more; else all")
    given = arguments.parse_args()
    started = time.monotonic()
    clean = True
    for database_ in given.database or DATABASES:
        print(f"== {database_}", flush=True)
        report = _run(database_, given)
        print(report)
        clean = clean and report.clean
    print(f"\n{time.monotonic() - started:.0f} s; again: make canary SEED={given.seed} COUNT={given.count}")
    return 0 if clean else 1


def _run(database_: str, given: argparse.Namespace) -> Report:
    if database_ == "postgres":
        return run(given.seed, given.count, progress(), rotates=given.rotate)
    return mysql.run(given.seed, given.count, progress(), MYSQL if database_ == "mysql" else OLDER)


if __name__ == "__main__":
    sys.exit(main())
