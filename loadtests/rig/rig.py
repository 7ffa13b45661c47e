"""One PostgreSQL with two databases, plain and sealed; one MariaDB with the same; one service of HTTP; OPA, the key
agent; and a proxy process for each target. Of the servers, those that the suites speak to.

Each target has a proxy of its own, so that CPU and memory are read for it alone.
"""

from pathlib import Path

import psycopg
from psycopg import sql

from harness import shop
from harness.agent import Agent
from harness.bridge import Bridge, ClientBridge
from harness.certificates import Certificates
from harness.envoy import LOOPBACK, Envoy, Listener, Upstream
from harness.opa import Opa
from harness.parts import OPA_CONNECTIONS
from harness.postgres import Postgres
from harness.stack import filter_config
from harness.workdir import WorkDir
from loadtests import values
from loadtests.rig import interrupt, policies, tls
from loadtests.rig.databases import PLAIN, SEALED, PostgresDatabases
from loadtests.rig.live import Live
from loadtests.rig.mysql import MySqlDatabases, MySqlLive
from loadtests.rig.pgbouncer import PgBouncer
from loadtests.rig.service import LiveHttp, Service
from loadtests.rig.targets import HTTP_TARGETS, MYSQL_TARGETS, TLS_TARGETS, Target, present
from loadtests.scenario import Suite

NUMBER = 5432
LISTENER = "postgres"

# Beside the harness's own, which waits for no disk.
SETTINGS = {
    "log_statement": "none",
    "log_checkpoints": "off",
    "log_min_messages": "warning",
    "shared_buffers": "512MB",
    "max_wal_size": "8GB",
    # It would run in some rounds and not in others.
    "autovacuum": "off",
    "max_connections": "400",
}


Part = Postgres | MySqlDatabases | Opa | Agent | Envoy | PgBouncer | Service | Bridge | ClientBridge


