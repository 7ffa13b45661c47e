"""Bytes in the text of a statement, as drivers of MySQL and MariaDB write them: `_binary'…'`. The text that is analyzed
in the place of it does on the server what the driver's does, or there is none."""

import random

import pymysql

from dev.layout import ANALYZE
from harness.mysqld import MySqld
from sqldiff.mysql import SEED, Mode
from sqldiff.run import through

# What is asked of a literal: its bytes, what it is as a number, as a pattern, and what character set it has.
QUESTIONS = ("HEX({0})", "{0} + 0", "LENGTH({0})", "CHARSET({0})", "'a' LIKE {0}", "{0} = {0}", "CAST({0} AS UNSIGNED)")
# What is special to a reader, more often than at random.
SPECIAL = b"\0\0\\\\''\"\"`%_\n\r\x1a\xff\xbf\xc3\xa9nbt0Z"
PIECES = (
    *[b"_binary'\xff'", b"_binary '\xff\\''", b'_binary"\xff"', b"_binary'\xff\0\\0'", b"_BINARY'\xfe\\%'"] * 4,
    *[b", "] * 12,
    *(b"'", b'"', b"`", b"\\", b"'a'", b'"b"', b"'\\'", b"''", b"N'n'", b"x'41'", b"\xff", b"\xc3\xa9", b"\0"),
    *(b" ", b"\n", b"-- ", b"--", b"#", b"/*", b"*/", b"/**/", b"/*!", b"/*M!", b"/*!50000 ", b"/* ' */", b"-- '\n"),
    *(
        b"_binary",
        b"_latin1",
        b"@",
        b"@a",
        b"@`a`",
        b".",
        b"a",
        b"1",
        b"=",
        b"+",
        b"(",
        b")",
        b" AS ",
        b" COLLATE binary",
    ),
)


def literal(chosen: random.Random, mode: Mode) -> bytes:
    """Bytes at random, between quotes of which the mode makes a string, escaped as one of the drivers does."""
    value = bytes(
        chosen.choice(SPECIAL) if chosen.random() < 0.5 else chosen.randrange(256) for _ in range(chosen.randrange(12))
    )
    quote = b"'" if mode.ansi_quotes else chosen.choice((b"'", b'"'))
    doubled = mode.no_backslash_escapes or chosen.random() < 0.3
    if not mode.no_backslash_escapes:
        value = value.replace(b"\\", b"\\\\")
        if chosen.random() < 0.5:
            value = value.replace(b"\0", b"\\0").replace(b"\n", b"\\n").replace(b"\r", b"\\r").replace(b"\x1a", b"\\Z")
    escape = quote if doubled else b"\\"
    return b"_binary" + chosen.choice((b"", b" ")) + quote + value.replace(quote, escape + quote) + quote


def texts(count: int, mode: Mode) -> list[bytes]:
    """Half of them drivers' literals, half of them anything."""
    chosen = random.Random(SEED)
    made = []
    for _ in range(count // 2):
        written = literal(chosen, mode)
        made.append(b"SELECT " + b", ".join(one.encode().replace(b"{0}", written) for one in QUESTIONS))
        made.append(b"SELECT " + b"".join(chosen.choices(PIECES, k=chosen.choice((1, 2, 3, 4, 6)))))
    return list(dict.fromkeys(made))


def answered(connection: pymysql.Connection, text: bytes) -> object:
    """The server's rows; None where it doesn't accept the text."""
    with connection.cursor() as cursor:
        try:
            cursor.execute(text)
            return cursor.fetchall()
        except pymysql.MySQLError:
            return None


def disagreements(server: MySqld, mode: Mode, corpus: list[bytes]) -> tuple[int, list[str]]:
    """How many rewritten texts were answered alike, and which were not."""
    words = ["--bytes", *(["--mariadb"] if not server.build.mysql else []), *mode.words]
    instead = through(ANALYZE, [text.decode("latin-1") for text in corpus], *words)
    agreed, wrong = 0, []
    with server.connect("shop", charset="utf8mb4") as connection:
        with connection.cursor() as cursor:
            cursor.execute("SET SESSION sql_mode = %s", (mode.sql_mode,))
        # A column is called what the text has: bytes as well.
        connection.encoding = "latin-1"
        for text, rewritten in zip(corpus, instead, strict=True):
            if rewritten is None:
                continue
            was, becomes = answered(connection, text), answered(connection, rewritten.encode())
            if was == becomes:
                agreed += was is not None
            else:
                wrong.append(f"{mode.sql_mode}: {text!r}: {was}; {rewritten!r}: {becomes}")
    return agreed, wrong
