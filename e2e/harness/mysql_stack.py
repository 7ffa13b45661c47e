"""The parts of a protected MySQL or MariaDB together: the server, OPA, the key agent and Envoy."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pymysql

from dev.layout import ENVOY_MYSQL_TEMPLATE, MYSQL_FILTER_WASM
from harness import mysql_shop, shop
from harness.certificates import Certificates
from harness.envoy import LOOPBACK, Envoy, Listener, Upstream
from harness.mysql_builds import OLDER, Build
from harness.mysqld import SUPERUSER, MySqld
from harness.parts import overlaid, shared_config
from harness.relay import Relay
from harness.sidecar import KEYSETS, ControlPlane, Progress, Sidecar, silent

# Listeners.
SEALED = "mysql"
PLAIN = "mysql-plain"
# A session that has not begun by then hangs, however busy the machine is.
CONNECT_SECONDS = 60


@dataclass(frozen=True)
class MySqlListener(Listener):
    """One way in: a loopback port of the system's choice, and a Unix socket."""

    upstream: str = "mysql"

    @property
    def socket(self) -> Path:
        return self.socket_dir / "mysql.sock"


class MySqlEnvoy(Envoy):
    """Its listeners are `MySqlListener`s."""

    TEMPLATE = ENVOY_MYSQL_TEMPLATE


@dataclass(frozen=True)
class MySqlOptions:
    """What a stack is made of."""

    # Off: Envoy alone, for measuring what the filter adds.
    filter: bool = True
    # A second listener without the filter.
    plain: bool = False
    # Records what passes between Envoy and the server.
    relay: bool = False
    # Envoy reaches the server by loopback; not with a relay.
    tcp: bool = False
    # The server offers TLS within the protocol.
    tls: bool = False
    # Another way to the server than its own addresses.
    upstream: "Callable[[MySqlStack], Upstream] | None" = None
    # A bridge from clients connects to its listener.
    proxy_protocol: bool = False
    build: Build = OLDER
    keysets: tuple[str, ...] = KEYSETS
    # More catalogs and rules, beside the example's.
    policies: tuple[Path, ...] = ()
    concurrency: int = 1
    envoy_log_level: str = "info"
    # Laid over the filter's configuration.
    filter_config: dict | None = None
    settings: dict[str, str] | None = None
    filter_wasm: Path = MYSQL_FILTER_WASM


class MySqlStack(Sidecar):
    """With the control plane of another stack, it starts and stops its own server and Envoy alone."""

    def __init__(
        self, options: MySqlOptions | None = None, progress: Progress = silent, *, control: ControlPlane | None = None
    ) -> None:
        self.options = options or MySqlOptions()
        owned = ControlPlane(policies=self.options.policies) if control is None else control
        super().__init__(owned, progress, owns_control=control is None)
        speaks_tls = self.options.tls or self.options.upstream is not None
        self.certificates = Certificates(self.work.path / "mysql-certificates") if speaks_tls else None
        self.server = MySqld(
            self.work,
            self.options.settings,
            build=self.options.build,
            certificates=self.certificates if self.options.tls else None,
        )
        self.relay = Relay(self.work.socket("my-relay.sock"), self.server.socket) if self.options.relay else None
        self.envoy = self._make_envoy()

    @property
    def is_running(self) -> bool:
        return self.server.process.running

    def connect(
        self, user: str, database: str | None = shop.DATABASE, *, listener: str = SEALED, tcp: bool = False,
        **options: object,
    ) -> pymysql.Connection:  # fmt: skip
        """Through the sidecar, as an application does: over the Unix socket unless told."""
        port, path = self.envoy.port(listener), str(self.envoy.socket(listener))
        where = {"host": LOOPBACK, "port": port} if tcp else {"unix_socket": path}
        told = {"autocommit": True, "connect_timeout": CONNECT_SECONDS, "password": shop.PASSWORD, **options}
        return pymysql.connect(user=user, database=database, **where, **told)

    def direct(
        self, user: str = SUPERUSER, database: str | None = shop.DATABASE, **options: object
    ) -> pymysql.Connection:
        """Straight to the server: what is really stored."""
        password = "" if user == SUPERUSER else shop.PASSWORD
        return self.server.connect(database, user, **{"password": password, **options})

    def stored(self, statement: str, values: tuple | list = ()) -> list[tuple]:
        """What the server has."""
        with self.direct() as direct, direct.cursor() as cursor:
            cursor.execute(statement, values)
            return list(cursor.fetchall())

    def _start(self, without: tuple[str, ...]) -> None:
        self._progress(self.options.build.name)
        self.server.start()
        mysql_shop.create_databases(self.server)
        if self.relay is not None:
            self.relay.start()
        if self.options.filter and self._owns_control:
            self.control.start(self.options.keysets, without, self._progress)
        self._progress("Envoy for MySQL" + (" with the filter" if self.options.filter else ""))
        self.envoy.start()

    def _stop(self) -> None:
        for part in (self.envoy, self.relay, self.server):
            if part is not None:
                part.stop()

    def _upstream(self) -> Upstream:
        if self.options.upstream is not None:
            return self.options.upstream(self)
        if self.options.tcp:
            return Upstream(address=LOOPBACK, port=self.server.port)
        return Upstream(self.relay.socket if self.relay else self.server.socket)

    def _make_envoy(self) -> MySqlEnvoy:
        options = self.options
        config = overlaid(shared_config("orders-mysql"), options.filter_config or {})
        filtered = config if options.filter else None
        socket_dir, proxied = self.work.path / "my-in", options.proxy_protocol
        listeners = [MySqlListener(SEALED, socket_dir, filter=filtered, proxy_protocol=proxied)]
        if options.plain:
            listeners.append(MySqlListener(PLAIN, self.work.path / "my-plain"))
        return MySqlEnvoy(
            self.work,
            listeners,
            {"mysql": self._upstream(), **self.control.upstreams()},
            concurrency=options.concurrency,
            log_level=options.envoy_log_level,
            filter_wasm=options.filter_wasm,
            name="envoy-mysql",
        )
