"""All parts together: PostgreSQL, OPA, the key agent and Envoy, as one thing to start and stop."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psycopg

from dev.layout import FILTER_NATIVE, FILTER_WASM
from harness import shop
from harness.bundles import Bundles
from harness.certificates import SERVER_NAME, Certificates
from harness.envoy import LOOPBACK, ClientTls, Envoy, Listener, Upstream, UpstreamTls
from harness.http_stack import HttpOptions, HttpStack
from harness.kms import Kms
from harness.parts import overlaid, shared_config
from harness.postgres import Postgres
from harness.relay import Relay
from harness.sidecar import KEYSETS, ControlPlane, Progress, Sidecar, silent
from harness.workdir import WorkDir

# A session that has not begun by then hangs, however busy the machine is.
CONNECT_SECONDS = 60
# Listeners.
SEALED = "postgres"
PLAIN = "plain"


@dataclass(frozen=True)
class Options:
    """What a stack is made of. The defaults are the demo's."""

    # Off: Envoy alone, for measuring what the filter adds.
    filter: bool = True
    # A second listener without the filter.
    plain: bool = False
    # Records what passes between Envoy and the server.
    relay: bool = False
    # The server takes TCP with TLS alone, and Envoy reaches it so; not with a relay.
    tls: bool = False
    # More ways to a server: a listener each, with the filter or without, by the name that it has here.
    ways: "Callable[[Stack], dict[str, Way]] | None" = None
    keysets: tuple[str, ...] = KEYSETS
    # What wraps them; without one, a development key in a file.
    kms: Callable[[WorkDir], Kms] | None = None
    # More catalogs and rules, beside the example's.
    policies: tuple[Path, ...] = ()
    # OPA polls these in place of loading the folder.
    bundles: Bundles | None = None
    concurrency: int = 1
    envoy_log_level: str = "info"
    # Added to the environment of Envoy's process.
    envoy_environment: dict[str, str] | None = None
    # Laid over the filter's configuration.
    filter_config: dict | None = None
    postgres_settings: dict[str, str] | None = None
    filter_wasm: Path = FILTER_WASM
    filter_native: Path = FILTER_NATIVE
    # A sidecar for an HTTP service beside the database's, under the same policies and with the same keys.
    http: HttpOptions | None = None


@dataclass(frozen=True)
class Way:
    """Another listener and what it leads to."""

    upstream: Upstream
    filter: bool = True
    # A bridge from clients connects.
    proxy_protocol: bool = False
    # TLS with clients, by the native shell.
    tls: ClientTls | None = None


def filter_config(changes: dict | None = None) -> dict:
    """The filter's configuration, with changes laid over it."""
    return overlaid(shared_config("orders-db"), changes or {})


class Stack(Sidecar):
    def __init__(self, options: Options | None = None, progress: Progress = silent) -> None:
        self.options = options or Options()
        super().__init__(ControlPlane(self.options.kms, self.options.policies, self.options.bundles), progress)
        self.socket_dir = self.work.path / "in"
        self.plain_socket_dir = self.work.path / "plain"
        self.certificates = Certificates(self.work.path / "certificates") if self.options.tls else None
        self.postgres = Postgres(self.work, self.options.postgres_settings, certificates=self.certificates)
        self.relay = Relay(self.work.socket("relay.sock"), self.postgres.socket) if self.options.relay else None
        self.envoy = self._make_envoy()
        self.http = HttpStack(self.options.http, progress, control=self.control) if self.options.http else None

    @property
    def is_running(self) -> bool:
        return self.postgres.process.running

    def connect(self, user: str, database: str = shop.DATABASE, **options: object) -> psycopg.Connection:
        """Through the sidecar, as an application does: over the Unix socket."""
        return psycopg.connect(self.dsn(user, database), **{"autocommit": True, **options})

    def dsn(self, user: str, database: str = shop.DATABASE, listener: str = SEALED, tcp: bool = False) -> str:
        """A libpq connection string through the sidecar."""
        socket = self.envoy.socket(listener)
        number = int(socket.name.rpartition(".")[2])
        host, port = (LOOPBACK, self.envoy.port(listener)) if tcp else (socket.parent, number)
        return psycopg.conninfo.make_conninfo(
            host=str(host),
            port=port,
            user=user,
            dbname=database,
            password=shop.PASSWORD,
            connect_timeout=CONNECT_SECONDS,
        )

    @property
    def envoy_socket(self) -> Path:
        """The Unix socket where the sidecar listens, for those who speak to it without a driver."""
        return self.envoy.socket(SEALED)

    def direct(self, user: str = "postgres", database: str = shop.DATABASE, **options: object) -> psycopg.Connection:
        """Straight to the server: what is really stored."""
        return self.postgres.connect(database, user, password=shop.PASSWORD, **options)

    def _start(self, without: tuple[str, ...]) -> None:
        self._progress("PostgreSQL")
        self.postgres.start()
        shop.create_databases(self.postgres)
        if self.relay is not None:
            self.relay.start()
        if self.options.filter:
            self.control.start(self.options.keysets, without, self._progress)
        self._progress("Envoy" + (" with the filter" if self.options.filter else ""))
        self.envoy.start()
        if self.http is not None:
            self.http.start()

    def _stop(self) -> None:
        for part in (self.http, self.envoy, self.relay, self.postgres):
            if part is not None:
                part.stop()

    def server_upstream(self) -> Upstream:
        """The server as Envoy should reach it."""
        if self.certificates is None:
            return Upstream(self.relay.socket if self.relay else self.postgres.socket)
        trust = UpstreamTls(self.certificates.ca, SERVER_NAME)
        return Upstream(address=LOOPBACK, port=self.postgres.port, tls=trust)

    def _make_envoy(self) -> Envoy:
        options = self.options
        config = filter_config(options.filter_config)
        listeners = [Listener(SEALED, self.socket_dir, filter=config if options.filter else None)]
        if options.plain:
            listeners.append(Listener(PLAIN, self.plain_socket_dir))
        ways = options.ways(self) if options.ways else {}
        for number, (name, way) in enumerate(ways.items(), start=5433):
            filtered = config if way.filter else None
            listeners.append(Listener(name, self.socket_dir, name, filtered, number, way.proxy_protocol, way.tls))
        return Envoy(
            self.work,
            listeners,
            {
                "postgres": self.server_upstream(),
                **self.control.upstreams(),
                **{name: way.upstream for name, way in ways.items()},
            },
            concurrency=options.concurrency,
            log_level=options.envoy_log_level,
            filter_wasm=options.filter_wasm,
            filter_native=options.filter_native,
            environment=options.envoy_environment,
        )
