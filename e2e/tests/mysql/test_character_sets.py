"""Sessions in other character sets than UTF-8, beside sessions straight to the server and an unprotected table."""

import mysql.connector
import pymysql
import pytest

from harness import shop as example
from harness.mysql_stack import MySqlStack
from tests.mysql.asking import ask, change, refusal
from tests.mysql.test_connecting import connector

# Sets in which a byte of ASCII stands for another character are not read.
UNREAD = ("binary", "swe7")
# Sets of several bytes a character: read in all characters that are known, or as far as texts are ASCII.
READ = {"eucjpms": "亜ｱ", "euckr": "가갂", "gb2312": "啊", "ujis": "亜ｱ"}
SEVERAL_BYTES = ("big5", "cp932", "gbk", "sjis", *READ)
# Sets of which whole stretches of characters are known.
SHOWN = ("cp932", "euckr", "gb2312", "gbk", "sjis")
ROW_OF = 2048


@pytest.fixture(scope="module")
def sets(stack: MySqlStack) -> dict[str, dict[int, str]]:
    """The server's sets of single bytes, each with its bytes beyond ASCII that are a character, which is they again."""
    found = {}
    with stack.direct() as direct:
        names = [
            name for name, _, _, most in ask(direct, "SHOW CHARACTER SET") if int(most) == 1 and name not in UNREAD
        ]
        high = range(128, 256)
        for name in names:
            letters = ", ".join(f"ORD(CONVERT(CONVERT(x'{byte:02x}' USING {name}) USING utf32))" for byte in high)
            again = ", ".join(
                f"HEX(CONVERT(CONVERT(CONVERT(x'{byte:02x}' USING {name}) USING utf32) USING {name}))" for byte in high
            )
            (codes,), (same,) = ask(direct, f"SELECT {letters}"), ask(direct, f"SELECT {again}")
            rows = zip(high, codes, same, strict=True)
            found[name] = {byte: chr(code) for byte, code, hexed in rows if code >= 128 and int(hexed, 16) == byte}
    return found


@pytest.fixture
def twin(shop: MySqlStack) -> MySqlStack:
    """The shop with a table like the protected one, of which nothing is protected."""
    shop.stored("CREATE TABLE IF NOT EXISTS twin LIKE customer")
    shop.stored("TRUNCATE twin")
    return shop


def through(stack: MySqlStack, charset: str = "utf8mb4") -> pymysql.Connection:
    """Through the sidecar, with values as the bytes that they come in."""
    return _in(stack.connect("app", use_unicode=False), charset)


def straight(stack: MySqlStack, charset: str = "utf8mb4") -> pymysql.Connection:
    return _in(stack.direct(use_unicode=False), charset)


def _in(connection: pymysql.Connection, charset: str) -> pymysql.Connection:
    change(connection, f"SET NAMES {charset}")
    # The driver decodes names of columns.
    connection.encoding = "utf8" if charset == "utf8mb4" else "latin1"
    return connection


def answer(connection: pymysql.Connection, statement: bytes) -> tuple:
    """Rows, and what is told of their columns; or the error's number."""
    with connection.cursor() as cursor:
        try:
            cursor.execute(statement)
        except pymysql.MySQLError as error:
            return (error.args[0],)
        fields = cursor._result.fields if cursor.description else []
        told = [(field.name, field.charsetnr, field.length, field.type_code, field.flags) for field in fields]
        return told, list(cursor.fetchall())


def test_what_touches_nothing_protected_is_the_servers_own(twin: MySqlStack, sets: dict[str, dict[int, str]]) -> None:
    for charset in sets:
        with through(twin, charset) as app, straight(twin, charset) as direct:
            text = bytes(sets[charset]) or b"ascii"
            letters = bytes(byte for byte, letter in sets[charset].items() if letter.isalpha())[:1]
            for number, statement in enumerate(
                (
                    b"SELECT '"
                    + text
                    + b"' AS a, _binary'"
                    + text
                    + b"' AS b, HEX('"
                    + text
                    + b"') AS c /* "
                    + text
                    + b" */",
                    b"REPLACE INTO twin (id, name) VALUES (%d, '" + text + b"')",
                    b"SELECT name FROM twin WHERE id = %d -- " + text,
                    b"SELECT name FROM twin WHERE name LIKE '%%" + text[:1] + b"%%' ORDER BY id",
                    b"SELECT @@character_set_client, @@character_set_connection, @@character_set_results",
                    b"SHOW FULL COLUMNS FROM twin",
                    b"SELECT '" + text + b"' AS `" + text[:20] + b"`",
                    b"SELECT 1 AS " + (letters or b"a"),
                    b"SELECT nothing FROM `" + text[:20] + b"`",
                )
            ):
                both = [answer(side, statement.replace(b"%d", b"1")) for side in (app, direct)]
                assert both[0] == both[1], (charset, number)


