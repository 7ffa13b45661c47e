"""Sessions of another `client_encoding` than UTF8, each beside a session straight to the server."""

import psycopg
import pytest
from psycopg import pq

from harness import Stack
from tests import unblocked
from tests.encodings import TWIN, Pair

# How many of an encoding's characters besides ASCII are read, which are those that the server converts likewise.
SINGLE = {
    "LATIN1": 128,
    "LATIN2": 128,
    "LATIN3": 121,
    "LATIN4": 128,
    "LATIN5": 96,
    "LATIN6": 128,
    "LATIN7": 128,
    "LATIN8": 128,
    "LATIN9": 128,
    "LATIN10": 128,
    "ISO_8859_5": 128,
    "ISO_8859_6": 83,
    "ISO_8859_7": 125,
    "ISO_8859_8": 92,
    "KOI8R": 128,
    "KOI8U": 126,
    "WIN866": 128,
    "WIN874": 97,
    "WIN1250": 123,
    "WIN1251": 127,
    "WIN1252": 123,
    "WIN1253": 111,
    "WIN1254": 121,
    "WIN1255": 105,
    "WIN1256": 128,
    "WIN1257": 116,
    "WIN1258": 119,
}
DOUBLE = {"EUC_JP": 7016, "EUC_KR": 8226, "EUC_CN": 7443}
# The server knows these, and the filter reads ASCII in them alone.
UNSAFE = ("SJIS", "BIG5", "GBK", "UHC", "GB18030", "JOHAB")
# A character of each, of which the filter knows that it is none of ASCII's, and no more.
UNKNOWN = {"EUC_TW": b"\xc4\xe3", "EUC_JIS_2004": b"\xb0\xa1", "EUC_JP": b"\x8f\xb0\xa1"}


def rows_of(encoding: str) -> list[list[bytes]]:
    """Every character besides ASCII that an encoding may have, in rows."""
    if encoding in SINGLE:
        return [[bytes([byte]) for byte in range(0x80, 0x100)]]
    firsts = [0x8E, *range(0xA1, 0xFF)]
    return [[bytes([first, second]) for second in range(0xA1, 0xFF)] for first in firsts]


def emptied(pair: Pair) -> None:
    pair.app.execute("DELETE FROM customer")
    pair.direct.execute(f"DELETE FROM {TWIN}")


def taken(pair: Pair, characters: list[bytes]) -> list[bytes]:
    """Those of the characters that the sidecar takes: then it stores what the server would."""
    if not characters:
        return []
    emptied(pair)
    insert = b"INSERT INTO customer (id, ssn, notes) VALUES (1, 'x', '%s')" % b"".join(characters)
    got, wanted = pair.both(insert)
    if got == wanted and not isinstance(got, bytes):
        return characters
    if len(characters) == 1:
        assert got in {b"22021", b"0A000", b"22P05"}, (got, characters)
        return []
    half = len(characters) // 2
    return taken(pair, characters[:half]) + taken(pair, characters[half:])


@pytest.mark.parametrize("encoding", [*SINGLE, *DOUBLE])
def test_every_character_is_the_one_that_the_server_reads(shop: Stack, pair, encoding: str) -> None:
    sessions = pair(encoding)
    utf8 = pair("UTF8")
    count = 0
    for row in rows_of(encoding):
        characters = taken(sessions, row)
        count += len(characters)
        if not characters:
            continue
        emptied(sessions)
        insert = b"INSERT INTO customer (id, ssn, notes) VALUES (1, 'x', '%s')" % b"".join(characters)
        sessions.same(insert)
        assert sessions.same(b"SELECT notes FROM customer")[1] == [[b"".join(characters)]]
        # What is meant, not only what comes back.
        assert utf8.same(b"SELECT notes FROM customer")[1]
        assert sessions.same(b"SELECT id FROM customer WHERE ssn = 'x'")[1] == [[b"1"]]
    assert count == {**SINGLE, **DOUBLE}[encoding]


@pytest.mark.parametrize("encoding", [*SINGLE, *DOUBLE, *UNSAFE, "EUC_TW", "EUC_JIS_2004"])
def test_ascii_passes_and_is_sealed_in_every_encoding(shop: Stack, pair, encoding: str) -> None:
    sessions = pair(encoding)
    sessions.same(b"CREATE TEMP TABLE t (id int, name text)")
    sessions.same(b"INSERT INTO t VALUES (1, 'a')")
    sessions.same(b'SELECT id, name AS "Name" FROM t')
    shop.relay.forget()
    sessions.same(b"INSERT INTO customer (id, ssn, notes) VALUES (1, '078-05-1120', 'n')")
    sessions.same(b"SELECT ssn, notes FROM customer WHERE ssn = '078-05-1120'")
    sessions.same(b"SELECT upper(name) FROM customer")
    assert b"078-05-1120" not in shop.relay.to_server()


