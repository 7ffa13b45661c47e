"""Sessions started a second, and what TLS to the server adds to one: the same server, by TCP, with TLS and without."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psycopg
from psycopg import sql

from harness import install, shop, waiting
from harness.certificates import SERVER_NAME, Certificates
from harness.envoy import LOOPBACK, Envoy, Listener, Upstream, UpstreamTls
from harness.parts import OPA_CONNECTIONS
from harness.postgres import Postgres
from harness.stack import filter_config
from loadtests.figures import NONE, spread
from loadtests.results import Measurement, Table
from loadtests.rig import SEALED, Live, Rig, Target, tls
from loadtests.rig.rig import SETTINGS
from loadtests.runner import RunFailed, Runner, scenario_result
from loadtests.scenario import Closed, Fixed, Scenario, Suite
from loadtests.summary import ScenarioSummary

USER = "app"
ROUNDS = 3
CLIENTS = 2
# The ways, by listener.
WAYS = {
    "clear": Target("envoy-tcp", "Envoy's TCP proxy, TCP to the server", proxy="envoy"),
    "encrypted": Target("envoy-tcp, TLS", "Envoy's TCP proxy, TLS to the server", proxy="envoy"),
    "clear_filter": Target("fieldveil", "the filter, TCP to the server", True, "envoy", True),
    "encrypted_filter": Target("fieldveil, TLS", "the filter, TLS to the server", True, "envoy", True),
}
ENCRYPTED = ("encrypted", "encrypted_filter")
WITHOUT_TLS = {"envoy-tcp, TLS": "envoy-tcp", "fieldveil, TLS": "fieldveil"}
MEASURES = {
    "sessions/s": "operations_per_second",
    "median, µs": "latency_us.50",
    "CPU of Envoy, µs": "cpu_us.proxy",
    "CPU of the server, µs": "cpu_us.server",
}
# Not PgBouncer, which gives each client a server connection that it has already: no session begins at the server.
TARGETS = ("direct", "envoy-tcp", "envoy-noop", "fieldveil", "fieldveil-native")
# Of a table, not of scenarios.
SUITE = Suite("sessions", "sessions with and without TLS", lambda _: [])
TITLE = "Sessions with and without TLS to the server"


def scenario(scale: float, name: str = "session", *, timed: bool = True) -> Scenario:
    """Over and over: connect, SELECT 1, close."""
    return Scenario(
        name=name,
        what="connect, SELECT 1, close",
        script="session",
        workload=Closed(CLIENTS, max(0.3, scale)) if timed else Fixed(CLIENTS, 2 * CLIENTS),
        unit="session",
        targets=TARGETS,
    )


def with_and_without_tls(rig: Rig, scale: float, *, timed: bool) -> Table:
    """One server for all, so that only TLS differs. Without a server that takes TLS, a table that says so."""
    if not install.is_there(install.WITH_TLS):
        reason = f"not measured: {install.WITH_TLS.package}, a PostgreSQL with TLS, has no wheel for this system"
        return Table(TITLE, ["way"], [], reason)
    sessions = scenario(scale, "session-tls", timed=timed)
    folder = rig.work.path / "sessions"
    folder.mkdir()
    rounds = ROUNDS if timed else 1
    runner = Runner([], scale, rounds, folder)
    measured: list[Measurement] = []
    # Compiling the filter once more takes longer than all else here, and its sessions by TLS are tested elsewhere.
    ways = WAYS if timed else {name: target for name, target in WAYS.items() if not target.filter}
    with _ways(rig, ways) as lives:
        for number in range(1, rounds + 1):
            measured += [_checked(runner.measure(rig, SUITE, sessions, live, number)) for live in lives]
    return table(ScenarioSummary(scenario_result(sessions, measured)))


def table(found: ScenarioSummary) -> Table:
    """A line a way: what a session takes, and how many times as much with TLS as without."""
    rows, values = [], {}
    for name in found.targets():
        cells = [name]
        for head, measure in MEASURES.items():
            figure = found.figure(measure, name)
            without = WITHOUT_TLS.get(name)
            cells += [spread(figure), spread(found.ratio(measure, name, without)) if without else NONE]
            if figure and measure.startswith("cpu_us."):
                values.setdefault(name, {})[head.removesuffix(", µs")] = figure.median
        rows.append(cells)
    columns = ["way"]
    for head in MEASURES:
        columns += [head, "times without TLS"]
    note = (
        f"Connect through the sidecar's Unix socket, SELECT 1, close; {CLIENTS} clients. PostgreSQL 17 on loopback for "
        "all, TLS 1.3 with a verified certificate, a full handshake each time."
    )
    return Table(TITLE, columns, rows, note, values, "µs a session")


@contextmanager
def _ways(rig: Rig, ways: dict[str, Target]) -> Iterator[list[Live]]:
    """A server that takes sessions with TLS and without, and an Envoy with a listener for each way to it."""
    folder = rig.work.path / "sessions"
    certificates = Certificates(folder / "certificates")
    postgres = Postgres(rig.work, SETTINGS, certificates=certificates, name="pg-tls")
    envoy = _envoy(rig, postgres, ways, UpstreamTls(certificates.ca, SERVER_NAME), folder)
    try:
        postgres.start()
        _prepare(postgres)
        envoy.start()
        lives = [_live(rig, postgres, envoy, listener, target) for listener, target in ways.items()]
        _await(lives[0])
        yield lives
    finally:
        envoy.stop()
        postgres.stop()


def _envoy(rig: Rig, postgres: Postgres, ways: dict[str, Target], encryption: UpstreamTls, folder: Path) -> Envoy:
    def listener(number: int, name: str, target: Target) -> Listener:
        upstream = "encrypted" if name in ENCRYPTED else "clear"
        return Listener(name, folder, upstream, filter_config() if target.filter else None, number)

    server = Upstream(address=LOOPBACK, port=postgres.port)
    clusters = {
        "clear": server,
        "encrypted": replace(server, tls=encryption),
        "opa": Upstream(rig.opa.socket, connections=OPA_CONNECTIONS),
        "key_agent": Upstream(rig.agent.socket),
    }
    listeners = [listener(5432 + index, name, target) for index, (name, target) in enumerate(ways.items())]
    return Envoy(rig.work, listeners, clusters, log_level="warn", name="sessions")


def _prepare(postgres: Postgres) -> None:
    with postgres.connect() as superuser:
        word = sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}")
        superuser.execute(word.format(sql.Identifier(USER), sql.Literal(shop.PASSWORD)))
        superuser.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(SEALED)))
    tls.allow_clear(postgres)


def _await(live: Live) -> None:
    """The server reads its rules anew in its own time."""
    try:
        waiting.until_done(lambda: live.connect().close(), psycopg.OperationalError, f"a session by {live.target.what}")
    except waiting.NotReached as error:
        raise RunFailed(str(error)) from error


def _live(rig: Rig, postgres: Postgres, envoy: Envoy, listener: str, target: Target) -> Live:
    socket = envoy.socket(listener)
    parts = {"proxy": envoy, **({"opa": rig.opa, "agent": rig.agent} if target.filter else {})}

    def processes() -> dict[str, list[str]]:
        found = {name: [f"pid:{part.process.pid}"] for name, part in parts.items()}
        return {**found, "server": [f"tree:{postgres.process.pid}"], "client": ["self"]}

    return Live(target, SEALED, socket.parent, int(socket.name.rpartition(".")[2]), processes)


def _checked(measured: Measurement) -> Measurement:
    if measured.errors or measured.wrong_answers or not measured.answers:
        counts = f"{measured.errors} errors, {measured.wrong_answers} of {measured.answers} answers wrong"
        raise RunFailed(f"sessions through {measured.target}: {counts}")
    return measured
