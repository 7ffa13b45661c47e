"""All parts together: PostgreSQL, OPA, the key agent and Envoy, as one thing to start and stop."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psycopg

from dev.layout import FILTER_WASM
from harness import shop
from harness.agent import Agent
from harness.bundles import Bundles
from harness.certificates import SERVER_NAME, Certificates
from harness.envoy import LOOPBACK, Envoy, Listener, Upstream, UpstreamTls
from harness.http_stack import HttpOptions, HttpStack, Shared
from harness.kms import Kms
from harness.opa import Opa
from harness.parts import OPA_CONNECTIONS, overlaid, shared_config
from harness.postgres import Postgres
from harness.relay import Relay
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
    keysets: tuple[str, ...] = ("pii", "payments")
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
    # A sidecar for an HTTP service beside the database's, under the same policies and with the same keys.
    http: HttpOptions | None = None


@dataclass(frozen=True)
class Way:
    """Another listener and what it leads to."""

    upstream: Upstream
    filter: bool = True


def filter_config(changes: dict | None = None) -> dict:
    """The filter's configuration, with changes laid over it."""
    return overlaid(shared_config("orders-db"), changes or {})


class Stack:
    def __init__(self, options: Options | None = None, progress: Callable[[str], None] = lambda _: None) -> None:
        self.options = options or Options()
        self._progress = progress
        self.work = WorkDir()
        self.socket_dir = self.work.path / "in"
        self.plain_socket_dir = self.work.path / "plain"
        self.certificates = Certificates(self.work.path / "certificates") if self.options.tls else None
        self.postgres = Postgres(self.work, self.options.postgres_settings, certificates=self.certificates)
        self.opa = Opa(self.work, self.options.policies, self.options.bundles)
        self.kms = self.options.kms(self.work) if self.options.kms else None
        self.agent = Agent(self.work, self.kms)
        self.relay = Relay(self.work.socket("relay.sock"), self.postgres.socket) if self.options.relay else None
        self.envoy = self._make_envoy()
        shared = Shared(self.work, self.opa, self.agent)
        self.http = HttpStack(self.options.http, progress, shared=shared) if self.options.http else None

    def start(self, *, without: tuple[str, ...] = ()) -> "Stack":
        """Starts every part but those named (`opa`, `agent`), each when the one it needs is ready."""
        try:
            self._start(without)
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Stops everything that runs and removes the folder; harmless to call twice."""
        bundles = self.options.bundles.server if self.options.bundles else None
        parts = [self.http, self.envoy, self.relay, self.agent, self.opa, bundles, self.kms, self.postgres]
        for part in parts:
            if part is not None:
                part.stop()
        self.work.remove()

    def __enter__(self) -> "Stack":
        return self if self.postgres.process.running else self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

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
        if self.kms is not None:
            self._progress("the KMS")
            self.kms.start()
        if self.options.bundles is not None:
            self.options.bundles.server.start()
        if self.options.filter:
            self.agent.create_kek()
            for keyset in self.options.keysets:
                self.agent.create_keyset(keyset)
            for name, part, what in (("opa", self.opa, "OPA"), ("agent", self.agent, "the key agent")):
                if name not in without:
                    self._progress(what)
                    part.start()
        self._progress("Envoy" + (" with the filter" if self.options.filter else ""))
        self.envoy.start()
        if self.http is not None:
            self.http.start()

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
            listeners.append(Listener(name, self.socket_dir, name, config if way.filter else None, number))
        return Envoy(
            self.work,
            listeners,
            {
                "postgres": self.server_upstream(),
                "opa": Upstream(self.opa.socket, connections=OPA_CONNECTIONS),
                "key_agent": Upstream(self.agent.socket),
                **{name: way.upstream for name, way in ways.items()},
            },
            concurrency=options.concurrency,
            log_level=options.envoy_log_level,
            filter_wasm=options.filter_wasm,
            environment=options.envoy_environment,
        )
