"""A stack whose rules decide by who the end user is, and a table of theirs."""

import json
from pathlib import Path

import psycopg

from harness import Options, Stack
from harness.tokens import Issuer

DATABASE = "people"
SSN, CARD, NOTES = "078-05-1120", "4111 1111 1111 1111", "prefers letters"
MASKED_SSN = "***-**-1120"
# What a column shows to those whom no rule lets see more.
SEALED = "sealed"
COLUMNS = ("ssn", "card", "notes")

REVEAL = {"treatment": "reveal"}
RULES = {
    "accept": {"purpose": ["application_name", "comment"], "token": ["comment"]},
    "rules": [
        {"name": "the app writes", "who": {"session": {"user": ["app"]}}, "labels": ["person.*"], "write": "seal"},
        {"name": "support", "who": {"claims": {"roles": ["support"]}}, "labels": ["person.ssn"], "read": REVEAL},
        {
            "name": "clerks",
            "who": {"claims": {"roles": ["clerk"]}},
            "labels": ["person.ssn"],
            "read": {"treatment": "mask", "format": "last4"},
        },
        {
            "name": "refunds",
            "who": {"session": {"user": ["app"], "purpose": ["refund"]}},
            "labels": ["person.card"],
            "read": REVEAL,
        },
        {
            "name": "reports",
            "who": {"session": {"user": ["app", "postgres"], "role": ["reporting"]}},
            "labels": ["person.notes"],
            "read": REVEAL,
        },
    ],
}  # fmt: skip


def write_policies(folder: Path, issuer: Issuer, protocol: str = "postgres", table: str = "public.person") -> None:
    """Catalog and rules, and whose tokens are believed, to load beside the example's."""
    issuer.write_policies(folder)
    labels = {f"person.{column}": {"protection": "randomized", "keyset": "pii", "type": "text"} for column in COLUMNS}
    columns = {table: {column: f"person.{column}" for column in COLUMNS}}
    catalog = {"labels": labels, "databases": [{"protocol": protocol, "database": DATABASE, "columns": columns}]}
    for kind, data in (("catalog", catalog), ("rules", RULES)):
        path = folder / kind / DATABASE / "data.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(data))


class People:
    def __init__(self, folder: Path, **options: object) -> None:
        self.issuer = Issuer()
        write_policies(folder, self.issuer)
        settings = {"log_statement": "all", "log_min_messages": "debug1", "log_parameter_max_length": "-1"}
        options = {
            "relay": True,
            "policies": (folder,),
            "postgres_settings": settings,
            "envoy_log_level": "debug",
        } | options
        self.stack = Stack(Options(**options)).start()
        self._create()

    def _create(self) -> None:
        with self.stack.direct() as direct:
            direct.execute(f"CREATE DATABASE {DATABASE}")
            direct.execute("CREATE ROLE reporting")
            direct.execute("GRANT reporting TO app")
        with self.stack.direct(database=DATABASE) as direct:
            direct.execute("CREATE TABLE person (id int PRIMARY KEY, ssn text, card text, notes text)")
            direct.execute("GRANT ALL ON person TO app, reporting")
            direct.execute("GRANT CREATE ON SCHEMA public TO app")
        with self.connect() as app:
            app.execute("INSERT INTO person VALUES (1, %s, %s, %s)", [SSN, CARD, NOTES])

    def connect(self, user: str = "app", **options: object) -> psycopg.Connection:
        return self.stack.connect(user, DATABASE, **options)

    def token(self, *roles: str, subject: str = "ada", **how: object) -> str:
        return self.issuer.token(subject, roles=list(roles), **how)

    @property
    def dsn(self) -> str:
        return self.stack.dsn("app", DATABASE)


def read(connection: psycopg.Connection, comment: str = "", **how: object) -> tuple[str, ...]:
    """What the columns show: the value, or SEALED."""
    return shown(connection.execute(f"SELECT ssn, card, notes FROM person{comment}", **how).fetchone())


def shown(row: tuple[str, ...]) -> tuple[str, ...]:
    """Each of a row's values, or SEALED."""
    return tuple(SEALED if value.startswith("fv1.") else value for value in row)


def ssn(connection: psycopg.Connection, **how: object) -> str:
    return read(connection, **how)[0]
