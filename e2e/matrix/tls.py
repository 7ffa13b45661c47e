"""The same programs within TLS all the way: by a bridge from clients and one to a server that takes TLS alone.

Each is told to verify the bridge's certificate and its name, in the strictest way that its driver has.
"""

from collections.abc import Callable
from pathlib import Path

import pymysql

from harness import Options, Stack, shop
from harness.bridge import Bridge, Bridged, ClientBridge
from harness.envoy import Upstream
from harness.mysql_builds import Build
from harness.mysql_stack import SEALED, MySqlOptions, MySqlStack
from harness.stack import Way
from matrix import database, mysql, run
from matrix.clients import Client
from matrix.result import Result

TLS = "tls"
HOST = "localhost"


class PostgresByTls(Bridged):
    """A server that takes TLS alone, and both bridges."""

    def __init__(self, policies: Path) -> None:
        stack = Stack(Options(tls=True, ways=self._ways, policies=(database.write_policies(policies),)))
        known = stack.certificates
        self.bridge = ClientBridge(stack.work, "from-clients", "postgres", stack.envoy.socket(TLS), known)
        super().__init__(stack, self.to_server, self.bridge)

    def prepare(self) -> None:
        database.create(self.stack)

    def run(self, client: Client) -> Result:
        database.start_over(self.stack, database.DATABASE)
        result = Result(client.name)
        run.start(client, result, self.where(self.stack.certificates.ca))
        run.look_stored(self.stack, result)
        run.look_through(self.stack, result)
        return result

    def where(self, ca: Path) -> dict[str, str]:
        verified = {"PGSSLMODE": "verify-full", "PGSSLROOTCERT": str(ca), "NODE_EXTRA_CA_CERTS": str(ca)}
        return run.where(self.stack, HOST, self.bridge.port, database.DATABASE) | verified

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
        self.bridge = ClientBridge(stack.work, "my-from-clients", "mysql", stack.envoy.socket(SEALED), known)
        super().__init__(stack, self.to_server, self.bridge)

    def prepare(self) -> None:
        mysql.create(self.stack)

    def run(self, client: Client) -> Result:
        result = Result(client.name)
        mysql.start_over(self.stack, mysql.DATABASE, self.connect)
        run.start(client, result, self.where(self.stack.certificates.ca))
        mysql.look_stored(self.stack, result)
        mysql.look_through(self.connect, result)
        return result

    def where(self, ca: Path) -> dict[str, str]:
        return mysql.where(HOST, self.bridge.port, mysql.DATABASE) | {"MYSQL_CA": str(ca)}

    def connect(self) -> pymysql.Connection:
        """By PyMySQL."""
        return pymysql.connect(
            host=HOST, port=self.bridge.port, user=database.USER, password=shop.PASSWORD, database=mysql.DATABASE,
            autocommit=True, ssl_ca=str(self.stack.certificates.ca), ssl_verify_identity=True,
        )  # fmt: skip

    def _upstream(self, stack: MySqlStack) -> Upstream:
        self.to_server = Bridge(stack.work, "my-to-server", "mysql", stack.server.port, stack.certificates.ca)
        return self.to_server.upstream


def refuses(client: Client, where: Callable[[Path], dict[str, str]], unknown_ca: Path) -> list[str]:
    """What is wrong with how the client meets a bridge whose authority it does not know: it has to do nothing."""
    result = Result(client.name)
    run.start(client, result, where(unknown_ca))
    return [f"{client.name}, {name}: works with an unknown authority" for name, it in result.steps.items() if it.ok]
