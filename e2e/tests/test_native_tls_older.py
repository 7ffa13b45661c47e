"""PostgreSQL before 17 that takes TLS alone, asked for it by the native filter: each version that a test can have."""

from collections.abc import Iterator

import psycopg
import pytest

from dev.layout import OLDER_POSTGRES, OLDER_POSTGRES_VERSIONS
from harness import Options, Stack, install, shop
from harness.certificates import SERVER_NAME, Certificates
from harness.envoy import LOOPBACK, SHELL, Upstream, UpstreamTls
from harness.postgres import Postgres
from harness.stack import Way
from tests.rows import ADA, INSERT

pytestmark = [
    pytest.mark.skipif(SHELL != "native", reason="it is of the native shell alone"),
    pytest.mark.skipif(not OLDER_POSTGRES.exists(), reason="no PostgreSQL before 17 with TLS for this system"),
]


class Older:
    """A server of each version, and a verified way to each."""

    def __init__(self) -> None:
        self.servers: dict[str, Postgres] = {}
        self.stack = Stack(Options(ways=self._ways))

    def start(self) -> "Older":
        try:
            for server in self.servers.values():
                server.start()
                shop.create_databases(server)
            self.stack.start()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        for server in self.servers.values():
            server.stop()
        self.stack.stop()

    def _ways(self, stack: Stack) -> dict[str, Way]:
        known = Certificates(stack.work.path / "certificates")
        trust = UpstreamTls(known.ca, SERVER_NAME, ssl_request=True)
        for version in OLDER_POSTGRES_VERSIONS:
            server = Postgres(stack.work, certificates=known, name=version, unpacked=install.older(version))
            self.servers[version] = server
        return {
            version: Way(Upstream(address=LOOPBACK, port=server.port, tls=trust))
            for version, server in self.servers.items()
        }


@pytest.fixture(scope="module")
def older() -> Iterator[Older]:
    running = Older().start()
    yield running
    running.stop()


@pytest.mark.parametrize("version", OLDER_POSTGRES_VERSIONS)
@pytest.mark.parametrize("tcp", [False, True], ids=["unix", "tcp"])
def test_values_are_sealed_and_the_session_is_encrypted(older: Older, version: str, tcp: bool) -> None:
    dsn = older.stack.dsn("app", listener=version, tcp=tcp)
    with psycopg.connect(dsn, autocommit=True) as app, older.servers[version].connect(shop.DATABASE) as direct:
        assert app.info.server_version // 10000 == int(version)
        session = "SELECT ssl, version FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
        assert app.execute(session).fetchone() == (True, "TLSv1.3")
        direct.execute("TRUNCATE customer")
        app.execute(INSERT, ADA)
        assert app.execute("SELECT name, ssn FROM customer WHERE ssn = %s", [ADA[3]]).fetchone() == (ADA[1], ADA[3])
        assert direct.execute("SELECT ssn FROM customer").fetchone()[0].startswith("fv1.")
