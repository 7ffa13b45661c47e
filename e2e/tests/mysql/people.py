"""The end users of `tests.policies.people` behind one user of a server of MySQL's protocol."""

from pathlib import Path

import pymysql

from harness import shop
from harness.mysql_builds import Build
from harness.mysql_stack import MySqlOptions, MySqlStack
from harness.tokens import Issuer
from tests.mysql.asking import ask, change
from tests.policies.people import CARD, DATABASE, NOTES, SSN, shown, write_policies


class MySqlPeople:
    """A stack whose rules decide by who the end user is; all that might hold a token is kept."""

    def __init__(self, folder: Path, build: Build) -> None:
        self.issuer = Issuer()
        write_policies(folder, self.issuer, "mysql", f"{DATABASE}.person")
        options = MySqlOptions(build=build, relay=True, plain=True, policies=(folder,), envoy_log_level="debug")
        self.stack = MySqlStack(options).start()
        try:
            self._create()
        except BaseException:
            self.stack.stop()
            raise

    def _create(self) -> None:
        with self.stack.direct() as direct:
            change(direct, f"CREATE DATABASE {DATABASE}")
            change(direct, f"CREATE TABLE {DATABASE}.person (id int PRIMARY KEY, ssn text, card text, notes text)")
            change(direct, "CREATE ROLE reporting")
            for user in (*(f"{role}@'%'" for role in shop.ROLES), "reporting"):
                change(direct, f"GRANT ALL ON {DATABASE}.* TO {user}")
            change(direct, "GRANT reporting TO app@'%'")
        with self.connect() as app:
            change(app, "INSERT INTO person VALUES (1, %s, %s, %s)", [SSN, CARD, NOTES])

    def connect(self, user: str = "app", **options: object) -> pymysql.Connection:
        return self.stack.connect(user, DATABASE, **options)

    def token(self, *roles: str, subject: str = "ada", **how: object) -> str:
        return self.issuer.token(subject, roles=list(roles), **how)


def read(connection: pymysql.Connection, comment: str = "") -> tuple[str, ...]:
    """What the columns show: the value, or SEALED."""
    (row,) = ask(connection, f"SELECT ssn, card, notes FROM person{comment}")
    return shown(row)


def ssn(connection: pymysql.Connection) -> str:
    return read(connection)[0]


def identify(connection: pymysql.Connection, token: str) -> None:
    change(connection, f"SET @fieldveil_token = '{token}'")