def test_a_protected_value_is_written_and_read_in_each_set(twin: MySqlStack, sets: dict[str, dict[int, str]]) -> None:
    for charset, high in sets.items():
        text = bytes(high) + b" ascii \x7f"
        twin.stored("TRUNCATE customer")
        with through(twin, charset) as app, straight(twin, charset) as direct:
            for side, table in ((app, b"customer"), (direct, b"twin")):
                change(
                    side, b"REPLACE INTO " + table + b" (id, name, ssn) VALUES (1, '" + text + b"', '" + text + b"')"
                )
            own = ask(direct, "SELECT name, ssn FROM twin")
            assert own == ask(app, "SELECT name, ssn FROM customer") == [(text, text)], charset
            assert ask(app, b"SELECT ssn FROM customer WHERE ssn = '" + text + b"'") == [(text,)], charset
        with through(twin) as app, straight(twin) as direct:
            assert ask(app, "SELECT name, ssn FROM customer") == ask(direct, "SELECT name, ssn FROM twin"), charset
    assert twin.stored("SELECT LEFT(ssn, 4) FROM customer") == [("fv1.",)]


def test_a_byte_that_stands_for_nothing_is_refused(twin: MySqlStack, sets: dict[str, dict[int, str]]) -> None:
    for charset, high in sets.items():
        lacking = [byte for byte in range(128, 256) if byte not in high][:3]
        with through(twin, charset) as app:
            for byte in lacking:
                message = refusal(app, b"INSERT INTO customer (id, ssn) VALUES (9, '" + bytes([byte]) + b"')")[1]
                assert "SET NAMES utf8mb4" in str(message), charset
    assert twin.stored("SELECT COUNT(*) FROM customer") == [(0,)]


def test_every_character_is_shown_as_the_server_shows_it(twin: MySqlStack, sets: dict[str, dict[int, str]]) -> None:
    letters = [chr(code) for code in range(1, 0x10000) if not 0xD800 <= code < 0xE000] + ["😀"]
    with through(twin) as app, straight(twin) as direct:
        for first in range(0, len(letters), ROW_OF):
            row = (first, "".join(letters[first : first + ROW_OF]))
            change(app, "INSERT INTO customer (id, notes) VALUES (%s, %s)", row)
            change(direct, "INSERT INTO twin (id, notes) VALUES (%s, %s)", row)
    for charset in (*sets, "utf8mb3", "utf8mb4"):
        with through(twin, charset) as app, straight(twin, charset) as direct:
            of = [
                answer(side, b"SELECT notes FROM %s ORDER BY id" % table)
                for side, table in ((app, b"customer"), (direct, b"twin"))
            ]
            assert of[0] == of[1], charset


@pytest.mark.parametrize("results", ["NULL", "binary", "latin1", "cp1251", "utf8mb3"])
def test_what_is_shown_is_apart_from_what_is_sent(twin: MySqlStack, results: str) -> None:
    for client in ("latin1", "utf8mb4"):
        value = "é€".encode("cp1252" if client == "latin1" else "utf8")
        with through(twin, client) as app, straight(twin, client) as direct:
            for side, table in ((app, b"customer"), (direct, b"twin")):
                change(side, f"SET character_set_results = {results}")
                change(
                    side, b"REPLACE INTO " + table + b" (id, ssn, notes) VALUES (1, '" + value + b"', '" + value + b"')"
                )
            for column in (b"ssn", b"notes"):
                shown = [
                    answer(side, b"SELECT " + column + b" FROM " + table)
                    for side, table in ((app, b"customer"), (direct, b"twin"))
                ]
                # Where nothing is converted, the server tells of the column as it stores it.
                is_told = results not in ("NULL", "binary")
                assert shown[0] == shown[1] if is_told else shown[0][1] == shown[1][1], client


def test_nothing_protected_is_shown_in_sets_without_ascii_but_all_else(twin: MySqlStack) -> None:
    for results in ("ucs2", "utf16", "utf16le", "utf32", "swe7"):
        with through(twin) as app, straight(twin) as direct:
            for side in (app, direct):
                change(side, f"SET character_set_results = {results}")
            statement = b"SELECT name, 1, 'a' FROM twin"
            assert answer(app, statement)[1] == answer(direct, statement)[1]
            assert answer(app, b"SELECT ssn FROM customer")[0] == 1235
            change(app, "SET NAMES utf8mb4")
            assert ask(app, "SELECT ssn FROM customer") == []


