"""Both sidecars after all that is counted and can be brought about here, and what Prometheus would read of them."""

import json
import re
import urllib.request
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg

from harness import HttpOptions, Options, Stack, Upstream, unixhttp
from harness import shop as example
from harness.bridge import Bridge, ClientBridge
from harness.bundles import Bundles
from harness.certificates import Certificates
from harness.http_stack import JSON
from harness.ports import LOOPBACK, free_port
from harness.shop_api import ShopApi
from harness.stack import Way
from harness.tls_end import TlsEnd
from harness.waiting import until
from harness.workdir import WorkDir
from tests.http import wire

DATABASE, SERVICE, BRIDGED = "watched", "watched-api", "bridged"
COLUMNS = ("ssn", "card", "notes", "mail")


@dataclass(frozen=True)
class Series:
    metric: str
    # As Prometheus writes them, without the braces.
    labels: str

    @property
    def names(self) -> set[str]:
        """Of its labels."""
        return set(re.findall(r'([a-zA-Z_]\w*)="', self.labels))


LABELS = {f"person.{column}": {"protection": "randomized", "keyset": "pii", "type": "text"} for column in COLUMNS} | {
    "person.ssn": {"protection": "deterministic", "keyset": "pii", "type": "text"},
    "person.mail": {"protection": "randomized", "keyset": "pii", "type": "text", "on_plaintext": "reveal"},
}
CATALOG = {
    "labels": LABELS,
    "databases": [
        {
            "protocol": "postgres",
            "database": DATABASE,
            "columns": {"public.person": {column: f"person.{column}" for column in COLUMNS}},
        }
    ],
    "services": [{"protocol": "http", "service": SERVICE, "paths": {"$..ssn": "person.ssn"}}],
}
LAST4 = {"treatment": "mask", "format": "last4"}


def _reads(user: str, column: str, **read: object) -> dict:
    who = {"session": {"user": [user]}}
    return {"name": f"{user} reads {column}", "who": who, "labels": [f"person.{column}"], "read": read}


def _rules() -> list[dict]:
    """Every treatment for somebody; the auditor has none."""
    everything = {"who": {"session": {"user": ["app"]}}, "labels": ["person.*"], "write": "seal"}
    expires = datetime.now(UTC) + timedelta(days=1)
    emergency = {"reason": "INC-1", "expires": f"{expires:%Y-%m-%dT%H:%M:%SZ}"}
    budget = {"rows": 1, "per_seconds": 3600, "then": LAST4}
    return [
        {"name": "app works with everything", **everything, "read": {"treatment": "reveal"}},
        _reads("support", "ssn", **LAST4),
        _reads("support", "notes", treatment="null"),
        _reads("support", "card", treatment="reveal", budget=budget),
        {**_reads("billing", "ssn", treatment="reveal"), "break_glass": emergency},
    ]


