"""One run: both servers and everything between, started and stopped again."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from canary.database import write_policies
from canary.mysql import comparisons, schema
from canary.mysql.differential import Differential
from canary.report import Report
from harness.mysql_builds import OLDER, Build
from harness.mysql_stack import MySqlOptions, MySqlStack
from harness.mysqld import MySqld
from harness.workdir import WorkDir


def run(seed: int, count: int, say: Callable[[str], None] = lambda _: None, build: Build = OLDER) -> Report:
    with tempfile.TemporaryDirectory() as folder:
        policies = write_policies(Path(folder), (*schema.PROTECTED, comparisons.TABLE), "mysql")
        options = MySqlOptions(relay=True, policies=(policies,), envoy_log_level="debug", build=build)
        work = WorkDir()
        plain = MySqld(work, build=build, name="plain")
        try:
            plain.start()
            with MySqlStack(options, say).start() as stack:
                return Differential(stack, plain, seed, say).run(count)
        finally:
            plain.stop()
            work.remove()
