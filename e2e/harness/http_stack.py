"""The parts of a protected HTTP service together: OPA, the key agent and Envoy, as one thing to start and stop."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from dev.layout import JSON_FILTER_WASM
from harness.certificates import Certificates
from harness.envoy import LOOPBACK, Upstream
from harness.gateway import Gateway, HttpListener, JwtProvider, ServerTls
from harness.kms import Kms
from harness.parts import overlaid, shared_config
from harness.sidecar import KEYSETS, ControlPlane, Progress, Sidecar, silent
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
    keysets: tuple[str, ...] = KEYSETS
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


class HttpStack(Sidecar):
    """With the control plane of another stack, it starts and stops its own Envoy alone."""

    def __init__(
        self, options: HttpOptions, progress: Progress = silent, *, control: ControlPlane | None = None
    ) -> None:
        self.options = options
        owned = ControlPlane(options.kms, options.policies) if control is None else control
        super().__init__(owned, progress, owns_control=control is None)
        speaks_tls = options.tls or any(way.tls for way in options.ways.values())
        self.certificates = Certificates(self.work.path / "gateway-certificates") if speaks_tls else None
        self.envoy = self._make_envoy()

    @property
    def is_running(self) -> bool:
        return self.envoy.process.running

    def port(self, listener: str = JSON) -> int:
        """The loopback TCP port; another one after each start of Envoy."""
        return self.envoy.port(listener)

    def url(self, path: str = "", listener: str = JSON) -> str:
        """Through the sidecar."""
        scheme, host = ("https", "localhost") if self._speaks_tls(listener) else ("http", LOOPBACK)
        return f"{scheme}://{host}:{self.port(listener)}{path}"

    def _start(self, without: tuple[str, ...]) -> None:
        if self.options.filter and self._owns_control:
            self.control.start(self.options.keysets, without, self._progress)
        self._progress("Envoy for HTTP" + (" with the filter" if self.options.filter else ""))
        self.envoy.start()

    def _stop(self) -> None:
        self.envoy.stop()

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
            **self.control.upstreams(),
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
