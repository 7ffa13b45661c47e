"""The service that is compared: it keeps bodies in memory, those in clear and those that came sealed apart."""

import http.client
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from dev.layout import BODYSTORE, JSON_FILTER_WASM
from harness import unixhttp
from harness.agent import Agent
from harness.envoy import Upstream
from harness.gateway import Gateway, HttpListener
from harness.http_stack import http_filter_config
from harness.opa import Opa
from harness.parts import OPA_CONNECTIONS
from harness.process import Process
from harness.workdir import WorkDir
from loadtests.bodies import Look
from loadtests.failures import Failed
from loadtests.rig.policies import SERVICE
from loadtests.rig.targets import Target

# Where bodies lie in the service: where nothing is protected, and where fields are.
CLEAR, GUARDED = "clear", "guarded"
# By which the filter knows who asks.
USER_HEADER = "x-user"
CONFIG = {"http": {"identity": {"user_header": USER_HEADER}}}
JSON = {"content-type": "application/json"}
LISTENER = "http"
# Enough for the largest body on a busy machine.
SECONDS = 60.0


class WrongBody(Failed):
    """A body is not stored, or not given back, as it must be."""


@dataclass(frozen=True)
class LiveHttp:
    """One target, running: where it listens, and whose CPU to read."""

    target: Target
    socket: Path
    processes: Callable[[], dict[str, list[str]]]

    @property
    def name(self) -> str:
        return self.target.name

    @property
    def sealed(self) -> bool:
        return self.target.sealed

    @property
    def space(self) -> str:
        return GUARDED if self.sealed else CLEAR

    def headers(self, user: str) -> dict[str, str]:
        return {USER_HEADER: user}

    def at(self, socket: Path, processes: Callable[[], dict[str, list[str]]]) -> "LiveHttp":
        """The same by another proxy of its kind."""
        return replace(self, socket=socket, processes=processes)

    def get(self, space: str, name: str, user: str = "app") -> bytes:
        return self._ask("GET", f"/{space}/{name}", None, self.headers(user))

    def send(self, space: str, name: str, body: bytes, user: str = "app") -> Look:
        """What the service saw of it."""
        answer = self._ask("POST", f"/{space}/{name}", body, {**self.headers(user), **JSON})
        return msgspec.json.decode(answer, type=Look)

    def _ask(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> bytes:
        try:
            status, _, answer = unixhttp.request(self.socket, method, path, body, headers, timeout=SECONDS)
        except (OSError, http.client.HTTPException) as error:
            raise WrongBody(f"{method} {path} through {self.name}: {type(error).__name__}") from error
        if status != 200:
            raise WrongBody(f"{method} {path} through {self.name}: status {status}")
        return answer


@dataclass(frozen=True)
class _Listener(HttpListener):
    """At a Unix socket too, as all targets are asked."""

    socket: Path = field(kw_only=True)

    def described(self) -> dict:
        told = super().described()
        return {**told, "addresses": [*told["addresses"], {"path": str(self.socket)}]}


class _Proxy(Gateway):
    def _sockets(self) -> list[Path]:
        return [listener.socket for listener in self._listeners]


class Service:
    """`loadtests/k6/bodystore`, and the proxies before it."""

    def __init__(self, work: WorkDir, opa: Opa, agent: Agent) -> None:
        self._work, self._opa, self._agent = work, opa, agent
        self.socket = work.socket("bodystore.sock")
        self.process = Process("bodystore", work.log("bodystore"))

    def start(self) -> None:
        self.process.start([BODYSTORE, self.socket])
        self.process.wait_until(lambda: unixhttp.is_ok(self.socket, "/counts"))

    def stop(self) -> None:
        self.process.stop()

    def look(self, space: str, name: str) -> Look:
        """Straight at the service: what is stored."""
        status, _, answer = unixhttp.request(self.socket, "GET", f"/looks/{space}/{name}")
        if status != 200:
            raise WrongBody(f"the service has no {space}/{name}")
        return msgspec.json.decode(answer, type=Look)

    def counts(self) -> dict[str, int]:
        """How often each body was written since they were last forgotten."""
        return json.loads(unixhttp.request(self.socket, "GET", "/counts")[2])

    def forget_counts(self) -> None:
        unixhttp.request(self.socket, "DELETE", "/counts")

    def live(self, target: Target, proxy: Gateway | None) -> LiveHttp:
        socket = proxy.socket(LISTENER) if proxy else self.socket
        return LiveHttp(target, socket, lambda: self.processes(target, proxy))

    def processes(self, target: Target, proxy: Gateway | None) -> dict[str, list[str]]:
        parts = {"server": self, "proxy": proxy}
        if target.filter:
            parts |= {"opa": self._opa, "agent": self._agent}
        found = {name: [f"pid:{part.process.pid}"] for name, part in parts.items() if part is not None}
        return {**found, "client": ["self"]}

    def envoy(self, target: Target, name: str = "") -> Gateway:
        """Another one before the service, not started yet: the shipped configuration, with its filter or without."""
        name = name or target.name
        config = http_filter_config(SERVICE, CONFIG) if target.filter else None
        listener = _Listener(LISTENER, "service", config, socket=self._work.socket(f"{name}-in.sock"))
        clusters = {
            "service": Upstream(self.socket),
            "opa": Upstream(self._opa.socket, connections=OPA_CONNECTIONS),
            "key_agent": Upstream(self._agent.socket),
        }
        shell = "native" if target.native else "wasm"
        module = JSON_FILTER_WASM
        return _Proxy(self._work, [listener], clusters, log_level="warn", filter_wasm=module, shell=shell, name=name)
