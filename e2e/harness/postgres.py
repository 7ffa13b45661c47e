"""A PostgreSQL server of our own, with SCRAM for all but its superuser: on a Unix socket, and with TLS on loopback."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from harness import install
from harness.certificates import Certificates
from harness.ports import LOOPBACK, free_port
from harness.process import Process, run
from harness.workdir import WorkDir

# The number in the socket's name. Without TLS nothing listens on TCP.
PORT = 5432
SUPERUSER = "postgres"
# initdb and postgres refuse root. Nobody's id, the same on Linux and, as an unsigned number, good on macOS.
UNPRIVILEGED = 65534

PG_HBA = f"""\
# Every principal proves itself, so that the exchange passes through the sidecar.
local all,replication {SUPERUSER} trust
local all all scram-sha-256
"""

# TLS alone on TCP. One role must come with a certificate, whoever's name is in it.
CERTIFIED = "billing"
TLS_HBA = f"""\
hostssl all {CERTIFIED} {LOOPBACK}/32 scram-sha-256 clientcert=verify-ca
hostssl all all {LOOPBACK}/32 scram-sha-256
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
    def __init__(
        self,
        work: WorkDir,
        settings: dict[str, str] | None = None,
        *,
        certificates: Certificates | None = None,
        name: str = "pg",
        unpacked: install.Unpacked | None = None,
    ) -> None:
        self._work = work
        self._certificates = certificates
        self.user = UNPRIVILEGED if os.geteuid() == 0 else None
        if unpacked is None:
            self._install = install.find(install.WITH_TLS if certificates else install.PLAIN, self.user, work)
            # psql and pg_dump of the one build, for both.
            self._clients = install.find(install.PLAIN, self.user, work)
        else:
            self._install = self._clients = unpacked.within_reach(self.user, work)
        self.environment = {} if unpacked is None else unpacked.environment(self._install)
        self.home = work.path / name
        self.data = self.home / "data"
        self.socket_dir = self.home
        self.port = free_port() if certificates else PORT
        self.socket = work.socket(f"{name}/.s.PGSQL.{self.port}")
        self._settings = {**SETTINGS, **(self._tls_settings() if certificates else {}), **(settings or {})}
        # TERM would wait for clients; INT ends them.
        log = work.log("postgres" if name == "pg" else name)
        self.process = Process("postgres", log, stop_signal=signal.SIGINT)

    def program(self, name: str) -> Path:
        """A program of this PostgreSQL: psql, pgbench, pg_dump."""
        return self._clients / "bin" / name

    def own_program(self, name: str) -> Path:
        """The one that came with the server: with TLS where that has it."""
        return self._install / "bin" / name

    def start(self) -> None:
        if not self.data.exists():
            self._init()
        settings = [word for name, value in self._settings.items() for word in ("-c", f"{name}={value}")]
        command = [
            self._install / "bin" / "postgres", "-D", self.data, "-k", self.socket_dir, "-p", str(self.port), *settings,
        ]  # fmt: skip
        self.process.start(command, env=self.environment, user=self.user, cwd=self.home)
        self.process.wait_until(self._accepts)

    def stop(self) -> None:
        self.process.stop()

    def connect(self, database: str = "postgres", user: str = SUPERUSER, **options: object) -> psycopg.Connection:
        """Straight to the server, not through the sidecar."""
        return psycopg.connect(
            host=str(self.socket_dir), port=self.port, user=user, dbname=database, autocommit=True, **options
        )

    @contextmanager
    def standby(self) -> Iterator["Postgres"]:
        """A standby of this server, which asks for a log that is not archived: only while it runs is it kept."""
        other = Postgres(self._work, name=f"{self.home.name}-standby")
        other.home.mkdir(mode=0o755)
        command = [
            self.program("pg_basebackup"), "-h", self.socket_dir, "-p", str(self.port), "-U", SUPERUSER, "-R",
            "-D", other.home / "copy", "-X", "stream", "--checkpoint=fast", "--no-sync",
        ]  # fmt: skip
        run("pg_basebackup", command)
        (other.home / "copy").rename(other.data)
        if self.user is not None:
            for path in (other.home, other.data, *other.data.rglob("*")):
                os.chown(path, self.user, self.user)
        try:
            other.start()
            yield other
        finally:
            other.stop()

    def _init(self) -> None:
        self.home.mkdir(mode=0o755)
        self.home.chmod(0o755)
        if self.user is not None:
            os.chown(self.home, self.user, self.user)
        if self._certificates:
            self._take_key()
        command = [
            self._install / "bin" / "initdb", "--pgdata", self.data, "--username", SUPERUSER, "--auth", "trust",
            "--encoding", "UTF8", "--no-locale", "--no-sync",
        ]  # fmt: skip
        environment = {**os.environ, **self.environment}
        run("initdb", command, user=self.user, cwd=self.home, stdin=subprocess.DEVNULL, env=environment)
        (self.data / "pg_hba.conf").write_text(PG_HBA + (TLS_HBA if self._certificates else ""))

    def _tls_settings(self) -> dict[str, str]:
        return {
            "listen_addresses": LOOPBACK,
            "ssl": "on",
            "ssl_cert_file": str(self._certificates.server),
            "ssl_key_file": str(self.home / "server.key"),
            "ssl_ca_file": str(self._certificates.ca),
        }

    def _take_key(self) -> None:
        """The server reads no key that another user owns or can read."""
        key = self.home / "server.key"
        shutil.copyfile(self._certificates.server_key, key)
        key.chmod(0o600)
        if self.user is not None:
            os.chown(key, self.user, self.user)

    def _accepts(self) -> bool:
        try:
            self.connect().close()
        except psycopg.OperationalError:
            return False
        return True