class Rig(PostgresDatabases):
    def __init__(self, suites: list[Suite]) -> None:
        self.work = WorkDir()
        self.catalog = policies.write(suites, self.work.path / "policies")
        # Where a suite is about TLS the server is one that takes it, for all suites of the run.
        has_tls = any(suite.tls for suite in suites)
        self.certificates = Certificates(self.work.path / "certificates") if has_tls else None
        self.postgres = Postgres(self.work, SETTINGS, certificates=self.certificates)
        self.opa = Opa(self.work, (self.catalog.parent,))
        self.agent = Agent(self.work)
        # What suites of MySQL's protocol are given in place of this.
        self.mysql = MySqlDatabases(self.work, self.opa, self.agent)
        self.service = Service(self.work, self.opa, self.agent)
        self.live: dict[str, Live | MySqlLive | LiveHttp] = {}
        # Those of the suites; of none, the databases are looked at without one.
        self._protocols = {suite.protocol for suite in suites} or {"postgres"}
        # In the order of starting.
        self._parts: list[Part] = []

    def __enter__(self) -> "Rig":
        interrupt.on_termination()
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        for part in reversed(self._parts):
            part.stop()
        self.work.remove()

    def direct(self, database: str) -> psycopg.Connection:
        """The superuser, straight to the server: what is really stored."""
        return self.postgres.connect(database)

    def _start(self) -> None:
        self.agent.create_kek()
        for keyset in (policies.KEYSET, *(policies.EXAMPLES if "mysql" in self._protocols else ())):
            self.agent.create_keyset(keyset)
        self._begin(self.opa)
        self._begin(self.agent)
        if "postgres" in self._protocols:
            self._start_databases()
        if "mysql" in self._protocols:
            self._start_mysql()
        if "http" in self._protocols:
            self._start_service()

    def _start_databases(self) -> None:
        self._begin(self.postgres)
        with self.postgres.connect() as superuser:
            for role in shop.ROLES:
                word = sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}")
                superuser.execute(word.format(sql.Identifier(role), sql.Literal(shop.PASSWORD)))
            for database in (PLAIN, SEALED):
                superuser.execute(f"CREATE DATABASE {database}")
                with self.direct(database) as connection:
                    connection.execute(values.SQL)
        for target in present():
            self.live[target.name] = self._live(target)
        if self.certificates:
            tls.allow_clear(self.postgres)
            for target in TLS_TARGETS.values():
                self.live[target.name] = self._live_by_tcp(target)

    def _start_mysql(self) -> None:
        self._begin(self.mysql)
        for target in MYSQL_TARGETS.values():
            proxy = self.mysql.envoy(target) if target.proxy else None
            if proxy:
                self._begin(proxy)
            # The ways to PostgreSQL have the same names.
            self.live[f"mysql/{target.name}"] = self.mysql.add(target, proxy)

    def _start_service(self) -> None:
        self._begin(self.service)
        for target in HTTP_TARGETS.values():
            proxy = self.service.envoy(target) if target.proxy else None
            if proxy:
                self._begin(proxy)
            self.live[target.name] = self.service.live(target, proxy)

    def _begin(self, part: Part) -> None:
        self._parts.append(part)
        part.start()

    def _live(self, target: Target) -> Live:
        database = SEALED if target.sealed else PLAIN
        beside = [self.opa, self.agent] if target.filter else []
        if target.proxy == "envoy":
            proxy = self.envoy(target.name, with_filter=target.filter, native=target.native)
            folder, number = proxy.socket(LISTENER).parent, NUMBER
        elif target.proxy == "pgbouncer":
            proxy = PgBouncer(self.work, self.postgres)
            folder, number = proxy.folder, proxy.number
        else:
            return Live(target, database, self.postgres.socket_dir, self.postgres.port, lambda: self._processes())
        self._begin(proxy)
        return Live(target, database, folder, number, lambda: self._processes(proxy, *beside))

    def _live_by_tcp(self, target: Target) -> Live:
        database = SEALED if target.sealed else PLAIN
        options = tls.options(target, self.certificates)
        if not target.proxy:
            return Live(target, database, Path(LOOPBACK), self.postgres.port, self._processes, options)
        bridges = tls.Bridges(self.work, target.name, self.postgres, self.certificates)
        self._begin(bridges.server)
        envoy = self.envoy(target.name, with_filter=target.filter, bridge=bridges.server)
        self._begin(envoy)
        client = bridges.before(envoy, LISTENER)
        self._begin(client)
        beside = [self.opa, self.agent] if target.filter else []

        def processes() -> dict[str, list[str]]:
            return self._processes(envoy, *beside) | bridges.processes()

        return Live(target, database, Path(LOOPBACK), client.port, processes, options)

    def envoy(self, name: str, *, with_filter: bool, bridge: Bridge | None = None, native: bool = False) -> Envoy:
        """Another one before the server, or before a bridge to it and behind one from clients; not started yet."""
        filter_ = filter_config() if with_filter else None
        listener = Listener(LISTENER, self.work.path / name, filter=filter_, proxy_protocol=bridge is not None)
        clusters = {
            "postgres": bridge.upstream if bridge else Upstream(self.postgres.socket),
            "opa": Upstream(self.opa.socket, connections=OPA_CONNECTIONS),
            "key_agent": Upstream(self.agent.socket),
        }
        shell = "native" if native else "wasm"
        return Envoy(self.work, [listener], clusters, log_level="warn", name=name, shell=shell)

    def _processes(self, proxy: Envoy | PgBouncer | None = None, *beside: Opa | Agent) -> dict[str, list[str]]:
        found = {"server": [f"tree:{self.postgres.process.pid}"], "client": ["self"]}
        if proxy is not None:
            found["proxy"] = [f"pid:{proxy.process.pid}"]
        for name, part in (("opa", self.opa), ("agent", self.agent)):
            if part in beside:
                found[name] = [f"pid:{part.process.pid}"]
        return found
