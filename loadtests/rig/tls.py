"""The ways to PostgreSQL with TLS: straight, and with a bridge on either side of Envoy."""

from harness.bridge import Bridge, ClientBridge
from harness.certificates import Certificates
from harness.envoy import LOOPBACK, Envoy
from harness.postgres import Postgres
from harness.workdir import WorkDir
from loadtests.rig.targets import Target

# Without TLS, over loopback.
CLEAR_HBA = f"hostnossl all all {LOOPBACK}/32 scram-sha-256\n"


def options(target: Target, certificates: Certificates) -> dict[str, object]:
    """How libpq connects. No name is compared: clients connect by an address, and certificates carry names."""
    return {"sslmode": "verify-ca", "sslrootcert": certificates.ca} if target.tls else {"sslmode": "disable"}


def allow_clear(postgres: Postgres) -> None:
    """Sessions by TCP without TLS, beside those with it."""
    with (postgres.data / "pg_hba.conf").open("a") as hba:
        hba.write(CLEAR_HBA)
    with postgres.connect() as superuser:
        superuser.execute("SELECT pg_reload_conf()")


class Bridges:
    """Before an Envoy and behind it. The one behind is there first: it is Envoy's upstream."""

    def __init__(self, work: WorkDir, name: str, postgres: Postgres, certificates: Certificates) -> None:
        self._work, self._name, self._certificates = work, name, certificates
        self.server = Bridge(work, f"{name}-to-server", "postgres", postgres.port, certificates.ca)
        self.client: ClientBridge | None = None

    def before(self, envoy: Envoy, listener: str) -> ClientBridge:
        name = f"{self._name}-from-clients"
        self.client = ClientBridge(self._work, name, "postgres", envoy.socket(listener), self._certificates)
        return self.client

    def processes(self) -> dict[str, list[str]]:
        return {
            "client_bridge": [f"pid:{self.client.process.pid}"],
            "server_bridge": [f"pid:{self.server.process.pid}"],
        }
