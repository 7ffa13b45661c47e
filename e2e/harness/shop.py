"""The example database: what the example catalog in `policies/` speaks of."""

from psycopg import Connection, sql

from harness.postgres import Postgres

DATABASE = "shop"
# A database that no catalog speaks of: its plan has no fields.
PLAIN_DATABASE = "plain"
TABLE = "customer"

# The principals that the example rules know, and one (auditor) that they do not.
ROLES = ("app", "billing", "support", "intern", "auditor")
# The server is reachable by whoever started it, on a socket in their own folder.
PASSWORD = "correct horse battery staple"

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

SEALED_COLUMNS = ("email", "ssn", "phone", "card", "notes")


def create_databases(server: Postgres) -> None:
    """All of the example on a new server, straight to it."""
    with server.connect() as superuser:
        for database in (DATABASE, PLAIN_DATABASE):
            superuser.execute(f"CREATE DATABASE {database}")
        with server.connect(DATABASE) as database:
            create(superuser, database)


def create(superuser: Connection, database: Connection) -> None:
    """Roles and, in `database`, the table. `superuser` is connected anywhere."""
    for role in ROLES:
        superuser.execute(
            sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(sql.Identifier(role), sql.Literal(PASSWORD))
        )
    database.execute(CREATE_TABLE)
    allow_all(database, TABLE)


def allow_all(database: Connection, table: str) -> None:
    """The server lets every role do everything with `table`: whatever is refused, Fieldveil refused it."""
    for role in ROLES:
        database.execute(sql.SQL("GRANT ALL ON {} TO {}").format(sql.Identifier(table), sql.Identifier(role)))
