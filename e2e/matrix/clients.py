"""The clients, in the order of the matrix: how each is started, and the exact version that it is."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from dev.layout import CLIENTS as FOLDER
from dev.layout import (
    E2E,
    GO_CLIENTS,
    JAVA_CLIENTS,
    MYSQLCLIENT,
    MYSQLCLIENT_LIBRARY,
    MYSQLCLIENT_PACKAGES,
    NODE_CLIENTS,
    RUST_CLIENTS,
    VENV,
)

# What needs no toolchain of its own.
QUICK = ("python", "go")
STEPS = (
    "connect", "write", "read", "search", "update", "upsert", "batch", "prepared", "binary", "transaction", "null",
    "refusal", "copy_in", "copy_out",
)  # fmt: skip


@dataclass(frozen=True)
class Client:
    # As the program calls itself.
    name: str
    # As people call it.
    title: str
    family: str
    command: tuple[str | Path, ...]
    # Its version, or where that is pinned: a file, and what stands before the number there.
    pinned: str | tuple[Path, str]
    # What whoever uses it should know.
    remark: str
    # It speaks MySQL's protocol.
    mysql: bool = False
    # Its program can verify a server's certificate.
    tls: bool = True
    # What the set-up leaves out on some machines; a client that needs it is then left out too.
    needs: Path | None = None

    @property
    def is_there(self) -> bool:
        return self.needs is None or self.needs.exists()

    @property
    def version(self) -> str:
        if isinstance(self.pinned, str):
            return self.pinned
        file, before = self.pinned
        found = re.search(re.escape(before) + r"(\d[\w.-]*)", file.read_text())
        if found is None:
            raise ValueError(f"{file} pins no version after {before}")
        return found[1]


def _python(name: str, title: str, pinned: str, remark: str) -> Client:
    # After a dash: the way in which the program is to work.
    program, _, way = name.partition("-")
    command = (VENV / "bin" / "python", FOLDER / "python" / f"{program}_client.py", *([way] if way else []))
    return Client(name, title, "python", command, (E2E / "requirements.txt", pinned), remark)


def _go(name: str, title: str, module: str, remark: str) -> Client:
    program, _, way = name.partition("-")
    command = (GO_CLIENTS[program], *([way] if way else []))
    return Client(name, title, "go", command, (FOLDER / "go" / "go.mod", f"{module} v"), remark)


def _rust(name: str, remark: str) -> Client:
    pinned = (FOLDER / "rust" / "Cargo.toml", f'\n{name} = {{ version = "=')
    return Client(name, name, "rust", (RUST_CLIENTS[name],), pinned, remark, tls=False)


def _java(name: str, title: str, pinned: str, remark: str) -> Client:
    program, _, way = name.partition("-")
    classes = f"{JAVA_CLIENTS / 'classes'}:{JAVA_CLIENTS / 'libraries' / '*'}"
    # Strings of the values are compared, whatever the machine's own language is.
    java = ("java", "-Dfile.encoding=UTF-8", "-Duser.timezone=America/New_York", "-cp", classes)
    command = (*java, f"dev.fieldveil.clients.{program.capitalize()}", *([way] if way else []))
    return Client(name, title, "java", command, (FOLDER / "java" / "pom.xml", f"<{pinned}.version>"), remark)


def _node(name: str, title: str, package: str, remark: str) -> Client:
    pinned = (FOLDER / "node" / "package.json", f'"{package}": "')
    return Client(name, title, "node", ("node", NODE_CLIENTS / f"{name}.js"), pinned, remark)


# The server's version: psql comes with it.
PSQL = "18.4"

CLIENTS = (
    Client(
        "psql",
        "psql",
        "python",
        (VENV / "bin" / "python", FOLDER / "python" / "psql_client.py", PSQL),
        PSQL,
        "`\\bind`, `\\parse`, `\\bind_named` and pipelines work as plain statements do.",
        # This build of it has no TLS.
        tls=False,
    ),
    _python(
        "psycopg",
        "psycopg 3",
        "psycopg[binary]==",
        "Prepares a statement by name when it has run five times (`prepare_threshold`); nothing to set.",
    ),
    _python(
        "asyncpg",
        "asyncpg",
        "asyncpg==",
        "Prepares each statement by name and sends and reads binary; nothing to set. A date, uuid or numeric column "
        "takes and gives Python's own types.",
    ),
    _python(
        "sqlalchemy-psycopg",
        "SQLAlchemy over psycopg",
        "SQLAlchemy==",
        "Casts parameters in its statements: `$1::UUID`.",
    ),
    _python("sqlalchemy-asyncpg", "SQLAlchemy over asyncpg", "SQLAlchemy==", "As over psycopg."),
    _python(
        "django-client",
        "Django",
        "Django==",
        "Its JSONField is for `jsonb`; a field for `json` is a subclass with two methods. "
        "Binds in the client: values stand in the text, and uuids and the like with a cast.",
    ),
    _python(
        "django-server",
        "Django, `server_side_binding`",
        "Django==",
        '`OPTIONS: {"server_side_binding": True}`: parameters, without casts.',
    ),
    _go(
        "pgx",
        "pgx",
        "github.com/jackc/pgx/v5",
        "Prepares each statement by name and caches it; nothing to set. Its other query modes are tested as well. "
        "COPY in is binary.",
    ),
    _go(
        "pq",
        "lib/pq",
        "github.com/lib/pq",
        "Sends text; `binary_parameters=yes` makes one round trip of two, and sends bytea as binary.",
    ),
    _go("gorm-prepared", "GORM, `PrepareStmt`", "gorm.io/gorm", "Caches prepared statements itself, over pgx."),
    _go(
        "gorm-simple",
        "GORM, `PreferSimpleProtocol`",
        "gorm.io/gorm",
        "pgx writes the values into the text.",
    ),
    _rust(
        "tokio-postgres",
        "Prepares each statement by name, pipelines what is waited for together; nothing to set. COPY in is binary.",
    ),
    _rust("sqlx", "Caches prepared statements by name; nothing to set. Its batch is one INSERT of many rows."),
    _java(
        "pgjdbc-default",
        "pgjdbc",
        "pgjdbc",
        "Prepares a statement by name when it has run five times (`prepareThreshold`), and reads binary from then on.",
    ),
    _java(
        "pgjdbc-prepared",
        "pgjdbc, `prepareThreshold=1`",
        "pgjdbc",
        "Prepares a statement by name from the first time on, and reads binary from the second.",
    ),
    _java(
        "pgjdbc-binary",
        "pgjdbc, `prepareThreshold=-1`",
        "pgjdbc",
        "Prepares by name, and sends and reads binary, from the first time on.",
    ),
    _java("pgjdbc-simple", "pgjdbc, `preferQueryMode=simple`", "pgjdbc", "Writes the values into the text."),
    _java(
        "hibernate-default",
        "Hibernate",
        "hibernate",
        "Over pgjdbc. Turns java.time's types into java.sql's, which pgjdbc writes with a zone.",
    ),
    _java(
        "hibernate-direct",
        "Hibernate, `java_time_use_direct_jdbc`",
        "hibernate",
        "`hibernate.type.java_time_use_direct_jdbc=true` hands java.time's types to pgjdbc as they are.",
    ),
    _node(
        "pg",
        "node-postgres",
        "pg",
        "Sends text, but for bytea. A statement with a `name` is prepared by it; nothing to set. Its own readers of "
        "binary float8 and timestamptz give other values than the server has, with Fieldveil and without.",
    ),
    _node("drizzle", "Drizzle", "drizzle-orm", "Over node-postgres."),
)


def _connector(way: str, title: str, remark: str) -> Client:
    command = (VENV / "bin" / "python", FOLDER / "python" / "mysql_client.py", way)
    pinned = (E2E / "requirements.txt", "mysql-connector-python==")
    return Client(f"connector-{way}", f"MySQL Connector/Python{title}", "python", command, pinned, remark, mysql=True)


def _over_mysqlclient(name: str, title: str, program: str, way: str, pinned: str, remark: str) -> Client:
    # A folder of its own, for it is built on the machine.
    plugins = next(MYSQLCLIENT_LIBRARY.glob("usr/lib/*/libmariadb3/plugin"), "")
    environment = (f"PYTHONPATH={MYSQLCLIENT_PACKAGES}", f"MARIADB_PLUGIN_DIR={plugins}")
    python = ("env", *environment, VENV / "bin" / "python")
    version = pinned if pinned[0].isdigit() else (E2E / "requirements.txt", pinned)
    command = (*python, FOLDER / "python" / program, way)
    return Client(name, title, "python", command, version, remark, mysql=True, tls=False, needs=MYSQLCLIENT_PACKAGES)


# Seen here: Node.js takes `localhost` for the name where mysql2 gives it none.
MYSQL2_BY_NAME = "Within TLS connect to a name: by an IP address, `verifyIdentity` takes a certificate for `localhost`."


def _jdbc(way: str, title: str, remark: str) -> Client:
    driver = "mariadb-java-client" if way.startswith("mariadb") else "mysql-connector-j"
    return replace(_java(f"mysqljdbc-{way}", title, driver, remark), mysql=True)


MYSQL_CLIENTS = (
    Client(
        "pymysql",
        "PyMySQL",
        "python",
        (VENV / "bin" / "python", FOLDER / "python" / "mysql_client.py", "pymysql"),
        (E2E / "requirements.txt", "PyMySQL=="),
        "Writes the values into the text.",
        mysql=True,
    ),
    _over_mysqlclient(
        "mysqlclient", "mysqlclient", "mysql_client.py", "mysqlclient", MYSQLCLIENT, "Writes the values into the text."
    ),
    _over_mysqlclient(
        "django-mysql", "Django over mysqlclient", "django_client.py", "mysql", "Django==", "Binds in the client."
    ),
    _connector("pure", "", "All of it in Python; writes the values into the text."),
    _connector("c", ", over its C library", "Writes the values into the text."),
    _connector("prepared", ", `cursor(prepared=True)`", "Prepares each statement; sends and reads binary."),
    replace(
        _go(
            "mysql-text",
            "go-sql-driver/mysql, `interpolateParams=true`",
            "github.com/go-sql-driver/mysql",
            "Writes the values into the text.",
        ),
        name="go-mysql-text",
        mysql=True,
    ),
    replace(
        _go(
            "mysql-prepared",
            "go-sql-driver/mysql",
            "github.com/go-sql-driver/mysql",
            "Prepares each statement that has values; sends and reads binary.",
        ),
        name="go-mysql-prepared",
        mysql=True,
    ),
    _jdbc("mariadb-text", "MariaDB Connector/J", "Writes the values into the text."),
    _jdbc("mariadb-prepared", "MariaDB Connector/J, `useServerPrepStmts=true`", "Sends and reads binary."),
    _jdbc("mysql-text", "MySQL Connector/J", "Writes the values into the text."),
    _jdbc("mysql-prepared", "MySQL Connector/J, `useServerPrepStmts=true`", "Sends and reads binary."),
    *(
        Client(
            f"mysql2-{way}",
            f"mysql2, `{call}`",
            "node",
            ("node", NODE_CLIENTS / "mysql2.js", way),
            (FOLDER / "node" / "package.json", '"mysql2": "'),
            remark,
            mysql=True,
        )
        for way, call, remark in (
            ("text", "query", f"Writes the values into the text. {MYSQL2_BY_NAME}"),
            (
                "prepared",
                "execute",
                f"Prepares each statement and caches it; sends and reads binary. {MYSQL2_BY_NAME}",
            ),
        )
    ),
    Client(
        "sqlx-mysql",
        "sqlx",
        "rust",
        (RUST_CLIENTS["sqlx-mysql"],),
        (FOLDER / "rust" / "Cargo.toml", '\nsqlx = { version = "='),
        "Prepares each statement and caches it; sends and reads binary.",
        mysql=True,
        tls=False,
    ),
)
