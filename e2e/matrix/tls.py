"""The same programs within TLS all the way: by a bridge from clients and one to a server that takes TLS alone.

Each is told to verify the bridge's certificate and its name, in the strictest way that its driver has.
"""

import re
from functools import partial
from pathlib import Path

import pymysql

from harness import Options, Stack, shop
from harness.bridge import Bridge, Bridged, ClientBridge
from harness.certificates import Certificates
from harness.envoy import Upstream
from harness.mysql_builds import Build
from harness.mysql_stack import SEALED, MySqlOptions, MySqlStack
from harness.stack import Way
from matrix import database, mysql, run
from matrix.clients import Client
from matrix.result import Result

TLS = "tls"
# What the bridge's certificate is for.
HOST = "localhost"
# What drivers say of a certificate or a name that does not verify.
REFUSAL = re.compile(r"certif|hostname|PKIX|altnames", re.IGNORECASE)


class PostgresByTls(Bridged):
    """A server that takes TLS alone, and both bridges."""

    def __init__(self, policies: Path) -> None:
        stack = Stack(Options(tls=True, ways=self._ways, policies=(database.write_policies(policies),)))
        known = stack.certificates
        bridge = partial(ClientBridge, stack.work)
        way = ("postgres", stack.envoy.socket(TLS), known)
        self.bridge, self.misnamed = bridge("from-clients", *way), bridge("misnamed", *way, *_misnamed(known))
        super().__init__(stack, self.to_server, self.bridge, self.misnamed)

    def prepare(self) -> None:
        database.create(self.stack)

    def run(self, client: Client) -> Result:
        database.start_over(self.stack, database.DATABASE)
        result = Result(client.name)
        run.start(client, result, self.where(self.stack.certificates.ca))
        run.look_stored(self.stack, result)
        run.look_through(self.stack, result)
        return result

    def where(self, ca: Path, bridge: ClientBridge | None = None) -> dict[str, str]:
        port = (bridge or self.bridge).port
        verified = {"PGSSLMODE": "verify-full", "PGSSLROOTCERT": str(ca), "NODE_EXTRA_CA_CERTS": str(ca)}
        return run.where(self.stack, HOST, port, database.DATABASE) | verified

    def _ways(self, stack: Stack) -> dict[str, Way]:
        self.to_server = Bridge(stack.work, "to-server", "postgres", stack.postgres.port, stack.certificates.ca)
        return {TLS: Way(self.to_server.upstream, proxy_protocol=True)}


class MySqlByTls(Bridged):
    """The same of MySQL's protocol."""

    def __init__(self, build: Build, policies: Path) -> None:
        options = MySqlOptions(
            build=build,
            tls=True,
            upstream=self._upstream,
            settings={"require-secure-transport": "ON"},
            proxy_protocol=True,
            policies=(mysql.write_policies(policies),),
        )
        stack = MySqlStack(options)
        known = stack.certificates
        bridge = partial(ClientBridge, stack.work)
        way = ("mysql", stack.envoy.socket(SEALED), known)
        self.bridge, self.misnamed = bridge("my-from-clients", *way), bridge("my-misnamed", *way, *_misnamed(known))
        super().__init__(stack, self.to_server, self.bridge, self.misnamed)

    def prepare(self) -> None:
        mysql.create(self.stack)

    def run(self, client: Client) -> Result:
        result = Result(client.name)
        mysql.start_over(self.stack, mysql.DATABASE, self.connect)
        run.start(client, result, self.where(self.stack.certificates.ca))
        mysql.look_stored(self.stack, result)
        mysql.look_through(self.connect, result)
        return result

    def where(self, ca: Path, bridge: ClientBridge | None = None) -> dict[str, str]:
        return mysql.where(HOST, (bridge or self.bridge).port, mysql.DATABASE) | {"MYSQL_CA": str(ca)}

    def connect(self) -> pymysql.Connection:
        """By PyMySQL."""
        return pymysql.connect(
            host=HOST, port=self.bridge.port, user=database.USER, password=shop.PASSWORD, database=mysql.DATABASE,
            autocommit=True, ssl_ca=str(self.stack.certificates.ca), ssl_verify_identity=True,
        )  # fmt: skip

    def _upstream(self, stack: MySqlStack) -> Upstream:
        self.to_server = Bridge(stack.work, "my-to-server", "mysql", stack.server.port, stack.certificates.ca)
        return self.to_server.upstream


def _misnamed(known: Certificates) -> tuple[str | Path, ...]:
    """A certificate of the same authority for another name than `HOST`."""
    return "--certificate", known.server, "--key", known.server_key


def refuses(client: Client, bridged: PostgresByTls | MySqlByTls) -> list[str]:
    """What is wrong with how the client meets a bridge of an authority that it does not know, or of another name."""
    known = bridged.stack.certificates
    places = {
        "an unknown authority": bridged.where(known.unknown_ca),
        "another name": bridged.where(known.ca, bridged.misnamed),
    }
    found = []
    for what, place in places.items():
        result = Result(client.name)
        run.start(client, result, place)
        connect = result.steps.get("connect")
        said = f"{connect.detail if connect else ''} {' '.join(result.faults)}"
        works = [name for name, step in result.steps.items() if step.ok]
        if works or not REFUSAL.search(said):
            found.append(f"{client.name}, {what}: {', '.join(works)} {said}")
    return found
