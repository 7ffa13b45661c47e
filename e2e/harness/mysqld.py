"""A MariaDB or MySQL server of our own: on a Unix socket, and on loopback for who wants TCP."""

import os
import shutil
from pathlib import Path

import pymysql

from harness import mysql_builds
from harness.certificates import Certificates
from harness.mysql_builds import Build
from harness.ports import LOOPBACK, free_port
from harness.postgres import UNPRIVILEGED
from harness.process import Process, run
from harness.workdir import WorkDir

SUPERUSER = "root"

# A throw-away server: no waiting for the disk. Every statement is logged, so that a test can look for leaks.
SETTINGS = {
    "bind-address": LOOPBACK,
    # Without it, loopback would be `localhost`, and so the superuser's.
    "skip-name-resolve": "ON",
    "innodb-doublewrite": "OFF",
    "innodb-flush-log-at-trx-commit": "0",
    "innodb-flush-method": "nosync",
    "innodb-fast-shutdown": "2",
    "innodb-buffer-pool-size": "64M",
    "innodb-data-file-path": "ibdata1:10M:autoextend",
    "performance-schema": "OFF",
    "general-log": "ON",
    "max-allowed-packet": "64M",
    "local-infile": "ON",
    "character-set-server": "utf8mb4",
    # The time zone that PostgreSQL's server has, too.
    "default-time-zone": "+00:00",
}
# 11.4 would make itself a key at each start, for many seconds.
OF_MARIADB = {"ssl": "OFF", "innodb-log-file-size": "16M"}
OF_MYSQL = {
    "tls-version": "",
    "innodb-redo-log-capacity": "16M",
    "mysqlx": "OFF",
    "skip-log-bin": "ON",
    "secure-file-priv": "NULL",
}


class MySqld:
    def __init__(
        self,
        work: WorkDir,
        settings: dict[str, str] | None = None,
        *,
        build: Build = mysql_builds.OLDER,
        certificates: Certificates | None = None,
        name: str = "mysqld",
    ) -> None:
        self.user = UNPRIVILEGED if os.geteuid() == 0 else None
        self.build = build.within_reach(self.user, work)
        self.home = work.path / name
        self.data = self.home / "data"
        self.general_log = self.home / "general.log"
        self.port = free_port()
        self.socket = work.socket(f"{name}/mysql.sock")
        of_build = OF_MYSQL if build.mysql else OF_MARIADB
        self._settings = {**SETTINGS, **of_build, **self.build.settings(), **(settings or {})}
        self._certificates = certificates
        if certificates:
            self._settings |= {"ssl": "ON"} if not build.mysql else {"tls-version": "TLSv1.2,TLSv1.3"}
            self._settings |= {"ssl-ca": str(certificates.ca), "ssl-cert": str(certificates.server)}
            self._settings |= {"ssl-key": str(self.home / "server.key")}
        self.process = Process(build.name, work.log(name))

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
        # A server that starts deletes all temporary tables where its own are to be: another's too.
        own = {"datadir": str(self.data), "tmpdir": str(self.home)}
        words = [f"--{name}={value}" for name, value in (own | settings).items()]
        return [*self.build.command(), "--no-defaults", *words, *more]

    def _init(self) -> None:
        self.home.mkdir(mode=0o700)
        if not self.build.mysql:
            self.data.mkdir(mode=0o700)
        if self.user is not None:
            for folder in (self.home, self.data):
                if folder.exists():
                    os.chown(folder, self.user, self.user)
        self._take_key()
        # All of it is on disk when it ends.
        quiet = {**self._settings, "general-log": "OFF", "innodb-fast-shutdown": "1"}
        made_by = b"" if self.build.mysql else self.build.made_by()
        anew = "--initialize-insecure" if self.build.mysql else "--bootstrap"
        command = self._command(quiet, anew)
        run(f"the initialisation of {self.build.name}", command, user=self.user, input=made_by, cwd=self.home)

    def _take_key(self) -> None:
        if self._certificates is None:
            return
        key = self.home / "server.key"
        shutil.copyfile(self._certificates.server_key, key)
        if self.user is not None:
            os.chown(key, self.user, self.user)

    def _accepts(self) -> bool:
        try:
            self.connect().close()
        except pymysql.OperationalError:
            return False
        return True
