"""COPY in sessions of other encodings, and of data in other encodings, beside a direct session."""

import pytest

from harness import Stack
from tests.encodings import TWIN, copied_in, copied_out

COPIES = [
    ("LATIN1", "", b"1\tcaf\xe9\n2\ta\\tb\xe9\n3\t\\N\n4\tcaf\\xc3\\xa9\n"),
    ("LATIN1", "(FORMAT csv, NULL '\xe9')", b'1,"caf\xe9"\n2,\xe9\n3,"a""\xe9"\n'),
    ("LATIN1", "(FORMAT csv, HEADER match)", b"id,notes\n1,caf\xe9\n"),
    ("LATIN1", "(ENCODING 'UTF8')", b"1\tcaf\xc3\xa9\n"),
    ("UTF8", "(ENCODING 'latin1')", b"1\tcaf\xe9\n"),
    ("UTF8", "(ENCODING 'iso-8859-1', FORMAT csv)", b"1,caf\xe9\n"),
    ("LATIN1", "(ENCODING 'SQL_ASCII')", b"1\tcaf\xc3\xa9\n"),
    ("EUC_JP", "", b"1\t\xc6\xfc\xcb\xdc\n"),
    ("SJIS", "", b"1\tascii\n"),
    ("LATIN1", "(FORMAT csv, NULL 'x')", b"1,x\n2,\xe9\n"),
    # Errors: no text in the encoding, and none behind escapes.
    ("EUC_JP", "", b"1\t\xc6\n"),
    ("LATIN1", "", b"1\tcaf\\xe9\n"),
    ("UTF8", "", b"1\tcaf\xe9\n"),
]


@pytest.mark.parametrize("size", [1, 1000])
@pytest.mark.parametrize("case", range(len(COPIES)))
def test_copy_reads_the_encoding_of_the_data(shop: Stack, pair, case: int, size: int) -> None:
    encoding, options, data = COPIES[case]
    sessions = pair(encoding)
    got = copied_in(sessions.app, "customer", options, data, size)
    wanted = copied_in(sessions.direct, TWIN, options, data, size)
    assert got == wanted
    sent = shop.relay.to_server()
    assert not any(clear in sent for clear in (b"caf\xe9", b"caf\xc3\xa9", b"caf\\x"))
    utf8 = pair("UTF8")
    utf8.same(b"SELECT id, notes FROM customer ORDER BY id")
    out = options.replace("HEADER match", "HEADER")
    assert copied_out(sessions.app, "customer", out) == copied_out(sessions.direct, TWIN, out)


@pytest.mark.parametrize("encoding", ["LATIN1", "WIN1251", "UTF8"])
def test_binary_copy_is_in_the_encoding_of_the_session(pair, encoding: str) -> None:
    sessions = pair(encoding)
    raw = "\u0434\u0430".encode("cp1251") if encoding == "WIN1251" else "caf\u00e9".encode(encoding.lower())
    value = b"\0\0\0\x08" + (7).to_bytes(8, "big") + len(raw).to_bytes(4, "big") + raw
    data = b"PGCOPY\n\xff\r\n\0" + bytes(8) + b"\0\x02" + value + b"\xff\xff"
    for session, table in ((sessions.app, "customer"), (sessions.direct, TWIN)):
        assert copied_in(session, table, "(FORMAT binary)", data, 7) is None
        assert raw in copied_out(session, table, "(FORMAT binary)")
    pair("UTF8").same(b"SELECT id, notes FROM customer")


def test_copy_out_of_what_the_encoding_lacks_fails(pair) -> None:
    sessions = pair("UTF8")
    sessions.same("INSERT INTO customer (id, notes) VALUES (1, '\u20ac')".encode())
    sessions.same(b"SET client_encoding = 'LATIN1'")
    for options in ("", "(FORMAT csv)", "(FORMAT binary)"):
        assert copied_out(sessions.app, "customer", options) == copied_out(sessions.direct, TWIN, options) == "22P05"
