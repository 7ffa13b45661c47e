"""Texts that write one value, put together at random of what MySQL and MariaDB read in ways of their own: quotes,
escapes, comments, prefixes. What the analysis would seal is what the server stores, or the text is refused."""

import random
from dataclasses import dataclass

import pymysql
from pymysql.constants import CLIENT

from dev.layout import ANALYZE
from harness.mysqld import MySqld
from sqldiff.run import through

SEED = 20260801
PLACES = (
    "INSERT INTO customer (id, ssn) VALUES (1, {})",
    "INSERT INTO customer SET id = 1, ssn = {}",
    "REPLACE customer (ssn, id) VALUES ({}, 1)",
    "INSERT customer (id, ssn) SELECT 1, {}",
    "INSERT INTO customer (ssn) VALUES ({}); -- x",
)
LITERALS = (
    "'a'",
    '"b"',
    "''",
    "'it''s'",
    "'a\\'b'",
    "'\\\\'",
    "'\\n\\0\\Z\\x'",
    "'50\\%\\_'",
    "N'n'",
    "'é\\é'",
    '"\'"',
)
PIECES = (
    *LITERALS,
    *LITERALS,
    *("'", '"', "`", "\\", "'\\'", '"\\"', "\\'", "''''", '""""', "a", "é", "%", "é'"),
    *(" ", " ", "\n", "\t", "\r", "\x0b", "\x0c", "\u00a0"),
    *(
        "-- ",
        "--",
        "--\t",
        "--\n",
        "#",
        "/*",
        "*/",
        "/**/",
        "/*/",
        "/*!",
        "/*M!",
        "/*!50000",
        "/*+",
        "/* ' */",
        "-- '\n",
    ),
    *("(", ")", ",", ";", "=", "||", "&&", "+", "-", ":=", "@a", "@'a'", "NULL", "DEFAULT"),
    *(
        "_utf8mb4",
        "_binary",
        "_latin1",
        "N",
        "n'x'",
        "x'41'",
        "X'4a'",
        "0x41",
        "0X41",
        "b'1000001'",
        "0b1",
        "x",
        "COLLATE utf8mb4_bin",
    ),
    *("); INSERT INTO customer (ssn) VALUES ('leak'", "'); INSERT INTO customer (ssn) VALUES ('leak'); -- "),
)
# No two texts of one run meet.
CLEAN = "DELETE FROM customer"
TABLE = (
    "CREATE TABLE customer (id INT, name TEXT, email TEXT, ssn TEXT, phone TEXT, card TEXT, notes TEXT)"
    " CHARACTER SET utf8mb4"
)


@dataclass(frozen=True)
class Mode:
    ansi_quotes: bool = False
    no_backslash_escapes: bool = False

    @property
    def words(self) -> list[str]:
        return ["--ansi-quotes"] * self.ansi_quotes + ["--no-backslash-escapes"] * self.no_backslash_escapes

    @property
    def sql_mode(self) -> str:
        return ",".join(word.lstrip("-").replace("-", "_").upper() for word in self.words)


MODES = [Mode(ansi, plain) for ansi in (False, True) for plain in (False, True)]


def texts(count: int, seed: int = SEED) -> list[str]:
    chosen = random.Random(seed)
    made = (
        chosen.choice(PLACES).format("".join(chosen.choices(PIECES, k=chosen.choice((1, 2, 2, 3, 3, 4, 5, 6)))))
        for _ in range(count)
    )
    return list(dict.fromkeys(made))


def stored(connection: pymysql.Connection, text: str) -> list[str] | None:
    """The values that the text has stored; None where the server doesn't accept it."""
    with connection.cursor() as cursor:
        cursor.execute(CLEAN)
        try:
            cursor.execute(text)
            while cursor.nextset():
                pass
        except pymysql.MySQLError:
            refused = True
        else:
            refused = False
        cursor.execute("SELECT ssn FROM customer WHERE ssn IS NOT NULL")
        values = sorted(value for (value,) in cursor.fetchall())
    # What it did before the mistake counts.
    return None if refused and not values else values


def disagreements(server: MySqld, mode: Mode, corpus: list[str], read_as: Mode | None = None) -> tuple[int, list[str]]:
    """How many texts were sealed alike, and what was stored otherwise than it would have been sealed."""
    words = ["--mysql", *(["--mariadb"] if not server.build.mysql else []), *(read_as or mode).words]
    answers = through(ANALYZE, corpus, *words)
    with server.connect("shop", client_flag=CLIENT.MULTI_STATEMENTS, charset="utf8mb4") as connection:
        with connection.cursor() as cursor:
            cursor.execute("SET SESSION sql_mode = %s", (mode.sql_mode,))
        agreed, wrong = 0, []
        for text, said in zip(corpus, answers, strict=True):
            if "refused" in said:
                continue
            sealed = sorted(splice["value"] for splice in said["splices"] if "value" in splice)
            values = stored(connection, text)
            if values is None:
                continue
            if values == sealed:
                agreed += 1
            else:
                wrong.append(f"{mode.sql_mode}: {text!r}: sealed {sealed}, stored {values}")
    return agreed, wrong
