"""The clients, in the order of the matrix: how each is started, and the exact version that it is."""

import re
from dataclasses import dataclass
from pathlib import Path

from tools.layout import CLIENTS as FOLDER
from tools.layout import E2E, GO_CLIENTS, RUST_CLIENTS, VENV

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
    return Client(name, name, "rust", (RUST_CLIENTS[name],), pinned, remark)


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
        "Its JSONField is for `jsonb`, which no declared type is yet: a field for `json` is a subclass of two methods. "
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
)
