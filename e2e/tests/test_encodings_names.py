"""Protected tables with names besides ASCII, and servers of other encodings, beside a direct session."""

import pytest

from harness import Stack
from tests import encodings
from tests.encodings import copied_in, session_codec


@pytest.mark.parametrize("encoding", ["UTF8", "LATIN1", "WIN1252", "SQL_ASCII"])
def test_protected_names_are_known_in_every_encoding(stack: Stack, paired, encoding: str) -> None:
    sessions = paired(encodings.NAMED, encoding)
    codec = session_codec(encoding)
    for text in (
        "INSERT INTO café (id, prénom) VALUES (1, 'Zoé')",
        "INSERT INTO public.\"café\" VALUES (2, 'n', 'Noël')",
        "SELECT prénom, name AS é FROM café ORDER BY id",
        "UPDATE café SET prénom = 'é' WHERE prénom = 'Zoé' RETURNING *",
        "WITH c AS (SELECT * FROM café) SELECT c.prénom FROM c ORDER BY c.id",
    ):
        sessions.same(text.encode(codec))
    sent = stack.relay.to_server()
    for value in ("Zoé", "Noël"):
        assert f"'{value}'".encode(codec) not in sent
    # Not the bytes of the name in another encoding.
    got, wanted = sessions.both("SELECT 1 FROM cafÃ©".encode(codec))
    assert got == wanted == b"42P01"


@pytest.mark.parametrize("encoding", ["UTF8", "LATIN1"])
@pytest.mark.parametrize("database", [encodings.LATIN1, encodings.SQL_ASCII])
def test_server_of_another_encoding_is_read(stack: Stack, paired, database: str, encoding: str) -> None:
    sessions = paired(database, encoding)
    codec = session_codec(encoding)
    for text in (
        "INSERT INTO person (id, name, notes) VALUES (1, 'naïve', 'Zoé')",
        "SELECT * FROM person WHERE notes = 'Zoé'",
        "UPDATE person SET notes = 'a' RETURNING notes, name",
    ):
        sessions.same(text.encode(codec))
    # The bytes of an escape are in the server's encoding.
    got, _ = sessions.both(b"INSERT INTO person (id, notes) VALUES (2, E'Zo\\303\\251')")
    assert got == b"0A000"
    for data in (b"3\tZo\\xc3\\xa9\n", b"4\tZo\\xe9\n"):
        assert copied_in(sessions.app, "person", "", data, 100) in {"0A000", "22021"}
    assert "Zoé".encode(codec) not in stack.relay.to_server()


def test_sql_ascii_is_the_encoding_of_the_server(paired) -> None:
    sessions = paired(encodings.LATIN1, "SQL_ASCII")
    sessions.same(b"INSERT INTO person (id, name, notes) VALUES (1, '\xe9', '\xe9')")
    sessions.same(b"SELECT * FROM person WHERE notes = '\xe9'")
    sessions.same(b"SET client_encoding = 'UTF8'")
    sessions.same(b"SELECT * FROM person")


# What a server of an encoding of several bytes stores, and a client that is sent the same bytes or UTF-8 reads.
SEVERAL_BYTES = [
    (encodings.EUC_KR, "EUC_KR", "\ud55c\uae00"),
    (encodings.EUC_KR, "UTF8", "\ud55c\uae00"),
    (encodings.EUC_KR, "SQL_ASCII", "abc"),
    (encodings.EUC_TW, "UTF8", "\u4f60\u597d"),
]


@pytest.mark.parametrize(("database", "encoding", "value"), SEVERAL_BYTES)
def test_server_of_an_encoding_of_several_bytes_is_read(
    stack: Stack, paired, database: str, encoding: str, value: str
) -> None:
    sessions = paired(database, encoding)
    codec = session_codec(encoding)
    for text in (
        f"INSERT INTO person (id, name, notes) VALUES (1, '{value}', '{value}')",
        f"SELECT *, '{value}' AS \"{value}\" FROM person WHERE notes = '{value}'",
        f'CREATE TEMP TABLE "{value}" ({value} text)',
        f"INSERT INTO {value} VALUES ('{value}')",
        f'SELECT {value} FROM "{value}", person WHERE name = {value}',
        "UPDATE person SET notes = 'a' RETURNING notes, name",
    ):
        sessions.same(text.encode(codec))
    for session, table in ((sessions.app, "person"), (sessions.direct, encodings.TWIN)):
        insert = f"INSERT INTO {table} (id, name, notes) VALUES (2, $1, $2) RETURNING notes, name"
        result = session.pgconn.exec_params(insert.encode(), [value.encode(codec)] * 2)
        assert [result.get_value(0, column) for column in range(2)] == [value.encode(codec)] * 2
        assert copied_in(session, table, "", f"3\t{value}\n".encode(codec), 2) is None
    sessions.same(b"SELECT * FROM person ORDER BY id")
    assert f"\t{value}\n".encode(codec) not in stack.relay.to_server()


