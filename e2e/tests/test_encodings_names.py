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
