"""The tables: the same at both servers, but that protected columns have types of their own in the plain one, and those
of what is stored in the sealed one."""

from collections.abc import Callable

from canary.schema import DATABASE, Column, Table, det, rand
from harness.mysql_builds import Build

# What a column of the plain database is declared as.
TYPES = {
    "text": "text",
    "int4": "int",
    "numeric(14,2)": "decimal(14,2)",
    "date": "date",
    "bool": "tinyint(1)",
    "uuid": "char(36)",
    "bytea": "blob",
}
STORED = {"text": "text", "bytea": "blob", "ascii": "varchar(600) CHARACTER SET ascii COLLATE ascii_bin"}

ID = Column("id", "int4")
PERSON = Table(
    "person",
    (
        ID,
        Column("name", "text"),
        Column("boss", "int4"),
        det("email", "varchar(60)", stored="ascii", extra="UNIQUE"),
        det("ssn", "text"),
        rand("phone", "varchar(40)"),
        det("nick", "varchar(30)", stored="bytea"),
        det("level", "int4"),
        rand("points", "int4", stored="bytea"),
        rand("salary", "numeric(14,2)"),
        rand("born", "date"),
        det("joined", "date"),
        rand("active", "bool"),
        det("token", "uuid"),
        rand("photo", "bytea", stored="bytea"),
        Column("word", "varchar(30)", extra="DEFAULT 'by default'"),
    ),
    schema=DATABASE,
)
ACCOUNT = Table(
    "account",
    (
        ID,
        Column("person_id", "int4"),
        Column("kind", "text"),
        det("ssn", "text"),
        det("iban", "text", stored="bytea"),
        rand("balance", "numeric(14,2)"),
        det("opened", "date", "joined"),
        det("number", "int4", "level"),
    ),
    schema=DATABASE,
)
ODD = Table(
    "Odd Name",
    (
        Column("Id", "int4"),
        det("Secret Word", "text", "secret_word"),
        rand("Order", "text", "ordered"),
        Column("plain Word", "text"),
    ),
    schema=DATABASE,
    key=("Id",),
)
PLAIN = Table(
    "plainthing",
    (ID, Column("person_id", "int4"), Column("word", "varchar(80)"), Column("amount", "int4", extra="DEFAULT 7")),
    schema=DATABASE,
)
TABLES = (PERSON, ACCOUNT, ODD, PLAIN)
PROTECTED = (PERSON, ACCOUNT, ODD)


def name(text: str) -> str:
    return "`" + text.replace("`", "``") + "`"


def create_sql(table: Table, build: Build, *, sealed: bool) -> str:
    return create(table, build, lambda column: _type(column, sealed=sealed))


def create(table: Table, build: Build, type_of: Callable[[Column], str]) -> str:
    """A table whose texts are compared as sealed values are: by bytes, and without padding."""
    collation = "utf8mb4_0900_bin" if build.mysql else "utf8mb4_nopad_bin"
    columns = [f"{name(column.name)} {type_of(column)} {column.extra}" for column in table.columns]
    key = ", ".join(map(name, table.key))
    return (
        f"CREATE TABLE {name(table.name)} ({', '.join(columns)}, PRIMARY KEY ({key})) "
        f"CHARACTER SET utf8mb4 COLLATE {collation}"
    )


def _type(column: Column, *, sealed: bool) -> str:
    return STORED[column.stored] if sealed and column.protected else TYPES.get(column.type, column.type)