def test_texts_of_ascii_go_on_in_sets_of_several_bytes(twin: MySqlStack) -> None:
    for charset in SEVERAL_BYTES:
        twin.stored("TRUNCATE customer")
        with through(twin, charset) as app, straight(twin, charset) as direct:
            change(app, "INSERT INTO customer (id, ssn) VALUES (1, 'it''s \\\\ ascii')")
            change(direct, "REPLACE INTO twin (id, name, ssn) VALUES (1, '', 'it''s \\\\ ascii')")
            shown = ask(direct, "SELECT ssn FROM twin")
            assert ask(app, "SELECT ssn FROM customer WHERE ssn = 'it''s \\\\ ascii'") == shown
            assert answer(app, b"SELECT name FROM twin") == answer(direct, b"SELECT name FROM twin")
            if charset not in READ:
                number, message = refusal(app, b"INSERT INTO customer (id, ssn) VALUES (2, '\xb0\xa1')")
                assert (number, "SET NAMES utf8mb4" in message) == (1235, True)
    assert twin.stored("SELECT COUNT(*) FROM customer") == [(1,)]


def test_characters_of_several_bytes_are_read_and_shown_where_they_are_known(twin: MySqlStack) -> None:
    for charset, letters in READ.items():
        twin.stored("TRUNCATE customer")
        with through(twin, charset) as app, straight(twin, charset) as direct, straight(twin) as utf8:
            ((text,),) = ask(direct, f"SELECT CONVERT(x'{letters.encode().hex()}' USING utf8mb4)")
            for side, table in ((app, b"customer"), (direct, b"twin")):
                change(
                    side, b"REPLACE INTO " + table + b" (id, name, ssn) VALUES (1, '" + text + b"', '" + text + b"')"
                )
            assert (
                ask(app, "SELECT name, ssn FROM customer")
                == ask(direct, "SELECT name, ssn FROM twin")
                == [(text, text)]
            )
            assert ask(utf8, "SELECT ssn FROM twin") == [(letters.encode(),)], charset
        with through(twin) as app:
            assert ask(app, "SELECT ssn FROM customer") == [(letters.encode(),)], charset


