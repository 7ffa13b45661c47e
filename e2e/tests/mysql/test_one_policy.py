"""One label in two databases: what is sealed in one opens, is masked and is found by equality in the other."""

import datetime
import decimal
import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from harness import Options, Stack
from harness import shop as example
from harness.mysql_builds import OLDER
from harness.mysql_stack import MySqlStack
from tests.mysql.asking import ask, change, refusal

DATABASE = "pair"
# The applications' numbers of the rows: one that each sealed itself, and one that it got from the other.
OWN, FOREIGN = 1, 2
NOT_SUPPORTED = 1235


@dataclass(frozen=True)
class Kind:
    """One type, a value of it as each database's driver has it, and what a mask shows of it."""

    type: str
    value: object
    # What equals no stored value.
    other: object
    # As MySQL's driver has it, where that is something else.
    in_mysql: object = None
    mask: str = ""
    masked: object = None
    # Where the stored column is not text.
    binary: bool = False
    alphabet: str = ""

    @property
    def shown(self) -> object:
        """As MySQL's driver gives it."""
        return self.value if self.in_mysql is None else self.in_mysql

    @property
    def protections(self) -> tuple[str, ...]:
        """Equal texts of JSON are not told apart from other texts of the same."""
        searched = () if self.type == "json" else ("deterministic", "indexed")
        return ("randomized", *searched, *(["format_preserving"] if self.alphabet else []))


