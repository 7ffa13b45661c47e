"""One MariaDB with the two databases, and a proxy process for each target: what the rig has of PostgreSQL."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pymysql

from dev.layout import MYSQL_FILTER_WASM
from harness import shop
from harness.agent import Agent
from harness.envoy import Upstream
from harness.mysql_shop import allow_all
from harness.mysql_stack import MySqlEnvoy, MySqlListener
from harness.mysqld import MySqld
from harness.opa import Opa
from harness.parts import OPA_CONNECTIONS, overlaid, shared_config
from harness.workdir import WorkDir
from loadtests.rig import policies
from loadtests.rig.databases import PLAIN, SEALED, Databases
from loadtests.rig.live import CONNECT_TIMEOUT, LiveDatabase
from loadtests.rig.targets import Target

LISTENER = "mysql"
# Beside the harness's own, which waits for no disk.
SETTINGS = {
    "general-log": "OFF",
    "innodb-buffer-pool-size": "512M",
    "max-connections": "400",
    # It would run in some rounds and not in others.
    "innodb-stats-auto-recalc": "OFF",
}
# A plan has the columns of every database, for a session can name tables of each: so where nothing is protected,
# the filter asks for a plan without them.
NOTHING = {"policy": {"path": f"/v1/data/{policies.NOTHING.replace('.', '/')}/plan"}}
# Rows of one INSERT.
BATCH = 500


@dataclass(frozen=True)
class MySqlLive(LiveDatabase):
    target: Target
    database: str
    socket: Path
    processes: Callable[[], dict[str, list[str]]]

    ERROR = pymysql.Error

    def dsn(self, user: str = "app") -> str:
        """As go-sql-driver takes it."""
        return f"{user}:{shop.PASSWORD}@unix({self.socket})/{self.database}?timeout={CONNECT_TIMEOUT}s"

    def connect(self, user: str = "app") -> pymysql.Connection:
        return pymysql.connect(
            unix_socket=str(self.socket), user=user, password=shop.PASSWORD, database=self.database,
            connect_timeout=CONNECT_TIMEOUT, autocommit=True,
        )  # fmt: skip

    def code(self, error: Exception) -> str:
        return f"error {error.args[0]}"


class MySqlDatabases(Databases):
    # An index on text would need a length.
    TEXT = "varchar(255)"

    def __init__(self, work: WorkDir, opa: Opa, agent: Agent) -> None:
        self._work, self._opa, self._agent = work, opa, agent
        self.server = MySqld(work, SETTINGS)
        self.live: dict[str, MySqlLive] = {}

    def start(self) -> None:
        """The server alone: its proxies are parts of their own."""
        self.server.start()
        with self.server.connect() as superuser, superuser.cursor() as cursor:
            for role in shop.ROLES:
                cursor.execute(f"CREATE USER {role}@'%%' IDENTIFIED BY %s", [shop.PASSWORD])
            for database in (PLAIN, SEALED):
                cursor.execute(f"CREATE DATABASE {database}")
                allow_all(cursor, database)

    def stop(self) -> None:
        self.server.stop()

    def add(self, target: Target, proxy: MySqlEnvoy | None) -> MySqlLive:
        """A way to the server that runs now."""
        database = SEALED if target.sealed else PLAIN
        socket = proxy.socket(LISTENER) if proxy else self.server.socket
        live = MySqlLive(target, database, socket, lambda: self._processes(target, proxy))
        self.live[target.name] = live
        return live

    def envoy(self, target: Target) -> MySqlEnvoy:
        """Another one before the server, not started yet."""
        name = f"mysql-{target.name}"
        config = overlaid(shared_config("orders-mysql"), {} if target.sealed else NOTHING) if target.filter else None
        clusters = {
            "mysql": Upstream(self.server.socket),
            "opa": Upstream(self._opa.socket, connections=OPA_CONNECTIONS),
            "key_agent": Upstream(self._agent.socket),
        }
        listener = MySqlListener(LISTENER, self._work.path / f"{name}-in", filter=config)
        shell = "native" if target.native else "wasm"
        return MySqlEnvoy(
            self._work,
            [listener],
            clusters,
            log_level="warn",
            filter_wasm=MYSQL_FILTER_WASM,
            shell=shell,
            name=name,
        )

    def direct(self, database: str) -> pymysql.Connection:
        return self.server.connect(database)

    def version(self) -> str:
        # Without what else the server says of itself: "10.11.5-MariaDB-log".
        return self.rows(PLAIN, "SELECT VERSION()")[0][0].partition("-")[0]

    def tables(self, plain: str, sealed: str = "") -> None:
        for database, ddl in ((PLAIN, plain), (SEALED, sealed or plain)):
            self.run(database, *(statement for statement in ddl.split(";") if statement.strip()))

    def settle(self, *tables: str) -> None:
        for database in (PLAIN, SEALED):
            self.run(database, *(f"ANALYZE TABLE {table}" for table in tables))

    def keep(self, table: str) -> None:
        for database in (PLAIN, SEALED):
            self.run(database, f"CREATE TABLE saved_{table} AS SELECT * FROM {table}")

    def put_back(self, database: str, table: str) -> None:
        copied = f"INSERT INTO {table} SELECT * FROM saved_{table} ORDER BY id"
        self.run(database, f"TRUNCATE {table}", copied, f"ANALYZE TABLE {table}")

    def _write(self, target: LiveDatabase, table: str, columns: tuple[str, ...], rows: list[tuple]) -> None:
        places = ", ".join(["%s"] * len(columns))
        statement = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})"
        with target.connect() as connection, connection.cursor() as cursor:
            for first in range(0, len(rows), BATCH):
                cursor.executemany(statement, rows[first : first + BATCH])

    def _unsealed(self, table: str, column: str) -> tuple[int, int]:
        # Byte by byte; what is missing is not sealed: it was written.
        sealed = f"LEFT(CAST({column} AS BINARY), 4) = 'fv1.' OR LEFT(CAST({column} AS BINARY), 1) = x'F7'"
        query = f"SELECT COUNT(*), COALESCE(SUM(NOT COALESCE({sealed}, FALSE)), 0) FROM {table}"
        ((rows, clear),) = self.rows(SEALED, query)
        return rows, int(clear)

    def _processes(self, target: Target, proxy: MySqlEnvoy | None) -> dict[str, list[str]]:
        found = {"server": [f"pid:{self.server.process.pid}"], "client": ["self"]}
        if proxy is not None:
            found["proxy"] = [f"pid:{proxy.process.pid}"]
        if target.filter:
            found |= {"opa": [f"pid:{self._opa.process.pid}"], "agent": [f"pid:{self._agent.process.pid}"]}
        return found