@pytest.mark.parametrize("encoding", [*SINGLE, *DOUBLE])
def test_what_concerns_no_field_passes_in_every_encoding(pair, encoding: str) -> None:
    sessions = pair(encoding)
    character = next(iter(b"\xc1\xe1".split()))[: 2 if encoding in DOUBLE else 1]
    sessions.same(b'CREATE TEMP TABLE "t%s" (id int, "%s" text)' % (character, character))
    sessions.same(b"INSERT INTO \"t%s\" VALUES (1, '%s'), (2, E'\\\\%s') -- %s" % ((character,) * 4))
    assert sessions.same(b"SELECT * FROM t%s WHERE \"%s\" <> ''" % (character, character))[1]
    sessions.same(b"SELECT %s" % character)
    sessions.same(b"SELECT name AS %s FROM customer" % character)
    sessions.same(b"UPDATE customer SET name = '%s'" % character)


SCRIPTS = {
    "set": [b"SET client_encoding = 'LATIN1'", b"INSERT INTO customer (id, notes) VALUES (1, 'caf\xe9')"],
    "names": [b"SET NAMES 'WIN1251'", b"INSERT INTO customer (id, notes) VALUES (1, '\xe4\xe0')"],
    "set_config": [
        b"SELECT set_config('client_encoding', 'latin-1', false)",
        b"INSERT INTO customer (id, notes) VALUES (1, 'caf\xe9')",
    ],
    "computed": [
        b"SELECT set_config('client' || '_encoding', 'LATIN9', false)",
        b"INSERT INTO customer (id, notes) VALUES (1, '\xa4')",
    ],
    "local": [
        b"BEGIN",
        b"SET LOCAL client_encoding = 'LATIN1'",
        b"INSERT INTO customer (id, notes) VALUES (1, 'caf\xe9')",
        b"SELECT notes FROM customer",
        b"COMMIT",
        b"INSERT INTO customer (id, notes) VALUES (2, 'caf\xc3\xa9')",
    ],
    "rolled back": [
        b"BEGIN",
        b"SET client_encoding = 'LATIN1'",
        b"ROLLBACK",
        b"INSERT INTO customer (id, notes) VALUES (2, 'caf\xc3\xa9')",
    ],
    "savepoint": [
        b"BEGIN",
        b"SAVEPOINT s",
        b"SET client_encoding = 'LATIN1'",
        b"ROLLBACK TO s",
        b"INSERT INTO customer (id, notes) VALUES (2, 'caf\xc3\xa9')",
        b"COMMIT",
    ],
    "reset": [
        b"SET client_encoding = 'LATIN1'",
        b"RESET client_encoding",
        b"INSERT INTO customer (id, notes) VALUES (1, 'caf\xc3\xa9')",
    ],
    "discard": [
        b"SET client_encoding = 'LATIN1'",
        b"DISCARD ALL",
        b"INSERT INTO customer (id, notes) VALUES (1, 'caf\xc3\xa9')",
    ],
    "role": [
        b"SET client_encoding = 'LATIN1'",
        b"SET ROLE NONE",
        b"INSERT INTO customer (id, notes) VALUES (1, 'caf\xe9')",
    ],
    "missing": [
        b"INSERT INTO customer (id, notes) VALUES (1, 'caf\xc3\xa9'), (2, '\xe2\x82\xac')",
        b"SET client_encoding = 'LATIN1'",
        b"SELECT notes FROM customer WHERE id = 1",
        b"SELECT notes FROM customer WHERE id = 2",
        b"SELECT 1",
    ],
    "invalid": [
        b"SET client_encoding = 'EUC_JP'",
        b"INSERT INTO customer (id, notes) VALUES (1, '\xa4')",
        b"INSERT INTO customer (id, notes) VALUES (1, '\xa4\xa2')",
    ],
    "sql_ascii": [
        b"SET client_encoding = 'SQL_ASCII'",
        b"INSERT INTO customer (id, notes) VALUES (1, 'caf\xc3\xa9')",
        b"INSERT INTO customer (id, notes) VALUES (1, 'caf\xe9')",
    ],
    "escapes": [
        b"SET client_encoding = 'LATIN1'",
        b"INSERT INTO customer (id, notes) VALUES (1, E'caf\\u00e9 \xe9')",
        b"SELECT notes FROM customer WHERE id = 1",
    ],
    "cursor": [
        b"SET client_encoding = 'LATIN1'",
        b"INSERT INTO customer (id, notes) VALUES (1, 'caf\xe9')",
        b"BEGIN",
        b'DECLARE "c\xe9" CURSOR FOR SELECT notes FROM customer',
        b'FETCH "c\xe9"',
        b'CLOSE "c\xe9"',
        b"COMMIT",
        b'PREPARE "p\xe9" (text) AS SELECT notes FROM customer WHERE name IS NULL',
        b"EXECUTE \"p\xe9\" ('\xe9')",
        b'DEALLOCATE "p\xe9"',
    ],
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_script_is_answered_as_by_the_server(pair, script: str) -> None:
    sessions = pair("UTF8")
    for text in SCRIPTS[script]:
        sessions.same(text)
    for encoding in ("UTF8", "LATIN1"):
        sessions.same(b"SET client_encoding = '%s'" % encoding.encode())
        sessions.same(b"SELECT id, notes FROM customer ORDER BY id")


@pytest.mark.parametrize("encoding", ["LATIN1", "WIN1252", "EUC_KR"])
@pytest.mark.parametrize("binary", [False, True], ids=["text", "binary"])
@pytest.mark.parametrize("prepare", [False, True], ids=["unnamed", "prepared"])
def test_parameters_and_rows_are_converted(pair, encoding: str, binary: bool, prepare: bool) -> None:
    sessions = pair(encoding)
    value = "\ud55c\uae00" if encoding == "EUC_KR" else "caf\u00e9"
    place = "%b" if binary else "%t"
    for session, table in ((sessions.app, "customer"), (sessions.direct, TWIN)):
        cursor = session.cursor(binary=binary)
        for _ in range(3):
            cursor.execute(f"DELETE FROM {table}", prepare=prepare)
            insert = f"INSERT INTO {table} (id, name, ssn) VALUES (1, {place}, {place}) RETURNING ssn"
            assert cursor.execute(insert, [value, value], prepare=prepare).fetchone() == (value,)
            read = f"SELECT name, ssn FROM {table} WHERE ssn = {place}"
            assert cursor.execute(read, [value], prepare=prepare).fetchone() == (value, value)


def test_role_has_an_encoding_of_its_own(shop: Stack, pair) -> None:
    with shop.direct() as direct:
        direct.execute("ALTER ROLE app SET client_encoding = 'LATIN1'")
        try:
            with shop.connect("app") as app:
                assert app.info.encoding == "iso8859-1"
                app.execute("INSERT INTO customer (id, notes) VALUES (1, 'caf\u00e9')")
                assert app.execute("SELECT notes FROM customer").fetchone() == ("caf\u00e9",)
        finally:
            direct.execute("ALTER ROLE app RESET client_encoding")
    assert pair("UTF8").app.execute("SELECT notes FROM customer").fetchone() == ("caf\u00e9",)


def in_pipeline(connection: psycopg.Connection, *texts: str) -> None:
    with connection.pipeline():
        for text in texts:
            connection.execute(text)


def test_pipeline_behind_a_change_of_encoding_is_read_when_it_is_sure(shop: Stack, pair) -> None:
    sessions = pair("UTF8")
    with pytest.raises(psycopg.errors.FeatureNotSupported):
        in_pipeline(
            sessions.app,
            "SET client_encoding = 'LATIN1'",
            "INSERT INTO customer (id, notes) VALUES (1, 'caf\u00e9')",
        )
    assert sessions.app.execute("SELECT count(*) FROM customer").fetchone() == (0,)
    in_pipeline(
        sessions.app,
        "SELECT set_config('search_path', 'public', false)",
        "INSERT INTO customer (id, notes) VALUES (1, 'caf\u00e9')",
    )
    assert "caf\u00e9".encode() not in shop.relay.to_server()
    assert sessions.app.execute("SELECT notes FROM customer").fetchone() == ("caf\u00e9",)


@pytest.mark.parametrize("encoding", UNSAFE)
def test_other_characters_of_an_unsafe_encoding_are_refused(shop: Stack, pair, encoding: str) -> None:
    sessions = pair(encoding)
    # The second byte is a backslash.
    got, _ = sessions.both(b"INSERT INTO customer (id, notes) VALUES (1, '\x83\x5c')")
    assert got == b"0A000"
    assert b"\x83\x5c" not in shop.relay.to_server()
    sessions.same(b"SELECT 1")


PASSING = [
    b'CREATE TEMP TABLE "%s" (id int, %s text)',
    b"INSERT INTO %s VALUES (1, '%s'), (2, E'\\%s''') -- %s'",
    b'SELECT *, $%s$ \'%s $%s$ AS "%s """ FROM "%s" WHERE %s <> \'\'',
    b"SELECT '%s', name AS %s FROM customer",
    b"UPDATE customer SET name = '%s', ssn = 'a' WHERE ssn IS NULL OR name = '%s' RETURNING ssn, name",
    b"WITH %s AS (SELECT ssn AS %s FROM customer) SELECT %s.%s FROM %s",
    b"SELECT id FROM customer WHERE ssn = 'a' AND name <> '%s '",
    b"SELECT %s FROM customer",
    b"SELECT '%s' x FROM",
]


@pytest.mark.parametrize("encoding", UNKNOWN)
def test_texts_with_characters_that_are_not_known_are_read(shop: Stack, pair, encoding: str) -> None:
    sessions, character = pair(encoding), UNKNOWN[encoding]
    sessions.same(b"INSERT INTO customer (id, name) VALUES (1, 'n')")
    shop.relay.forget()
    for text in PASSING:
        sessions.same(text.replace(b"%s", character))
    assert b"'a'" not in shop.relay.to_server()
    for session, table in ((sessions.app, b"customer"), (sessions.direct, TWIN.encode())):
        insert = b"INSERT INTO %s (id, name, ssn) VALUES (2, $1, $2) RETURNING name, ssn" % table
        result = session.pgconn.exec_params(insert, [character, b"b"])
        assert (result.get_value(0, 0), result.get_value(0, 1)) == (character, b"b")


@pytest.mark.parametrize("encoding", UNKNOWN)
def test_of_characters_that_are_not_known_no_value_is_taken_or_shown(shop: Stack, pair, encoding: str) -> None:
    sessions, character = pair(encoding), UNKNOWN[encoding]
    for text in (
        b"INSERT INTO customer (id, ssn) VALUES (1, '%s')",
        b"UPDATE customer SET ssn = 'a%sb'",
        b"SELECT id FROM customer WHERE ssn IN ('a', '%s')",
        b"PREPARE p AS SELECT id FROM customer WHERE ssn = '%s'",
    ):
        assert sessions.both(text.replace(b"%s", character))[0] == b"0A000", text
    result = sessions.app.pgconn.exec_params(b"INSERT INTO customer (id, ssn) VALUES (1, $1)", [character])
    assert result.error_field(pq.DiagnosticField.SQLSTATE) == b"0A000"
    # The driver knows no such encoding.
    copy = sessions.app.pgconn
    copy.exec_(b"COPY customer (id, name, ssn) FROM STDIN")
    copy.put_copy_data(b"1\t%s\ta\n2\tb\t%s\n" % (character, character))
    copy.put_copy_end()
    (refused,) = unblocked.results(copy)
    assert refused.error_field(pq.DiagnosticField.SQLSTATE) == b"0A000"
    assert b"a%sb" % character not in shop.relay.to_server()
    pair("UTF8").app.execute("INSERT INTO customer (id, ssn, notes) VALUES (1, '\u4e02', '\u4e02')")
    assert sessions.both(b"SELECT ssn FROM customer")[0] in {b"0A000", b"22P05"}
    copy.exec_(b"COPY customer (id, ssn) TO STDOUT")
    assert list(unblocked.copied(copy)) == []
    (refused,) = unblocked.results(copy)
    assert refused.error_field(pq.DiagnosticField.SQLSTATE) in {b"0A000", b"22P05"}
    sessions.same(b"SELECT 1")


def test_names_of_the_protocol_are_not_confused(shop: Stack) -> None:
    with shop.connect("app", client_encoding="LATIN1") as app:
        app.execute("SELECT 1")
        result = app.pgconn.prepare(b"\xc3\xa9", b"SELECT ssn FROM customer")
        assert result.error_field(pq.DiagnosticField.SQLSTATE) == b"0A000"