KINDS = {
    "words": Kind("text", "Grüße, 'Ada' \\ ☃", "Ada", mask="first1", masked="G***************"),
    "code": Kind("varchar(12)", "123456789012", "123456789013", mask="last4", masked="********9012", alphabet="digits"),
    "badge": Kind("text", "Ab3xYz", "ab3xyz", mask="first1", masked="A*****", alphabet="alphanumeric"),
    "born": Kind(
        "date", datetime.date(1815, 12, 10), datetime.date(1815, 1, 1), mask="year", masked=datetime.date(1815, 1, 1)
    ),
    "amount": Kind("numeric(10,2)", decimal.Decimal("-1234.50"), decimal.Decimal("1234.50")),
    "number": Kind("int8", -(2**53) - 1, -(2**53)),
    "active": Kind("bool", True, False, in_mysql=1),
    "bytes": Kind("bytea", b"\0\x01\x7f '\\ \xc3\xa4", b"\0", binary=True),
    "seen": Kind(
        "timestamp",
        datetime.datetime(2024, 2, 29, 23, 59, 59, 120000),
        datetime.datetime(2024, 2, 29, 23, 59, 59),
        mask="year",
        masked=datetime.datetime(2024, 1, 1),
    ),
    "token": Kind(
        "uuid",
        uuid.UUID("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
        uuid.UUID(int=0),
        in_mysql="a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
    ),
    "document": Kind("json", '{"b": 1, "a": "ü"}', "{}"),
}
COLUMNS = {
    f"{name}_{protection}": (kind, protection) for name, kind in KINDS.items() for protection in kind.protections
}
SEARCHED = [column for column, (_, protection) in COLUMNS.items() if protection != "randomized"]
MASKED = [column for column, (kind, _) in COLUMNS.items() if kind.mask]
LABEL = "pair.{}".format


def write_policies(folder: Path) -> Path:
    def label(kind: Kind, protection: str) -> dict:
        told = {"protection": protection, "keyset": "pii", "type": kind.type}
        if protection == "format_preserving":
            told["alphabet"] = kind.alphabet
        if kind.type == "bool" and protection != "randomized":
            told["accept_leakage"] = "the values are of a test"
        return told | ({"mask": kind.mask} if kind.mask else {})

    labels = {LABEL(column): label(*how) for column, how in COLUMNS.items()}
    table = {column: LABEL(column) for column in COLUMNS}
    databases = [
        {"protocol": "postgres", "database": DATABASE, "columns": {"public.thing": table}},
        {"protocol": "mysql", "database": DATABASE, "columns": {f"{DATABASE}.thing": table}},
    ]
    rules = [
        {
            "name": "the application works with everything",
            "who": {"session": {"user": ["app"]}},
            "labels": [LABEL("*")],
            "read": {"treatment": "reveal"},
            "write": "seal",
        },
        {
            "name": "support sees masks",
            "who": {"session": {"user": ["support"]}},
            "labels": [LABEL(column) for column in MASKED],
            "read": {"treatment": "mask"},
        },
    ]
    for name, data in (("catalog", {"labels": labels, "databases": databases}), ("rules", {"rules": rules})):
        path = folder / name / DATABASE / "data.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(data))
    return folder


class Both:
    """PostgreSQL and MariaDB, each behind its sidecar, under one policy; a row of each is in both."""

    def __init__(self, folder: Path) -> None:
        self.postgres = Stack(Options(policies=(write_policies(folder),))).start()
        try:
            self.mysql = MySqlStack(control=self.postgres.control).start()
        except BaseException:
            self.postgres.stop()
            raise

    def stop(self) -> None:
        self.mysql.stop()
        self.postgres.stop()

    def create(self) -> None:
        with self.postgres.direct() as direct:
            direct.execute(f"CREATE DATABASE {DATABASE}")
        with self.postgres.direct(database=DATABASE) as direct:
            types = ", ".join(f"{column} {'bytea' if kind.binary else 'text'}" for column, (kind, _) in COLUMNS.items())
            direct.execute(f"CREATE TABLE thing (id int PRIMARY KEY, {types})")
            example.allow_all(direct, "thing")
        types = ", ".join(f"{column} {'blob' if kind.binary else 'text'}" for column, (kind, _) in COLUMNS.items())
        self.mysql.stored(f"CREATE DATABASE {DATABASE}")
        # Letters of both cases of what keeps its format are told apart.
        self.mysql.stored(f"CREATE TABLE {DATABASE}.thing (id int PRIMARY KEY, {types}) COLLATE utf8mb4_bin")
        for role in example.ROLES:
            self.mysql.stored(f"GRANT ALL ON {DATABASE}.* TO {role}@'%%'", [])

    def write(self) -> None:
        """Each application seals a row."""
        row = ["%s"] * (1 + len(COLUMNS))
        insert = f"INSERT INTO thing (id, {', '.join(COLUMNS)}) VALUES ({', '.join(row)})"
        with self.in_postgres() as app:
            app.execute(insert, [OWN, *(kind.value for kind, _ in COLUMNS.values())])
        with self.in_mysql() as app:
            change(app, insert, [OWN, *(kind.shown for kind, _ in COLUMNS.values())])

    def exchange(self) -> None:
        """What each server has stored, byte for byte, in the other's columns."""
        columns = ", ".join(COLUMNS)
        insert = f"INSERT INTO thing (id, {columns}) VALUES (%s, {', '.join(['%s'] * len(COLUMNS))})"
        select = f"SELECT {columns} FROM thing WHERE id = {OWN}"
        with (
            self.postgres.direct(database=DATABASE) as postgres,
            self.mysql.direct(database=DATABASE) as mysql,
        ):
            of_postgres, (of_mysql,) = postgres.execute(select).fetchone(), ask(mysql, select)
            change(mysql, insert, [FOREIGN, *of_postgres])
            postgres.execute(insert, [FOREIGN, *of_mysql])

    def in_postgres(self, user: str = "app") -> psycopg.Connection:
        return self.postgres.connect(user, DATABASE)

    def in_mysql(self, user: str = "app", **options: object):
        return self.mysql.connect(user, DATABASE, **options)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    if not OLDER.is_there:
        pytest.skip(f"no {OLDER.name} for this machine: see dev/setup/servers.py")
    both = Both(tmp_path_factory.mktemp("policies"))
    try:
        both.create()
        both.write()
        both.exchange()
        yield both
    finally:
        both.stop()


def as_json(kind: Kind, shown: object) -> object:
    """A driver may give JSON as what it says."""
    return json.loads(shown) if kind.type == "json" and isinstance(shown, str) else shown


@pytest.mark.parametrize("column", COLUMNS)
def test_what_postgres_sealed_opens_in_mysql(both: Both, column: str) -> None:
    kind, _ = COLUMNS[column]
    with both.in_mysql() as app:
        assert ask(app, f"SELECT {column} FROM thing ORDER BY id") == [(kind.shown,)] * 2


@pytest.mark.parametrize("column", COLUMNS)
def test_what_mysql_sealed_opens_in_postgres(both: Both, column: str) -> None:
    kind, _ = COLUMNS[column]
    for binary in (False, True):
        with both.in_postgres() as app:
            rows = app.cursor(binary=binary).execute(f"SELECT {column} FROM thing ORDER BY id").fetchall()
        expected = as_json(kind, kind.value)
        assert [as_json(kind, shown) for (shown,) in rows] == [expected, expected]


@pytest.mark.parametrize("column", SEARCHED)
def test_each_finds_what_the_other_sealed_by_equality(both: Both, column: str) -> None:
    kind, protection = COLUMNS[column]
    search = f"SELECT id FROM thing WHERE {column} = %s ORDER BY id"
    with both.in_mysql() as app:
        assert ask(app, search, [kind.shown]) == [(OWN,), (FOREIGN,)]
        assert ask(app, search, [kind.other if kind.in_mysql is None else type(kind.in_mysql)(kind.other)]) == []
    with both.in_postgres() as app:
        assert app.execute(search, [kind.value]).fetchall() == [(OWN,), (FOREIGN,)]
        assert app.execute(search, [kind.other]).fetchall() == []
    if protection != "indexed":
        # Both sealed the one value as the one stored value.
        assert both.mysql.stored(f"SELECT COUNT(DISTINCT {column}) FROM {DATABASE}.thing") == [(1,)]


@pytest.mark.parametrize("name", KINDS)
def test_neither_compares_what_is_randomized(both: Both, name: str) -> None:
    column, kind = f"{name}_randomized", KINDS[name]
    assert both.mysql.stored(f"SELECT COUNT(DISTINCT {column}) FROM {DATABASE}.thing") == [(2,)]
    search = f"SELECT id FROM thing WHERE {column} = %s"
    with both.in_mysql() as app:
        number, told = refusal(app, search, [kind.shown])
        assert (number, LABEL(column) in told) == (NOT_SUPPORTED, True)
    with both.in_postgres() as app, pytest.raises(psycopg.errors.FeatureNotSupported):
        app.execute(search, [kind.value])


@pytest.mark.parametrize("column", MASKED)
def test_masks_show_the_same_in_both(both: Both, column: str) -> None:
    kind, _ = COLUMNS[column]
    select = f"SELECT {column} FROM thing ORDER BY id"
    with both.in_mysql("support") as support:
        assert ask(support, select) == [(kind.masked,)] * 2
    with both.in_postgres("support") as support:
        assert support.execute(select).fetchall() == [(kind.masked,)] * 2


def test_neither_shows_more_than_the_policy_lets_see(both: Both) -> None:
    hidden = [column for column, (kind, protection) in COLUMNS.items() if protection != "format_preserving"]
    select = f"SELECT {', '.join(hidden)} FROM thing ORDER BY id"
    with both.in_mysql("auditor") as auditor, both.mysql.direct(database=DATABASE) as direct:
        assert ask(auditor, select) == ask(direct, select)
    with both.in_postgres("auditor") as auditor, both.postgres.direct(database=DATABASE) as direct:
        assert auditor.execute(select).fetchall() == direct.execute(select).fetchall()


def test_value_of_another_label_does_not_open(both: Both) -> None:
    """What is copied to a column of another label is no value of it, in whichever database it was sealed."""
    with both.mysql.direct(database=DATABASE) as direct:
        change(
            direct,
            f"INSERT INTO thing (id, words_randomized) SELECT 3, badge_randomized FROM thing WHERE id = {FOREIGN}",
        )
    try:
        with both.in_mysql() as app:
            refusal(app, "SELECT words_randomized FROM thing WHERE id = 3")
    finally:
        both.mysql.stored(f"DELETE FROM {DATABASE}.thing WHERE id = 3")