@pytest.mark.parametrize("encoding", ["EUC_JP", "UTF8", "SQL_ASCII"])
def test_protected_names_are_known_on_a_server_of_several_bytes(stack: Stack, paired, encoding: str) -> None:
    codec = "euc_jp" if encoding == "SQL_ASCII" else session_codec(encoding)
    sessions = paired(encodings.EUC_JP, encoding, codec)
    for text in (
        "INSERT INTO \u9867\u5ba2 (id, name, \u6c0f\u540d) VALUES (1, '\u540d', '\u5c71\u7530')",
        "SELECT \u6c0f\u540d, name AS \u540d FROM \"\u9867\u5ba2\" WHERE \u6c0f\u540d = '\u5c71\u7530'",
        "SELECT '\u540d' AS \u540d",
    ):
        sessions.same(text.encode(codec))
    assert "'\u5c71\u7530'".encode(codec) not in stack.relay.to_server()
    # The server may find a name in it that is not seen here.
    for text in ('SELECT 1 FROM U&"\\9867\\5ba2"', "SELECT '\u4e02'"):
        assert sessions.both(text.encode(codec))[0] == b"0A000", text


LETTERS = {encodings.EUC_TW: b"\xc4\xe3", encodings.LATIN1: b"\x81\xe9", encodings.EUC_JP: b"\x92\xb4\xc1"}


@pytest.mark.parametrize("server", LETTERS)
def test_characters_that_are_not_known_pass_on_a_server_of_another_encoding(paired, server: str) -> None:
    sessions = paired(server, "UTF8")
    encoding = b"EUC_TW" if server == encodings.EUC_TW else b"MULE_INTERNAL"
    sessions.same(b"SET client_encoding = '%s'" % encoding)
    letter = LETTERS[server]
    if server == encodings.EUC_JP:
        # It may be a protected name.
        assert sessions.both(b"SELECT '%s'" % letter)[0] == b"0A000"
    else:
        sessions.same(b"SELECT '%s' AS %s, name FROM person" % (letter, letter))
        sessions.same(b"INSERT INTO person (name) VALUES ('%s') RETURNING name" % letter)
        assert sessions.both(b"INSERT INTO person (notes) VALUES ('%s')" % letter)[0] == b"0A000"
    sessions.same(b"SELECT 1")


@pytest.mark.parametrize("encoding", ["EUC_JP", "EUC_KR", "EUC_CN", "EUC_TW", "EUC_JIS_2004"])
def test_no_other_character_becomes_one_of_ascii_on_a_server_of_several_bytes(stack: Stack, encoding: str) -> None:
    """So that a name in ASCII is written in ASCII alone."""
    with stack.direct() as direct:
        direct.execute("""CREATE FUNCTION pg_temp.in_ascii(encoding name) RETURNS SETOF int LANGUAGE plpgsql AS $$
            DECLARE bytes bytea;
            BEGIN
                FOR code IN 128..65535 LOOP
                    CONTINUE WHEN code BETWEEN 55296 AND 57343;
                    BEGIN
                        bytes := convert_to(chr(code), encoding);
                    EXCEPTION WHEN untranslatable_character THEN CONTINUE;
                    END;
                    FOR place IN 0..length(bytes) - 1 LOOP
                        IF get_byte(bytes, place) < 128 THEN RETURN NEXT code; END IF;
                    END LOOP;
                END LOOP;
            END $$""")
        assert direct.execute("SELECT pg_temp.in_ascii(%s)", [encoding]).fetchall() == []
