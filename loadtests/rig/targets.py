"""The ways to the database that are compared."""

import shutil
from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    name: str
    # A line for the report.
    what: str
    # The database whose columns are protected, rather than the one with the same rows in clear.
    sealed: bool = False
    # What stands between: nothing, "envoy" or "pgbouncer".
    proxy: str = ""
    filter: bool = False


TARGETS = {
    target.name: target
    for target in (
        Target("direct", "straight to PostgreSQL"),
        Target("envoy-tcp", "Envoy's TCP proxy, no filter", proxy="envoy"),
        Target("envoy-noop", "Envoy with the filter, nothing protected", proxy="envoy", filter=True),
        Target("fieldveil", "Envoy with the filter, fields protected", sealed=True, proxy="envoy", filter=True),
        Target("pgbouncer", "PgBouncer, a server connection for as long as a client is there", proxy="pgbouncer"),
    )
}


def present() -> list[Target]:
    """Those that this machine has the programs for."""
    return [target for target in TARGETS.values() if target.proxy != "pgbouncer" or shutil.which("pgbouncer")]
