"""LOAD DATA LOCAL INFILE: a client's file in a protected table is what it would be in any other, but sealed."""

import random
from collections.abc import Iterator
from pathlib import Path

import pymysql
import pytest

from harness.mysql_stack import MySqlStack
from tests.mysql.asking import ask, change

# What splits, quotes, escapes and ends in one way of writing files or another, and what looks like NULL.
PARTS = ["a", "é", "☃", "x", " ", "\\", '"', "'", ",", ";", "|", "||", ">>", "\t", "\n", "\r\n"]
PARTS += ["N", "NULL", "\\N", "\\n"]
FORMATS = {
    "default": "",
    "quotes": "FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"'",
    "own escape": "FIELDS TERMINATED BY ',' ENCLOSED BY '\"' ESCAPED BY '\"' LINES TERMINATED BY '\\r\\n'",
    "no escape": "FIELDS TERMINATED BY '||' ENCLOSED BY '\\'' ESCAPED BY ''",
    "prefix": "FIELDS TERMINATED BY ';' LINES STARTING BY '>>' TERMINATED BY '|'",
    "header": "FIELDS TERMINATED BY ',' IGNORE 1 LINES",
}
FILES = 8
LIST = "(id, name, ssn, email, notes)"
SELECT = "SELECT id, name, ssn, email, notes FROM {} ORDER BY id"
# More than is kept before the first row goes.
MANY = 60_000


@pytest.fixture
def twin(shop: MySqlStack) -> Iterator[MySqlStack]:
    """With a table that nothing protects and that is as the protected one."""
    with shop.direct() as direct:
        change(direct, "CREATE TABLE twin LIKE customer")
    yield shop
    with shop.direct() as direct:
        change(direct, "DROP TABLE twin")


def load(connection: pymysql.Connection, path: Path, table: str, rest: str) -> int:
    return change(connection, f"LOAD DATA LOCAL INFILE '{path}' {rest.replace('TABLE', f'TABLE {table}', 1)}")


def written(seed: int, form: str) -> str:
    """A file of lines that mostly are rows, and of rows that mostly are well written."""
    rng = random.Random(seed)
    start = ">>" if "STARTING" in form else ""
    separator = next((mark for mark in ("||", ";", ",") if f"'{mark}'" in form), "\t")

    def row(number: int) -> str:
        fields = ("".join(rng.choices(PARTS, k=rng.randrange(6))) for _ in range(rng.choice([4, 4, 4, 2, 5])))
        return start + separator.join([str(number), *fields]) + rng.choice(["", "", "|", "\r"])

    return "\n".join(row(number) for number in range(30))


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
@pytest.mark.parametrize("charset", ["utf8mb4", "binary"])
def test_file_comes_to_what_it_comes_to_unprotected(twin: MySqlStack, tmp_path: Path, form: str, charset: str) -> None:
    path = tmp_path / "rows"
    rest = f"INTO TABLE CHARACTER SET {charset} {form} {LIST}"
    with twin.connect("app", local_infile=True) as app, twin.direct(local_infile=True) as direct:
        for seed in range(FILES):
            path.write_text(written(seed, form), newline="")
            change(direct, "TRUNCATE twin")
            change(direct, "TRUNCATE customer")
            assert load(app, path, "customer", rest) == load(direct, path, "twin", rest)
            rows = ask(direct, SELECT.format("twin"))
            assert rows
            assert ask(app, SELECT.format("customer")) == rows, seed
            sealed = "SELECT COUNT(*) FROM customer WHERE ssn NOT LIKE 'fv1.%' OR notes NOT LIKE 'fv1.%'"
            assert ask(direct, sealed) == [(0,)]


