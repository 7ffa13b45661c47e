"""A database of MySQL's protocol whose tables held values before they were protected."""

import json
from pathlib import Path
from urllib.parse import quote

import pymysql

from harness import shop
from harness.mysql_builds import Build
from harness.mysql_stack import SEALED, MySqlOptions, MySqlStack
from harness.mysqld import SUPERUSER
from harness.waiting import until
from tests.keys.table_command import TableCommand
from tests.mysql.asking import ask, change

DATABASE = "tables"
PERSON, PARTS = "tables.person", "tables.parts"
ROWS = 600
STORED = "SELECT id, visits, ssn, note, token, born FROM person ORDER BY id"


def _label(protection: str, **more: str) -> dict:
    return {"protection": protection, "keyset": "pii", "type": "text", "on_plaintext": "reveal", **more}


PERSONS = {
    "ssn": _label("deterministic", type="varchar(40)"),
    "note": _label("randomized", type="varchar(60)"),
    "token": _label("indexed"),
    "born": _label("randomized", type="date"),
}
COLUMNS = {
    PERSON: PERSONS,
    PARTS: {"serial": _label("randomized", type="bytea")},
    "tables.narrow": {"short": _label("randomized", type="varchar(10)")},
    "tables.trap": {"ssn": _label("deterministic")},
    "tables.probe": {"random": _label("randomized"), "fixed": _label("deterministic")},
}

SCHEMA = f"""
CREATE TABLE person (
  id bigint unsigned PRIMARY KEY, visits int NOT NULL DEFAULT 0,
  ssn varchar(300), note varbinary(300), token text, born text,
  changed timestamp(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3));
CREATE TABLE parts (place binary(4), day date, name varchar(20), serial blob, PRIMARY KEY (place, day, name));
CREATE TABLE narrow (id bigint PRIMARY KEY, short varchar(40));
CREATE TABLE probe (id bigint PRIMARY KEY, random text, fixed text);
CREATE TABLE numbers (n int PRIMARY KEY);
INSERT INTO numbers VALUES {", ".join(f"({n})" for n in range(1, ROWS + 1))}"""
FILL = """
INSERT INTO person (id, ssn, note, token, born, changed)
SELECT n, CONCAT('078-05-', n), IF(n % 5 > 0, '0', NULL), CONCAT('token ', n % 7),
  CONCAT('2000-02-', LPAD(1 + n % 28, 2, '0')), '2001-01-01' FROM numbers"""
FILL_PARTS = """
INSERT INTO parts
SELECT UNHEX(LPAD(HEX(n % 50), 8, '0')), DATE_ADD('2020-01-01', INTERVAL n % 9 DAY), CONCAT('Ü ', n),
  CONCAT('serial ', n)
FROM numbers"""


class MySqlTables(TableCommand):
    """A stack with the tables, and the command on them."""

    def __init__(self, policies: Path, build: Build) -> None:
        self.catalog = _write_policies(policies)
        keys = {"keys": {"refresh_seconds": 1}}
        self.stack = MySqlStack(MySqlOptions(build=build, policies=(policies,), filter_config=keys)).start()
        with self.direct(None) as direct:
            change(direct, f"CREATE DATABASE {DATABASE}")
            change(direct, f"USE {DATABASE}")
            for statement in SCHEMA.split(";\n"):
                change(direct, statement)
            for role in shop.ROLES:
                change(direct, f"GRANT ALL ON {DATABASE}.* TO {role}@'%'")

    @property
    def keysets(self) -> Path:
        return self.stack.agent.keysets

    @property
    def direct_url(self) -> str:
        return f"mysql://{SUPERUSER}@/{DATABASE}?socket={self.stack.server.socket}"

    def through_url(self, user: str) -> str:
        return f"mysql://{user}:{quote(shop.PASSWORD, safe='')}@/{DATABASE}?socket={self.stack.envoy.socket(SEALED)}"

    def direct(self, database: str | None = DATABASE) -> pymysql.Connection:
        return self.stack.direct(database=database)

    def app(self, user: str = "app") -> pymysql.Connection:
        return self.stack.connect(user, DATABASE)

    def fill(self) -> None:
        with self.direct() as direct:
            for statement in ("TRUNCATE person", "TRUNCATE parts", FILL, FILL_PARTS, "DROP TABLE IF EXISTS trap"):
                change(direct, statement)

    def trap(self, schema: str) -> None:
        """The table `trap`, and what stands in the way of sealing it."""
        with self.direct() as direct:
            for statement in ("DROP TABLE IF EXISTS trap", *schema.split(";; ")):
                change(direct, statement)

    def rows(self, statement: str = STORED) -> list[tuple]:
        """As the application sees them."""
        with self.app() as app:
            return ask(app, statement)

    def stored(self, statement: str = STORED) -> list[tuple]:
        with self.direct() as direct:
            return ask(direct, statement)

    def rotate(self, *purposes: str) -> None:
        """New primary keys, in use by the sidecar when this returns."""
        for purpose in purposes:
            self.stack.agent.keys("rotate", "pii", "--purpose", purpose)

        def are_in_use() -> bool:
            with self.app() as app:
                change(app, "DELETE FROM probe")
                change(app, "INSERT INTO probe VALUES (1, 'x', 'x')")
            return self.run("verify", "tables.probe").status == 0

        until(are_in_use, f"new keys ({', '.join(purposes)}) to be in use")


def _write_policies(folder: Path) -> Path:
    rules = [
        {
            "name": "the application works with everything",
            "who": {"session": {"user": ["app"]}},
            "labels": [f"{table}.*" for table in COLUMNS],
            "read": {"treatment": "reveal"},
            "write": "seal",
        },
        {
            "name": "support writes all and sees parts",
            "who": {"session": {"user": ["support"]}},
            "labels": [f"{PERSON}.ssn", f"{PERSON}.note", f"{PERSON}.token"],
            "read": {"treatment": "mask", "format": "last4"},
            "write": "seal",
        },
        {
            "name": "support sees years",
            "who": {"session": {"user": ["support"]}},
            "labels": [f"{PERSON}.born"],
            "read": {"treatment": "mask", "format": "year"},
            "write": "seal",
        },
    ]
    databases = [{"protocol": "mysql", "database": DATABASE, "columns": COLUMNS}]
    for name, data in (("catalog", {"databases": databases}), ("rules", {"rules": rules})):
        path = folder / name / "tables" / "data.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(data))
    return folder / "catalog"
