"""PostgreSQL's regression suite, straight and through the sidecar, in a database with a protected table."""

import tempfile
from pathlib import Path

import psycopg

from compat import pg_suite
from compat.protected import COLUMNS, LISTED, PLAINTEXT, TABLE
from harness import Options, Stack, Upstream, policies
from harness.postgres import SUPERUSER, Postgres
from harness.process import PartFailed
from harness.sidecar import Progress
from harness.stack import Way

SUFFIX = ".out"
CREATE_TABLE = f"CREATE TABLE {TABLE} {LISTED}"
# Servers, and the listener that leads to the second.
STRAIGHT, THROUGH = "straight", "through"


def is_there() -> bool:
    return pg_suite.is_there()


def run(straight: Path, through: Path, progress: Progress) -> None:
    """Each run has a new server of its own, and leaves what it printed in a folder."""
    with tempfile.TemporaryDirectory() as folder:
        written = policies.write_for_table(Path(folder), pg_suite.DATABASE, TABLE, COLUMNS, SUPERUSER)
        servers: dict[str, Postgres] = {}

        def ways(stack: Stack) -> dict[str, Way]:
            servers.update({name: pg_suite.server(stack.work, name) for name in (STRAIGHT, THROUGH)})
            return {THROUGH: Way(Upstream(servers[THROUGH].socket))}

        with Stack(Options(ways=ways, policies=(written,))).start() as stack:
            server = servers[STRAIGHT]
            _run(server, stack, server.socket_dir, server.port, straight, progress)
            socket = stack.envoy.socket(THROUGH)
            port = int(socket.name.rpartition(".")[2])
            _run(servers[THROUGH], stack, socket.parent, port, through, progress)


def _run(server: Postgres, stack: Stack, host: Path, port: int, results: Path, progress: Progress) -> None:
    progress(f"the suite, {results.name}")
    try:
        server.start()
        pg_suite.create_database(server)
        with server.connect(pg_suite.DATABASE) as database:
            database.execute(CREATE_TABLE)
        pg_suite.run(server, stack.work, host, port, results)
        if results.name == THROUGH:
            _require_protection(server, stack)
    finally:
        server.stop()


def _require_protection(server: Postgres, stack: Stack) -> None:
    """The way that the suite took is one that protects, or the comparison would show nothing."""
    dsn = stack.dsn(SUPERUSER, pg_suite.DATABASE, THROUGH)
    with psycopg.connect(dsn, autocommit=True) as sidecar, server.connect(pg_suite.DATABASE) as direct:
        sidecar.execute(f"INSERT INTO {TABLE} VALUES (1, %s, %s)", [PLAINTEXT, PLAINTEXT])
        opened = sidecar.execute(f"SELECT email, notes FROM {TABLE}").fetchone()
        stored = direct.execute(f"SELECT email, notes FROM {TABLE}").fetchone()
    if opened != (PLAINTEXT, PLAINTEXT) or stored is None or any(PLAINTEXT in value for value in stored):
        raise PartFailed(f"the table {TABLE} was not protected on the way that the suite took")
