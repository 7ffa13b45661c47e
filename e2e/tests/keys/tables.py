"""A database whose tables held values before they were protected, and `fieldveil table` on them."""

import json
from pathlib import Path

import psycopg

from harness import Options, Stack, shop
from harness.waiting import until
from tests.keys.table_command import TableCommand
from tests.sample import SAMPLES

DATABASE = "tables"
PERSON, ITEMS, EVERYTHING = "public.person", 'public."Order Items"', "public.everything"
TRAP = "public.trap"

ROWS = 1500
FILL = f"""
INSERT INTO person (id, ssn, note, token, born)
SELECT i, '078-05-' || i, CASE WHEN i % 5 > 0 THEN '0' END, 'token ' || i % 7,
  '2000-02-' || lpad((1 + i % 28)::text, 2, '0')
FROM generate_series(1, {ROWS}) i"""
STORED = "SELECT id, visits, ssn, note, token, born FROM person ORDER BY id"


def _label(protection: str, **more: str) -> dict:
    return {"protection": protection, "keyset": "pii", "type": "text", "on_plaintext": "reveal", **more}


COLUMNS = {
    PERSON: {
        "ssn": _label("deterministic"),
        "note": _label("randomized"),
        "token": _label("indexed"),
        "born": _label("randomized", type="date"),
    },
    ITEMS: {"Gift": _label("randomized"), "Born": _label("deterministic", type="date")},
    EVERYTHING: {s.column: _label(s.protection, type=s.type) for s in SAMPLES},
    "public.narrow": {"short": _label("randomized", type="varchar(10)")},
    "public.keyless": {"ssn": _label("randomized")},
    "public.keyed": {"ssn": _label("deterministic")},
    "public.numbers": {"amount": _label("randomized", type="int8")},
    "public.shown": {"ssn": _label("randomized")},
    "public.cards": {
        "card": {"protection": "format_preserving", "alphabet": "digits", "keyset": "pii", "type": "text"},
        "holder": _label("randomized"),
    },
    # Made anew by each test that needs one of its own kind.
    "public.trap": {"ssn": _label("deterministic"), "note": _label("randomized")},
    "public.tenants": {
        "own": {**_label("deterministic"), "tenant": {"from": "session.user", "names": {"app": "acme"}}},
        "ours": _label("randomized"),
    },
    "public.probe": {"random": _label("randomized"), "fixed": _label("deterministic")},
}

SCHEMA = f"""
CREATE TABLE person (id bigint PRIMARY KEY, visits int NOT NULL DEFAULT 0, ssn text, note text, token text, born text);
CREATE INDEX ON person (left(token, 33));
CREATE TABLE "Order Items" ("Tenant" text, n int, "Gift" bytea, "Born" text, PRIMARY KEY ("Tenant", n))
  PARTITION BY HASH ("Tenant");
CREATE TABLE items_0 PARTITION OF "Order Items" FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE items_1 PARTITION OF "Order Items" FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE everything (id serial PRIMARY KEY, {", ".join(f"{s.column} {s.stored_as}" for s in SAMPLES)});
CREATE TABLE narrow (id bigint PRIMARY KEY, short varchar(40));
CREATE TABLE keyless (ssn text);
CREATE TABLE keyed (ssn text PRIMARY KEY);
CREATE TABLE numbers (id bigint PRIMARY KEY, amount int8);
CREATE VIEW shown AS SELECT id, ssn FROM person;
CREATE TABLE cards (id bigint PRIMARY KEY, card text, holder text);
CREATE TABLE tenants (id bigint PRIMARY KEY, own text, ours text);
INSERT INTO tenants SELECT i, 'own', 'ours' FROM generate_series(1, 10) i;
CREATE TABLE probe (id bigint PRIMARY KEY, random text, fixed text);
"""


class Tables(TableCommand):
    """A stack with the tables, and the command on them."""

    def __init__(self, policies: Path) -> None:
        self.catalog = _write_policies(policies)
        keys = {"keys": {"refresh_seconds": 1}}
        settings = {"wal_level": "replica", "max_wal_senders": "4"}
        options = Options(policies=(policies,), filter_config=keys, postgres_settings=settings)
        self.stack = Stack(options).start()
        with self.stack.postgres.connect() as superuser:
            superuser.execute(f"CREATE DATABASE {DATABASE}")
        with self.direct() as direct:
            direct.execute(SCHEMA)
            for role in shop.ROLES:
                direct.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {role}")
                direct.execute(f"GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO {role}")

    def direct(self) -> psycopg.Connection:
        return self.stack.direct(database=DATABASE)

    def app(self, user: str = "app", **options: object) -> psycopg.Connection:
        return self.stack.connect(user, DATABASE, **options)

    @property
    def direct_url(self) -> str:
        server = self.stack.postgres
        return psycopg.conninfo.make_conninfo(
            host=str(server.socket_dir), port=server.port, user="postgres", dbname=DATABASE
        )

    @property
    def keysets(self) -> Path:
        return self.stack.agent.keysets

    def through_url(self, user: str) -> str:
        return self.stack.dsn(user, DATABASE)

    def rotate(self, *purposes: str) -> None:
        """New primary keys, in use by the sidecar when this returns."""
        for purpose in purposes:
            self.stack.agent.keys("rotate", "pii", "--purpose", purpose)

        def are_in_use() -> bool:
            with self.app() as app:
                app.execute("TRUNCATE probe")
                app.execute("INSERT INTO probe VALUES (1, 'x', 'x')")
            return self.run("verify", "public.probe").status == 0

        until(are_in_use, f"new keys ({', '.join(purposes)}) to be in use")


def trap(tables: Tables, schema: str, user: str = "app") -> None:
    """The table `trap`, and what stands in the way of sealing it."""
    with tables.direct() as direct:
        direct.execute("DROP TABLE IF EXISTS trap")
        direct.execute(schema)
        direct.execute(f"GRANT ALL ON trap TO {user}")


def stored(tables: Tables) -> list[tuple]:
    with tables.direct() as direct:
        return direct.execute(STORED).fetchall()


def seen(tables: Tables) -> list[tuple]:
    with tables.app() as app:
        return app.execute(STORED).fetchall()


def _write_policies(folder: Path) -> Path:
    database = {"protocol": "postgres", "database": DATABASE, "columns": COLUMNS}
    everything = ["public.person.*", 'public."Order Items".*', *(f"{t}.*" for t in COLUMNS if t not in (PERSON, ITEMS))]
    rules = [
        {
            "name": "the application works with everything",
            "who": {"session": {"user": ["app"]}},
            "labels": everything,
            "read": {"treatment": "reveal"},
            "write": "seal",
        },
        {
            "name": "support writes all and sees parts",
            "who": {"session": {"user": ["support"]}},
            "labels": ["public.person.ssn", "public.person.note", "public.person.token"],
            "read": {"treatment": "mask", "format": "last4"},
            "write": "seal",
        },
        {
            "name": "support sees years",
            "who": {"session": {"user": ["support"]}},
            "labels": ["public.person.born"],
            "read": {"treatment": "mask", "format": "year"},
            "write": "seal",
        },
    ]
    for name, data in (("catalog", {"databases": [database]}), ("rules", {"rules": rules})):
        path = folder / name / "tables" / "data.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(data))
    return folder / "catalog"