def test_a_character_of_several_bytes_is_shown_as_the_server_shows_it_or_refused(twin: MySqlStack) -> None:
    letters = [chr(code) for code in range(0x80, 0x10000) if not 0xD800 <= code < 0xE000] + ["😀"]
    with through(twin) as app, straight(twin) as direct:
        for first in range(0, len(letters), ROW_OF // 16):
            row = (first, "".join(letters[first : first + ROW_OF // 16]))
            change(app, "INSERT INTO customer (id, notes) VALUES (%s, %s)", row)
            change(direct, "INSERT INTO twin (id, notes) VALUES (%s, %s)", row)
    for charset in SEVERAL_BYTES:
        shown = 0
        with through(twin, charset) as app, straight(twin, charset) as direct:
            for number, expected in ask(direct, "SELECT id, notes FROM twin ORDER BY id"):
                _, rows = (*answer(app, b"SELECT notes FROM customer WHERE id = %d" % number), None)[:2]
                assert rows in ([(expected,)], None), (charset, number)
                shown += rows is not None
        assert shown > 0 or charset not in SHOWN, charset


def test_a_character_that_the_connection_has_not_is_refused(twin: MySqlStack) -> None:
    with through(twin) as app:
        change(app, "SET character_set_connection = latin1")
        assert "character_set_connection" in refusal(app, "INSERT INTO customer (id, ssn) VALUES (1, 'ж')")[1]
        change(app, "INSERT INTO customer (id, ssn) VALUES (1, 'é')")
        assert ask(app, "SELECT ssn FROM customer") == [("é".encode(),)]


def test_a_literal_in_another_set_is_refused_for_what_is_protected_alone(twin: MySqlStack) -> None:
    with through(twin, "latin1") as app, straight(twin, "latin1") as direct:
        statement = b"SELECT HEX(CONVERT(_utf8mb4'\xc3\xa9' USING utf8mb4)), HEX(_latin1'\xe9'), HEX(_cp1251'\xe9')"
        assert answer(app, statement) == answer(direct, statement)
        for introducer in (b"_utf8mb4", b"_cp1251", b"_latin1"):
            insert = b"INSERT INTO customer (id, ssn) VALUES (1, " + introducer + b"'\xc3\xa9')"
            assert "character set" in refusal(app, insert)[1]


def test_a_view_is_found_by_a_name_in_the_clients_set(twin: MySqlStack) -> None:
    twin.stored("CREATE OR REPLACE VIEW `résumé` AS SELECT id, ssn AS `número` FROM customer")
    try:
        with through(twin, "latin1") as app:
            assert "is a view" in refusal(app, b"INSERT INTO r\xe9sum\xe9 (id, n\xfamero) VALUES (1, '078\xe9')")[1]
            change(app, b"INSERT INTO customer (id, ssn) VALUES (1, '078\xe9')")
            assert ask(app, b"SELECT n\xfamero FROM `r\xe9sum\xe9` WHERE n\xfamero = '078\xe9'") == [(b"078\xe9",)]
        with through(twin, "cp850") as app:
            assert ask(app, b"SELECT * FROM r\x82sum\x82") == [(1, b"078\x82")]
        # The set has no such letter, and so no such name.
        with through(twin) as app:
            change(app, "SET character_set_results = cp1251")
            app.encoding = "utf8"
            assert ask(app, "SELECT * FROM résumé") == [(1, b"078?")]
        assert twin.stored("SELECT LEFT(ssn, 4) FROM customer") == [("fv1.",)]
    finally:
        twin.stored("DROP VIEW `résumé`")


def test_what_looks_like_a_blank_or_a_comment_is_no_way_around(twin: MySqlStack) -> None:
    with through(twin, "latin1") as app:
        assert answer(app, b"SELECT\xa0ssn FROM customer")[0] in (1064, 1235)
        assert answer(app, b"INSERT INTO\xa0customer (id, ssn) VALUES (1, 'canary-of-blanks')")[0] in (1064, 1235)
    with through(twin, "macroman") as app:
        text = b"SELECT 1 --\x80'\n; INSERT INTO customer (id, ssn) VALUES (1, 'canary-of-comments') -- '"
        assert answer(app, text)[0] in (1064, 1235)
    assert b"canary-of" not in twin.relay.to_server()


def _connector(stack: MySqlStack, charset: str, **options: object) -> mysql.connector.MySQLConnection:
    return connector(stack, charset=charset, collation=f"{charset}_general_ci", **options)


def test_parameters_are_read_in_the_clients_set(twin: MySqlStack) -> None:
    for charset, value in (("cp1251", "жё"), ("latin1", "éß"), ("cp1257", "ėž"), ("greek", "βλ")):
        twin.stored("TRUNCATE customer")
        sender = _connector(twin, charset)
        with sender.cursor(prepared=True) as cursor:
            cursor.execute("INSERT INTO customer (id, name, ssn) VALUES (?, ?, ?)", (1, value, value))
            cursor.execute("SELECT name, ssn FROM customer WHERE ssn = ?", (value,))
            assert cursor.fetchall() == [(value, value)], charset
        sender.close()
        with twin.connect("app") as app:
            assert ask(app, "SELECT name, ssn FROM customer") == [(value, value)], charset
            change(app, "UPDATE customer SET ssn = %s", ["x" + value])
        reader = _connector(twin, charset)
        with reader.cursor(prepared=True) as cursor:
            cursor.execute("SELECT ssn FROM customer WHERE id = ?", (1,))
            assert cursor.fetchall() == [("x" + value,)], charset
        reader.close()
    assert twin.stored("SELECT LEFT(ssn, 4) FROM customer") == [("fv1.",)]


def test_the_set_is_known_after_the_handshake_another_user_and_a_reset(twin: MySqlStack) -> None:
    insert = b"REPLACE INTO customer (id, ssn) VALUES (1, '%s')"
    shown = []

    def write_and_read(connection: mysql.connector.MySQLConnection, value: bytes) -> None:
        connection.cmd_query(insert % value)
        with twin.connect("app") as app:
            shown.append(ask(app, "SELECT ssn FROM customer")[0][0])

    with twin.connect("app", charset="cp1251") as handshake:
        change(handshake, insert % b"\xe6")
        assert ask(handshake, "SELECT ssn FROM customer") == [("ж",)]
    connection = _connector(twin, "cp1251")
    write_and_read(connection, b"\xe6")
    # The default collation of latin1.
    connection.cmd_change_user("app", example.PASSWORD, example.DATABASE, charset=8)
    write_and_read(connection, b"\xe6")
    connection.cmd_query("SET NAMES koi8r")
    write_and_read(connection, b"\xd6")
    connection.cmd_reset_connection()
    connection.cmd_query("SET NAMES greek")
    write_and_read(connection, b"\xe2")
    connection.close()
    assert shown == ["ж", "æ", "ж", "β"]