class Watched:
    """One worker, under a signed bundle."""

    def __init__(self, folder: Path) -> None:
        self.work = WorkDir()
        self.service = ShopApi(self.work)
        self.bundles = Bundles(folder)
        policies = folder / "policies"
        for kind, data in (("catalog", CATALOG), ("rules", {"rules": _rules()})):
            path = policies / kind / DATABASE / "data.json"
            path.parent.mkdir(parents=True)
            path.write_text(json.dumps(data))
        self.bundles.publish(self.bundles.build(policies, revision="2026-11_2"))
        keys = {"keys": {"refresh_seconds": 1}}
        http = HttpOptions(Upstream(self.service.socket), SERVICE, filter_config=keys)
        # So that a key is used up by its second value.
        changes = keys | {"limits": {"key_uses": 2}}
        self.bridge_statuses = [f"{LOOPBACK}:{free_port()}" for _ in range(2)]
        self.stack = Stack(Options(bundles=self.bundles, http=http, filter_config=changes, ways=self._ways))

    def __enter__(self) -> "Watched":
        try:
            self.service.start()
            self.stack.start()
            self.bridge.start()
            self.from_clients.start()
            self._bring_about()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.from_clients.stop()
        self.bridge.stop()
        self.end.stop()
        self.stack.stop()
        self.service.stop()
        self.work.remove()

    def scrape(self) -> list[Series]:
        """What Prometheus would read of both sidecars' Envoys, of OPA, of the key agent and of both bridges."""
        envoys = (self.stack.envoy.admin, self.stack.http.envoy.admin)
        pages = [(socket, "/stats/prometheus") for socket in envoys]
        pages += [(socket, "/metrics") for socket in (self.stack.opa.socket, self.stack.agent.socket)]
        texts = [_page(*page) for page in pages]
        for status in self.bridge_statuses:
            with urllib.request.urlopen(f"http://{status}/metrics") as answer:
                texts.append(answer.read().decode())
        return [series for text in texts for series in _series(text)]

    def _bring_about(self) -> None:
        self._create()
        with self._connect("app") as app:
            app.execute("INSERT INTO person VALUES (1, '078-05-1120', '4111', 'early', 'a@b.c')")
            app.execute("INSERT INTO person VALUES (2, '219-09-9999', '4222', 'late', 'd@e.f')")
            _refused(app, "SELECT id FROM person WHERE ssn LIKE '219%'")
        for user in ("app", "support", "billing", "auditor"):
            with self._connect(user) as reader:
                reader.execute("SELECT ssn, card, notes FROM person").fetchall()
        with psycopg.connect(self.stack.dsn("app", DATABASE, BRIDGED)) as bridged:
            bridged.execute("SELECT id FROM person").fetchall()
        with self.stack.direct(database=DATABASE) as direct:
            direct.execute("UPDATE person SET mail = 'never sealed' WHERE id = 1")
            direct.execute("UPDATE person SET card = left(card, 40) WHERE id = 2")
        with self._connect("app") as app:
            app.execute("SELECT mail FROM person").fetchall()
            _refused(app, "SELECT card FROM person WHERE id = 2")
        # Nobody in particular may write nothing.
        answer = wire.ask(self.stack.http.port(JSON), "POST", "/echo/person", {"ssn": "078-05-1120"})
        assert answer.status == 403, answer.body
        # What a worker counts reaches Envoy on its next tick.
        until(lambda: self.stack.http.envoy.stats("wasmcustom.fieldveil.http.refused"))
        self._fail_a_renewal()
        self._offer_a_bad_bundle()

    def _create(self) -> None:
        with self.stack.postgres.connect() as superuser:
            superuser.execute(f"CREATE DATABASE {DATABASE}")
        with self.stack.direct(database=DATABASE) as direct:
            direct.execute(f"CREATE TABLE person (id int PRIMARY KEY, {', '.join(f'{name} text' for name in COLUMNS)})")
            example.allow_all(direct, "person")

    def _ways(self, stack: Stack) -> dict[str, Way]:
        """By a bridge to the same server, which has no TLS of its own."""
        known = Certificates(self.work.path / "certificates")
        self.end = TlsEnd(known, stack.postgres.socket)
        shown = ("--client-certificate", known.client, "--client-key", known.client_key)
        to_server, from_clients = (("--metrics-address", status) for status in self.bridge_statuses)
        options = ("--direct-tls", *shown, *to_server)
        self.bridge = Bridge(self.work, "bridge", "postgres", self.end.port, known.ca, *options)
        # It takes clients; none comes.
        nowhere = self.work.socket("nowhere.sock")
        self.from_clients = ClientBridge(self.work, "from-clients", "postgres", nowhere, known, *from_clients)
        return {BRIDGED: Way(self.bridge.upstream)}

    def _fail_a_renewal(self) -> None:
        self.stack.agent.stop()
        until(lambda: self.stack.envoy.stats("wasmcustom.fieldveil.renewals.failed"))
        self.stack.agent.start()

    def _offer_a_bad_bundle(self) -> None:
        self.bundles.publish(b"no bundle")
        until(lambda: self.stack.opa.metrics("bundle_failed_load_counter"))

    def _connect(self, user: str) -> psycopg.Connection:
        return self.stack.connect(user, DATABASE)


def _refused(connection: psycopg.Connection, text: str) -> None:
    try:
        connection.execute(text).fetchall()
    except psycopg.Error:
        return
    raise AssertionError(f"was not refused: {text}")


def _page(socket: Path, path: str) -> str:
    status, _, body = unixhttp.request(socket, "GET", path)
    assert status == 200, body
    return body.decode()


def _series(text: str) -> list[Series]:
    lines = re.findall(r"^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$", text, flags=re.MULTILINE)
    return [Series(metric, labels) for metric, labels in lines]
