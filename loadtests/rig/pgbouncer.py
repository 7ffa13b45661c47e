"""PgBouncer, for comparison: the least that a proxy of this protocol costs."""

import os
import shutil
from pathlib import Path

import psycopg

from harness import shop
from harness.postgres import UNPRIVILEGED, Postgres
from harness.process import Process
from harness.workdir import WorkDir

NUMBER = 6432
CONFIG = """\
[databases]
* = host={server} port={port}

[pgbouncer]
unix_socket_dir = {folder}
listen_port = {number}
listen_addr =
auth_type = scram-sha-256
auth_file = {folder}/users.txt
# A server connection for as long as a client is there. Then the next client has it: elsewhere a client has a new one.
pool_mode = session
default_pool_size = 100
max_client_conn = 200
ignore_startup_parameters = extra_float_digits
log_connections = 0
log_disconnections = 0
"""


class PgBouncer:
    def __init__(self, work: WorkDir, postgres: Postgres) -> None:
        self._postgres = postgres
        self.folder = work.path / "pgbouncer"
        self.number = NUMBER
        self.process = Process("pgbouncer", work.log("pgbouncer"))
        # It refuses root, as PostgreSQL does.
        self._user = UNPRIVILEGED if os.geteuid() == 0 else None

    def start(self) -> None:
        self.folder.mkdir(mode=0o700)
        users = self.folder / "users.txt"
        users.write_text("".join(f'"{role}" "{shop.PASSWORD}"\n' for role in shop.ROLES))
        config = self.folder / "pgbouncer.ini"
        config.write_text(
            CONFIG.format(
                server=self._postgres.socket_dir, port=self._postgres.port, folder=self.folder, number=self.number
            )
        )
        if self._user is not None:
            for path in (self.folder, users, config):
                os.chown(path, self._user, self._user)
        self.process.start([Path(shutil.which("pgbouncer")), config], user=self._user)
        self.process.wait_until(self._accepts)

    def stop(self) -> None:
        self.process.stop()

    def _accepts(self) -> bool:
        try:
            psycopg.connect(
                host=str(self.folder), port=self.number, user="app", password=shop.PASSWORD, dbname="postgres"
            ).close()
        except psycopg.OperationalError:
            return False
        return True