def test_file_is_sealed_on_its_way(shop: MySqlStack, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("ssn-of-the-header,ssn\n" + "1,ssn-in-clear,n,ssn-too-many\n")
    rest = "INTO TABLE FIELDS TERMINATED BY ',' IGNORE 1 LINES (id, ssn, name) SET notes = 'ssn-of-set'"
    with shop.connect("app", local_infile=True) as app:
        assert load(app, path, "customer", rest) == 1
        assert ask(app, "SELECT id, ssn, name, notes FROM customer") == [(1, "ssn-in-clear", "n", "ssn-of-set")]
        assert ask(app, "SELECT id FROM customer WHERE ssn = 'ssn-in-clear'") == [(1,)]
    assert b"ssn-" not in shop.relay.to_server()


@pytest.mark.parametrize("engine", ["InnoDB", "MyISAM"])
def test_file_with_a_value_that_cannot_be_sealed_leaves_nothing(shop: MySqlStack, tmp_path: Path, engine: str) -> None:
    path = tmp_path / "rows"
    path.write_bytes(b"1\tgood\n2\tb\xffd\n3\tgood\n")
    with shop.direct() as direct:
        change(direct, f"ALTER TABLE customer ENGINE = {engine}")
    try:
        with shop.connect("app", local_infile=True) as app:
            with pytest.raises(pymysql.Error, match=r"line 2, field 2 of the file") as refused:
                load(app, path, "customer", "INTO TABLE CHARACTER SET utf8mb4 (id, ssn)")
            assert "UTF-8" in str(refused.value)
            assert ask(app, "SELECT * FROM customer") == []
    finally:
        with shop.direct() as direct:
            change(direct, "ALTER TABLE customer ENGINE = InnoDB")


def test_long_file_with_a_late_value_that_cannot_be_sealed_is_rolled_back(shop: MySqlStack, tmp_path: Path) -> None:
    path = tmp_path / "rows"
    rows = [b"%d\tgood\n" % number for number in range(MANY)]
    path.write_bytes(b"".join([*rows, b"-1\tb\xffd\n", *rows]))
    with shop.connect("app", local_infile=True) as app:
        with pytest.raises(pymysql.Error, match=f"line {MANY + 1}, field 2 of the file"):
            load(app, path, "customer", "INTO TABLE CHARACTER SET utf8mb4 (id, ssn)")
        assert ask(app, "SELECT COUNT(*) FROM customer") == [(0,)]
        path.write_bytes(b"".join(rows))
        assert load(app, path, "customer", "INTO TABLE CHARACTER SET utf8mb4 (id, ssn)") == MANY
        assert ask(app, "SELECT COUNT(*) FROM customer WHERE ssn = 'good'") == [(MANY,)]


def test_file_whose_character_set_is_not_told_and_is_not_utf8_stores_nothing(shop: MySqlStack, tmp_path: Path) -> None:
    path = tmp_path / "rows"
    path.write_bytes(b"1\tgood\n2\t\\N\n")
    with shop.direct() as direct, shop.connect("app", local_infile=True) as app:
        change(direct, "CREATE DATABASE elsewhere CHARACTER SET gbk")
        try:
            change(direct, "GRANT ALL ON elsewhere.* TO app@'%'")
            change(app, "USE elsewhere")
            with pytest.raises(pymysql.Error, match="CHARACTER SET utf8mb4"):
                load(app, path, "shop.customer", "INTO TABLE (id, ssn)")
            assert ask(app, "SELECT * FROM shop.customer") == []
            change(app, "USE shop")
            assert load(app, path, "customer", "INTO TABLE (id, ssn)") == 2
            assert ask(app, "SELECT id, ssn FROM customer ORDER BY id") == [(1, "good"), (2, None)]
        finally:
            change(direct, "DROP DATABASE elsewhere")


@pytest.mark.parametrize(
    "statement",
    [
        "LOAD DATA INFILE '/x' INTO TABLE customer",
        "LOAD XML LOCAL INFILE '/x' INTO TABLE customer",
        "LOAD DATA LOCAL INFILE '/x' INTO TABLE customer (id, @ssn) SET ssn = TRIM(@ssn)",
        "LOAD DATA LOCAL INFILE '/x' INTO TABLE customer FIELDS TERMINATED BY ''",
    ],
)
def test_what_cannot_be_sealed_is_refused(shop: MySqlStack, statement: str) -> None:
    with shop.connect("app", local_infile=True) as app, pytest.raises(pymysql.Error, match="fieldveil"):
        change(app, statement)
