"""PostgreSQL before 17 that takes TLS alone, reached by `fieldveil bridge`: each version that a test can have."""

from collections.abc import Iterator

import psycopg
import pytest

from dev.layout import OLDER_POSTGRES, OLDER_POSTGRES_VERSIONS
from harness import Options, Stack, install, shop
from harness.bridge import Bridge
from harness.certificates import Certificates
from harness.ports import LOOPBACK
from harness.postgres import CERTIFIED, Postgres
from harness.stack import Way
from tests.cancelling import SLEEPS, cancelling
from tests.rows import ADA, INSERT

pytestmark = [
    pytest.mark.skipif(not OLDER_POSTGRES.exists(), reason="no PostgreSQL before 17 with TLS for this system"),
    pytest.mark.parametrize("version", OLDER_POSTGRES_VERSIONS),
]


class Older:
    """A server of each version, and bridges to it beside one Envoy: one that trusts it, and one that does not."""

    def __init__(self) -> None:
        self.servers: dict[str, Postgres] = {}
        self.bridges: dict[str, Bridge] = {}
        self.certificates: Certificates | None = None
        self.stack = Stack(Options(ways=self._ways))

    def start(self) -> "Older":
        try:
            for server in self.servers.values():
                server.start()
                shop.create_databases(server)
            for bridge in self.bridges.values():
                bridge.start()
            self.stack.start()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        for part in (*self.bridges.values(), *self.servers.values()):
            part.stop()
        self.stack.stop()

    def connect(self, user: str, version: str) -> psycopg.Connection:
        """By the bridge that trusts the server."""
        return psycopg.connect(self.stack.dsn(user, listener=version), autocommit=True)

    def direct(self, version: str) -> psycopg.Connection:
        """What is really stored."""
        return self.servers[version].connect(shop.DATABASE)

    def _ways(self, stack: Stack) -> dict[str, Way]:
        known = self.certificates = Certificates(stack.work.path / "certificates")
        shown = ("--client-certificate", known.client, "--client-key", known.client_key)
        for version in OLDER_POSTGRES_VERSIONS:
            trusting, unknowing = version, f"{version}-unknown"
            server = Postgres(stack.work, certificates=known, name=trusting, unpacked=install.older(version))
            self.servers[version] = server
            for way, options in {trusting: (known.ca, *shown), unknowing: (known.unknown_ca,)}.items():
                self.bridges[way] = Bridge(stack.work, f"bridge-{way}", "postgres", server.port, *options)
        return {way: Way(bridge.upstream) for way, bridge in self.bridges.items()}


@pytest.fixture(scope="module")
def older() -> Iterator[Older]:
    running = Older().start()
    yield running
    running.stop()


def test_values_are_sealed_and_the_session_is_encrypted(older: Older, version: str) -> None:
    with older.connect("app", version) as app, older.direct(version) as direct:
        assert app.info.server_version // 10000 == int(version)
        session = "SELECT ssl, version FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
        assert app.execute(session).fetchone() == (True, "TLSv1.3")
        app.execute(INSERT, ADA)
        assert app.execute("SELECT name, ssn FROM customer WHERE ssn = %s", [ADA[3]]).fetchone() == (ADA[1], ADA[3])
        assert direct.execute("SELECT ssn FROM customer").fetchone()[0].startswith("fv1.")


def test_nobody_comes_in_without_tls(older: Older, version: str) -> None:
    """So that it is the bridge by which the others do."""
    plain = {"host": LOOPBACK, "port": older.servers[version].port, "sslmode": "disable"}
    with pytest.raises(psycopg.OperationalError, match=r"no encryption|SSL off"):
        psycopg.connect(user="app", dbname=shop.DATABASE, password=shop.PASSWORD, **plain)


def test_certificate_that_the_server_asks_for_is_shown(older: Older, version: str) -> None:
    with older.connect(CERTIFIED, version) as session:
        asked = "SELECT client_dn FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
        # Cut at 63 bytes.
        assert "/CN=sidecar." in session.execute(asked).fetchone()[0]


def test_cancel_goes_to_the_server_within_tls(older: Older, version: str) -> None:
    with older.connect("app", version) as app, older.direct(version) as direct:
        with cancelling(direct, app.cancel_safe), pytest.raises(psycopg.errors.QueryCanceled, match="user request"):
            app.execute(SLEEPS)
        assert app.execute("SELECT 42").fetchone() == (42,)


def test_server_of_an_unknown_authority_is_refused(older: Older, version: str) -> None:
    told = "none of the trusted authorities signed it; give the authority that signed it by --ca"
    with pytest.raises(psycopg.OperationalError, match=told):
        psycopg.connect(older.stack.dsn("app", listener=f"{version}-unknown"))
