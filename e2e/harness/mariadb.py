"""A MariaDB server of our own: on a Unix socket, and on loopback for who wants TCP."""

import os
import subprocess
from pathlib import Path

import pymysql

from harness.ports import LOOPBACK, free_port
from harness.postgres import UNPRIVILEGED
from harness.process import PartFailed, Process
from harness.workdir import WorkDir
from tools.layout import MARIADB, MARIADB_VERSIONS

SUPERUSER = "root"
# What makes the system's tables, in this order; before each name, the server's own.
SYSTEM = ("system_tables", "performance_tables", "system_tables_data", "sys_schema")
PREFIXES = ("mysql", "mariadb")
# The superuser has no password: so only who comes by the socket is it, and only who started the server, or root, may.
ONLY_BY_SOCKET = "DELETE FROM mysql.global_priv WHERE User <> 'mariadb.sys' AND Host <> 'localhost';\n"

# A throw-away server: no waiting for the disk. Every statement is logged, so that a test can look for leaks.
SETTINGS = {
    "bind-address": LOOPBACK,
    # Without it, loopback would be `localhost`, and so the superuser's.
    "skip-name-resolve": "ON",
    "skip-innodb-doublewrite": "ON",
    "innodb-flush-log-at-trx-commit": "0",
    "innodb-flush-method": "nosync",
    "innodb-fast-shutdown": "2",
    "innodb-log-file-size": "16M",
    "innodb-buffer-pool-size": "64M",
    "innodb-data-file-path": "ibdata1:10M:autoextend",
    "performance-schema": "OFF",
    "general-log": "ON",
    "max-allowed-packet": "64M",
    "local-infile": "ON",
    # 11.4 would make itself a key at each start, for many seconds.
    "ssl": "OFF",
    "character-set-server": "utf8mb4",
    # The time zone that PostgreSQL's server has, too.
    "default-time-zone": "+00:00",
}


def is_there(version: str = MARIADB_VERSIONS[0]) -> bool:
    return (MARIADB / version / "bin" / "mariadbd").exists()


class MariaDb:
    def __init__(
        self,
        work: WorkDir,
        settings: dict[str, str] | None = None,
        *,
        version: str = MARIADB_VERSIONS[0],
        name: str = "mariadb",
    ) -> None:
        self.user = UNPRIVILEGED if os.geteuid() == 0 else None
        self.version = version
        self._install = MARIADB / version
        self.home = work.path / name
        self.data = self.home / "data"
        self.general_log = self.home / "general.log"
        self.port = free_port()
        self.socket = work.socket(f"{name}/mysql.sock")
        self._settings = {**SETTINGS, **(settings or {})}
        self.process = Process("mariadb", work.log(name))

    def start(self) -> None:
        if not self.data.exists():
            self._init()
        own = {
            "socket": str(self.socket),
            "port": str(self.port),
            "general-log-file": str(self.general_log),
            "pid-file": str(self.home / "pid"),
        }
        self.process.start(self._command(self._settings | own), user=self.user, cwd=self.home)
        self.process.wait_until(self._accepts)

    def stop(self) -> None:
        self.process.stop()

    def connect(self, database: str | None = None, user: str = SUPERUSER, **options: object) -> pymysql.Connection:
        """Straight to the server, not through the sidecar."""
        return pymysql.connect(
            unix_socket=str(self.socket), user=user, database=database, **{"autocommit": True, **options}
        )

    def files(self, database: str) -> bytes:
        """What the server keeps of the database on disk, its logs of changes too; all of it, once it has stopped."""
        kept = [*(self.data / database).glob("*"), *self.data.glob("ib*"), *self.data.glob("aria_log.*")]
        return b"".join(path.read_bytes() for path in kept if path.is_file())

    def _command(self, settings: dict[str, str], *more: str) -> list[str | Path]:
        where = {
            "basedir": str(self._install),
            "datadir": str(self.data),
            "lc-messages-dir": str(self._install / "share"),
        }
        words = [f"--{name}={value}" for name, value in (where | settings).items()]
        return [self._install / "bin" / "mariadbd", "--no-defaults", *words, *more]

    def _init(self) -> None:
        self.home.mkdir(mode=0o700)
        self.data.mkdir(mode=0o700)
        if self.user is not None:
            for folder in (self.home, self.data):
                os.chown(folder, self.user, self.user)
        texts = [self._system(name) for name in SYSTEM]
        made = b"".join((b"CREATE DATABASE mysql;\nUSE mysql;\n", *texts, ONLY_BY_SOCKET.encode()))
        as_user = {} if self.user is None else {"user": self.user, "group": self.user, "extra_groups": []}
        quiet = {**self._settings, "general-log": "OFF"}
        done = subprocess.run(
            [str(word) for word in self._command(quiet, "--bootstrap")],
            input=made,
            cwd=self.home,
            capture_output=True,
            check=False,
            **as_user,
        )
        if done.returncode != 0:
            raise PartFailed(f"mariadbd --bootstrap failed\n{done.stderr.decode(errors='replace')}")

    def _system(self, name: str) -> bytes:
        files = (self._install / "share" / f"{prefix}_{name}.sql" for prefix in PREFIXES)
        return next(file for file in files if file.exists()).read_bytes()

    def _accepts(self) -> bool:
        try:
            self.connect().close()
        except pymysql.OperationalError:
            return False
        return True
