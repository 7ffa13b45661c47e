"""Envoy as the sidecar of HTTP services."""

from dataclasses import dataclass
from pathlib import Path

from dev.layout import ENVOY_HTTP_TEMPLATE
from harness.envoy import LOOPBACK, Envoy


@dataclass(frozen=True)
class ServerTls:
    """The sidecar's own certificate, towards the clients."""

    certificate: Path
    key: Path


@dataclass(frozen=True)
class JwtProvider:
    """An issuer whose tokens Envoy believes. `payload` is the filter's `http.identity.jwt_payload`."""

    name: str
    issuer: str
    # A file with the key set.
    jwks: Path
    audiences: tuple[str, ...] = ()
    payload: str = "claims"


@dataclass(frozen=True)
class HttpListener:
    """One way in: a loopback port of the system's choice."""

    name: str
    upstream: str
    # The filter's configuration; None: requests pass as they are.
    filter: dict | None = None
    tls: ServerTls | None = None
    jwt: tuple[JwtProvider, ...] = ()
    # Without a token: 401.
    token_required: bool = False

    def described(self) -> dict:
        """As the template takes it."""
        return {
            "name": self.name,
            "addresses": [{"path": "", "address": LOOPBACK, "port": 0}],
            "filter": self.filter,
            "upstream": self.upstream,
            "tls": {"certificate": str(self.tls.certificate), "key": str(self.tls.key)} if self.tls else "",
            "jwt": [
                {
                    "name": provider.name,
                    "issuer": provider.issuer,
                    "audiences": list(provider.audiences),
                    "jwks": str(provider.jwks),
                    "payload": provider.payload,
                }
                for provider in self.jwt
            ],
            "token_required": self.token_required,
        }


class Gateway(Envoy):
    """Its listeners are `HttpListener`s."""

    TEMPLATE = ENVOY_HTTP_TEMPLATE

    def _sockets(self) -> list[Path]:
        return []
