"""The tables: the same in both databases, but that protected columns have their declared types in the plain one
and are text or bytea in the sealed one."""

from dataclasses import dataclass

from canary.names import quoted

DATABASE = "canary"
RANDOMIZED, DETERMINISTIC = "randomized", "deterministic"
# Who reads and writes everything; who sees parts; of whom no rule speaks.
WRITER, MASKED, CONCEALED = "app", "support", "auditor"


@dataclass(frozen=True)
class Column:
    name: str
    type: str
    protection: str = ""
    label: str = ""
    stored: str = "text"
    # What follows the type in CREATE TABLE.
    extra: str = ""

    @property
    def protected(self) -> bool:
        return bool(self.protection)

    @property
    def equality(self) -> bool:
        return self.protection == DETERMINISTIC

    @property
    def base(self) -> str:
        """The type without its modifiers."""
        return self.type.partition("(")[0]


@dataclass(frozen=True)
class Table:
    name: str
    columns: tuple[Column, ...]
    schema: str = "public"
    # Columns that tell rows apart, never protected.
    key: tuple[str, ...] = ("id",)
    suffix: str = ""
    # Tables of which this is a part: its rows are theirs too.
    inherits: str = ""
    # In the plain database too it is a view.
    view_of: str = ""
    writable: bool = True

    @property
    def sql(self) -> str:
        name = quoted(self.name)
        return name if self.schema == "public" else f"{quoted(self.schema)}.{name}"

    def column(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)


def det(name: str, type_: str, label: str = "", **more: str) -> Column:
    return Column(name, type_, DETERMINISTIC, f"canary.{label or name}", **more)


def rand(name: str, type_: str, label: str = "", **more: str) -> Column:
    return Column(name, type_, RANDOMIZED, f"canary.{label or name}", **more)


ID = Column("id", "int4", extra="PRIMARY KEY")

PERSON = Table(
    "person",
    (
        ID,
        Column("name", "text"),
        Column("boss", "int4"),
        det("email", "text", extra="UNIQUE"),
        det("ssn", "text"),
        rand("phone", "varchar(40)"),
        det("nick", "varchar(30)", stored="bytea"),
        det("level", "int4"),
        rand("points", "int4", stored="bytea"),
        rand("salary", "numeric(14,2)"),
        det("rate", "numeric"),
        rand("born", "date"),
        det("joined", "date"),
        rand("active", "bool"),
        det("vip", "bool"),
        det("token", "uuid"),
        rand("photo", "bytea", stored="bytea"),
        Column("word", "text", extra="DEFAULT 'by default'"),
    ),
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
)
EVENT_COLUMNS = (
    Column("id", "int4"),
    Column("region", "text"),
    det("who", "text", "ssn", stored="bytea"),
    rand("detail", "text"),
)
EVENT = Table("event", EVENT_COLUMNS, key=("id", "region"), suffix="PARTITION BY LIST (region)")
PARTITIONS = {"event_eu": "FOR VALUES IN ('eu')", "event_us": "FOR VALUES IN ('us')", "event_rest": "DEFAULT"}
BASE = Table("base", (Column("id", "int4", extra="PRIMARY KEY"), det("tag", "text"), rand("info", "text")))
CHILD = Table("child", (*BASE.columns, Column("more", "text")), inherits="base")
ODD = Table(
    "Odd Name",
    (
        Column("Id", "int4", extra="PRIMARY KEY"),
        det("Secret Word", "text", "secret_word"),
        rand("Order", "text", "ordered"),
        Column("plain Word", "text"),
    ),
    key=("Id",),
)
# The name of a protected table, in a schema where nothing is protected.
ARCHIVED = Table(
    "person",
    (ID, Column("name", "text"), Column("email", "text"), Column("ssn", "text")),
    schema="archive",
)
PLAIN = Table(
    "plainthing", (ID, Column("person_id", "int4"), Column("word", "text"), Column("amount", "int4", extra="DEFAULT 7"))
)
VIEW = Table(
    "person_view",
    tuple(PERSON.column(name) for name in ("id", "name", "ssn", "email", "level")),
    view_of="person",
    writable=False,
)

TABLES = (PERSON, ACCOUNT, EVENT, BASE, CHILD, ODD, ARCHIVED, PLAIN)
PARTITION_TABLES = tuple(Table(name, EVENT_COLUMNS, key=EVENT.key) for name in PARTITIONS)
READABLE = (*TABLES, *PARTITION_TABLES, VIEW)
PROTECTED = tuple(table for table in TABLES if any(column.protected for column in table.columns))
