"""The example database on a server of MySQL's protocol: what the example catalog in `policies/` speaks of."""

import pymysql

from harness.mysqld import MySqld
from harness.shop import DATABASE, PASSWORD, PLAIN_DATABASE, ROLES, TABLE

CREATE_TABLE = f"""\
CREATE TABLE IF NOT EXISTS {TABLE} (
  id    bigint PRIMARY KEY,
  name  text,
  email text,
  ssn   text,
  phone text,
  card  text,
  notes text
)"""


def create_databases(server: MySqld) -> None:
    """All of the example on a new server, straight to it."""
    with server.connect() as superuser, superuser.cursor() as cursor:
        for database in (DATABASE, PLAIN_DATABASE):
            cursor.execute(f"CREATE DATABASE {database}")
        for role in ROLES:
            cursor.execute(f"CREATE USER {role}@'%%' IDENTIFIED BY %s", [PASSWORD])
        cursor.execute(f"USE {DATABASE}")
        cursor.execute(CREATE_TABLE)
        for database in (DATABASE, PLAIN_DATABASE):
            allow_all(cursor, database)


def allow_all(cursor: pymysql.cursors.Cursor, database: str) -> None:
    """The server lets every role do everything with the database: whatever is refused, Fieldveil refused it."""
    for role in ROLES:
        cursor.execute(f"GRANT ALL ON {database}.* TO {role}@'%'")
