"""The parts of a protected HTTP service together: OPA, the key agent and Envoy, as one thing to start and stop."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from dev.layout import JSON_FILTER_WASM
from harness.agent import Agent
from harness.certificates import Certificates
from harness.envoy import LOOPBACK, Upstream
from harness.gateway import Gateway, HttpListener, JwtProvider, ServerTls
from harness.kms import Kms
from harness.opa import Opa
from harness.parts import OPA_CONNECTIONS, overlaid, shared_config
from harness.workdir import WorkDir

# Listeners.
JSON = "json"
PLAIN = "plain"


@dataclass(frozen=True)
class HttpWay:
    """Another listener and what it leads to; what is not told is as the stack's."""

    upstream: Upstream | None = None
    filter: bool = True
    filter_config: dict | None = None
    tls: bool = False
    jwt: tuple[JwtProvider, ...] = ()
    token_required: bool = False


@dataclass(frozen=True)
class HttpOptions:
    """What a stack is made of."""

    # Where the service is.
    upstream: Upstream
    # What catalogs call it.
    service: str = "shop-api"
    # Off: Envoy alone, for measuring what the filter adds.
    filter: bool = True
    # A second listener without the filter.
    plain: bool = False
    # More listeners, by name.
    ways: dict[str, HttpWay] = field(default_factory=dict)
    tls: bool = False
    jwt: tuple[JwtProvider, ...] = ()
    token_required: bool = False
    keysets: tuple[str, ...] = ("pii", "payments")
    # What wraps them; without one, a development key in a file.
    kms: Callable[[WorkDir], Kms] | None = None
    # More catalogs and rules, beside the example's.
    policies: tuple[Path, ...] = ()
    concurrency: int = 1
    envoy_log_level: str = "info"
    # Added to the environment of Envoy's process.
    envoy_environment: dict[str, str] | None = None
    # Laid over the filter's configuration.
    filter_config: dict | None = None
    filter_wasm: Path = JSON_FILTER_WASM


def http_filter_config(service: str, *changes: dict | None) -> dict:
    """The filter's configuration, with changes laid over it."""
    config = {**shared_config("shop-api"), "http": {"service": service}}
    for change in changes:
        config = overlaid(config, change or {})
    return config


@dataclass(frozen=True)
class Shared:
    """Parts that another stack has started and will stop."""

    work: WorkDir
    opa: Opa
    agent: Agent


class HttpStack:
    def __init__(
        self,
        options: HttpOptions,
        progress: Callable[[str], None] = lambda _: None,
        *,
        shared: Shared | None = None,
    ) -> None:
        self.options = options
        self._progress = progress
        self._owns = shared is None
        self.work = shared.work if shared else WorkDir()
        self.kms = options.kms(self.work) if options.kms and not shared else None
        self.opa = shared.opa if shared else Opa(self.work, options.policies)
        self.agent = shared.agent if shared else Agent(self.work, self.kms)
        speaks_tls = options.tls or any(way.tls for way in options.ways.values())
        self.certificates = Certificates(self.work.path / "gateway-certificates") if speaks_tls else None
        self.envoy = self._make_envoy()

    def start(self, *, without: tuple[str, ...] = ()) -> "HttpStack":
        """Starts every part but those named (`opa`, `agent`), each when the one it needs is ready."""
        try:
            self._start(without)
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Stops everything that it started and removes the folder; harmless to call twice."""
        self.envoy.stop()
        if not self._owns:
            return
        for part in (self.agent, self.opa, self.kms):
            if part is not None:
                part.stop()
        self.work.remove()

    def __enter__(self) -> "HttpStack":
        return self if self.envoy.process.running else self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def port(self, listener: str = JSON) -> int:
        """The loopback TCP port; another one after each start of Envoy."""
        return self.envoy.port(listener)

    def url(self, path: str = "", listener: str = JSON) -> str:
        """Through the sidecar."""
        scheme, host = ("https", "localhost") if self._speaks_tls(listener) else ("http", LOOPBACK)
        return f"{scheme}://{host}:{self.port(listener)}{path}"

    def _start(self, without: tuple[str, ...]) -> None:
        if self._owns and self.options.filter:
            if self.kms is not None:
                self._progress("the KMS")
                self.kms.start()
            self.agent.create_kek()
            for keyset in self.options.keysets:
                self.agent.create_keyset(keyset)
            for name, part, what in (("opa", self.opa, "OPA"), ("agent", self.agent, "the key agent")):
                if name not in without:
                    self._progress(what)
                    part.start()
        self._progress("Envoy for HTTP" + (" with the filter" if self.options.filter else ""))
        self.envoy.start()

    def _speaks_tls(self, listener: str) -> bool:
        way = self.options.ways.get(listener)
        return way.tls if way else self.options.tls

    def _make_envoy(self) -> Gateway:
        options = self.options
        main = HttpWay(None, options.filter, None, options.tls, options.jwt, options.token_required)
        ways = {JSON: main}
        if options.plain:
            ways[PLAIN] = HttpWay(None, filter=False, tls=options.tls)
        ways |= options.ways
        clusters = {
            "service": options.upstream,
            "opa": Upstream(self.opa.socket, connections=OPA_CONNECTIONS),
            "key_agent": Upstream(self.agent.socket),
        }
        clusters |= {f"service_{name}": way.upstream for name, way in ways.items() if way.upstream}
        return Gateway(
            self.work,
            [self._listener(name, way) for name, way in ways.items()],
            clusters,
            concurrency=options.concurrency,
            log_level=options.envoy_log_level,
            filter_wasm=options.filter_wasm,
            name="gateway",
            environment=options.envoy_environment,
        )

    def _listener(self, name: str, way: HttpWay) -> HttpListener:
        config = http_filter_config(self.options.service, self.options.filter_config, way.filter_config)
        certificates = self.certificates if way.tls else None
        return HttpListener(
            name,
            f"service_{name}" if way.upstream else "service",
            filter=config if way.filter else None,
            tls=ServerTls(certificates.gateway, certificates.gateway_key) if certificates else None,
            jwt=way.jwt,
            token_required=way.token_required,
        )
