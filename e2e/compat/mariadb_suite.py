"""The main suite of MariaDB's tests against one server, by one way: what each of its files printed.

`mysqltest` runs a file at a time against a server that runs already, so only files that need no restart, no option of
their own and no help of the suite's own runner can be among those that are run.
"""

import contextlib
import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pymysql

from dev.layout import MARIADB_SUITE, MARIADB_TEST
from harness.mysql_builds import Build
from harness.mysqld import SUPERUSER

BUILD = Build("mariadb-test", MARIADB_TEST, "usr/sbin/mariadbd", "usr/share/mysql", "usr/lib/mysql/plugin")
TESTER = "usr/bin/mariadb-test"
# Where a file has its tables, unless it says otherwise.
DATABASE = "test"
MAIN = MARIADB_SUITE / "main"
# As the suite's own runner starts the server.
SETTINGS = {
    "character-set-server": "latin1",
    "log-bin-trust-function-creators": "1",
    "max-heap-table-size": "1M",
    "sort-buffer-size": "256K",
    "secure-file-priv": "",
    "loose-feedback": "OFF",
}
OWN_DATABASES = ("information_schema", "mysql", "performance_schema", "sys", "shop", "plain")
# Files call it to say what the server may log; nothing here reads that log.
SUPPRESSION = (
    "CREATE DATABASE IF NOT EXISTS mtr",
    "CREATE OR REPLACE PROCEDURE mtr.add_suppression(pattern VARCHAR(255)) BEGIN END",
)
# What takes longer hangs.
SECONDS = 60
# The tester begins its sessions with latin1, which the sidecar refuses.
PROLOGUE = "SET NAMES utf8mb4;\n"


def is_there() -> bool:
    return MAIN.is_dir() and BUILD.is_there


class Runner:
    """Runs files one after another; whatever one leaves behind is gone when the next begins."""

    def __init__(
        self, build: Build, socket: Path, direct: Callable[[], pymysql.Connection], prepare: list[str]
    ) -> None:
        self._socket = socket
        self._direct = direct
        self._prepare = prepare
        self._build = build
        self._tester = replace(build, program=TESTER).command()
        self._variables = self._globals()

    def run(self, name: str, temporary: Path) -> bytes:
        """What the tester printed."""
        self.start_over()
        suite = self._build.home / MARIADB_SUITE.relative_to(MARIADB_TEST)
        command = [
            *self._tester, "--no-defaults", f"--socket={self._socket}", f"--user={SUPERUSER}", "--skip-ssl",
            "--continue-on-error", f"--database={DATABASE}", f"--basedir={suite}", f"--tmpdir={temporary}",
            f"--character-sets-dir={self._build.home / self._build.share / 'charsets'}",
            f"--prologue={self._prologue(temporary)}", f"--test-file={suite / 'main' / name}.test",
            f"--logdir={temporary}", "--max-connect-retries=1",
        ]  # fmt: skip
        environment = {
            "PATH": os.environ.get("PATH", ""),
            "MYSQL_TEST_DIR": str(suite),
            "MASTER_MYSOCK": str(self._socket),
            "MTR_VERSION": "2",
            "LC_ALL": "C",
            "TZ": "UTC",
        }
        try:
            done = subprocess.run(
                [str(word) for word in command], cwd=suite, env=environment, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            return (error.stdout or b"") + b"\nIt did not end in time.\n"
        return done.stdout

    def _prologue(self, temporary: Path) -> Path:
        file = temporary / "prologue.inc"
        file.write_text(PROLOGUE)
        return file

    def start_over(self) -> None:
        with self._direct() as connection, connection.cursor() as cursor:
            cursor.execute("SET SESSION foreign_key_checks = 0")
            cursor.execute("SHOW DATABASES")
            for (database,) in cursor.fetchall():
                if database not in OWN_DATABASES:
                    cursor.execute(f"DROP DATABASE `{database}`")
            cursor.execute(f"CREATE DATABASE {DATABASE} CHARACTER SET latin1")
            for statement in (*SUPPRESSION, *self._prepare):
                cursor.execute(statement)
            for name, value in self._globals().items():
                if value != self._variables[name]:
                    self._restore(cursor, name)

    def _restore(self, cursor: pymysql.cursors.Cursor, name: str) -> None:
        value = self._variables[name]
        # Some follow from others, and can't be set.
        with contextlib.suppress(pymysql.Error):
            cursor.execute(f"SET GLOBAL {name} = %s", [int(value) if value.lstrip("-").isdigit() else value])

    def _globals(self) -> dict[str, str]:
        with self._direct() as connection, connection.cursor() as cursor:
            cursor.execute("SHOW GLOBAL VARIABLES")
            return dict(cursor.fetchall())
