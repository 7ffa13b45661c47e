"""The ways to the database, and to the service, that are compared."""

import shutil
from dataclasses import dataclass, replace

from loadtests.scenario import Protocol


@dataclass(frozen=True)
class Target:
    name: str
    # A line for the report.
    what: str
    # The database whose columns are protected, rather than the one with the same rows in clear; bodies of the service
    # alike.
    sealed: bool = False
    # What stands between: nothing, "envoy" or "pgbouncer".
    proxy: str = ""
    filter: bool = False
    protocol: Protocol = "postgres"
    # The client connects by TCP, with TLS or without; before a server that takes both.
    over_tcp: bool = False
    # The client speaks TLS, and so does what is next to the server; a proxy has a bridge on either side.
    tls: bool = False
    # The filter is of the native module.
    native: bool = False


TARGETS = {
    target.name: target
    for target in (
        Target("direct", "straight to the server"),
        Target("envoy-tcp", "Envoy's TCP proxy, no filter", proxy="envoy"),
        Target("envoy-noop", "Envoy with the filter, nothing protected", proxy="envoy", filter=True),
        Target("fieldveil", "Envoy with the filter, fields protected", sealed=True, proxy="envoy", filter=True),
        Target("fieldveil-native", "the same, with the native filter", True, "envoy", True, native=True),
        Target("pgbouncer", "PgBouncer, a server connection for as long as a client is there", proxy="pgbouncer"),
    )
}
# Of suites about TLS, beside those.
TLS_TARGETS = {
    target.name: target
    for target in (
        Target("direct-tcp", "straight to the server, by TCP without TLS", over_tcp=True),
        Target("direct-tls", "straight to the server, by TCP with TLS", over_tcp=True, tls=True),
        Target("envoy-tcp-tls", "Envoy's TCP proxy between two bridges", proxy="envoy", over_tcp=True, tls=True),
        Target(
            "fieldveil-tls", "Envoy with the filter between two bridges, fields protected",
            True, "envoy", True, over_tcp=True, tls=True,
        ),
    )
}  # fmt: skip
# The same ways to MariaDB.
MYSQL_TARGETS = {
    name: replace(target, protocol="mysql") for name, target in TARGETS.items() if target.proxy != "pgbouncer"
}
HTTP_TARGETS = {
    target.name: target
    for target in (
        Target("direct-http", "straight to the service, HTTP/1.1", protocol="http"),
        Target("envoy-http", "Envoy's HTTP connection manager and router, no filter", proxy="envoy", protocol="http"),
        Target("fieldveil-json", "the same with the filter, fields protected", True, "envoy", True, "http"),
        Target("fieldveil-json-native", "the same, with the native filter", True, "envoy", True, "http", native=True),
    )
}


def present() -> list[Target]:
    """Those that this machine has the programs for."""
    return [target for target in TARGETS.values() if target.proxy != "pgbouncer" or shutil.which("pgbouncer")]
