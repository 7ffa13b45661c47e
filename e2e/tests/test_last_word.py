"""A connection that the filter ends: its client reads the reason first, and nobody else notices."""

from collections.abc import Iterator

import psycopg
import pytest

from harness import Stack
from tests import wire
from tests.rows import ADA, INSERT


def test_write_whose_row_cannot_be_given_ends_its_session_with_the_reason(shop: Stack) -> None:
    with shop.connect("app") as beside, shop.connect("app") as app:
        app.execute(INSERT, ADA)
        with shop.direct() as direct:
            direct.execute("UPDATE customer SET ssn = 'planted'")
        with pytest.raises(psycopg.errors.DataCorrupted, match=r"customer\.ssn") as ended:
            app.execute("UPDATE customer SET name = 'x' RETURNING ssn")
        assert ended.value.diag.severity == "FATAL"
        with pytest.raises(psycopg.OperationalError):
            app.execute("SELECT 1")
        assert beside.execute("SELECT name FROM customer").fetchone() == ("x",)


def extended(tag: bytes, *names: str, after: bytes) -> bytes:
    return wire.message(tag, b"".join(name.encode() + b"\0" for name in names) + after)


def parse(name: str) -> bytes:
    return extended(b"P", name, "INSERT INTO customer (id, ssn) VALUES (77, $1)", after=bytes(2))


BIND = extended(b"B", "", "reads", after=bytes(6))
EXECUTE = extended(b"E", "", after=bytes(4))
CLOSE = wire.message(b"C", b"Sx\0")
SYNC = wire.message(b"S")


@pytest.fixture
def app(shop: Stack) -> Iterator[psycopg.Connection]:
    """With a statement that reads what cannot be opened, and two that read nothing."""
    with shop.connect("app") as connection:
        connection.execute(INSERT, ADA)
        with shop.direct() as direct:
            direct.execute("UPDATE customer SET ssn = 'planted'")
        for name, text in (
            (b"", b"SELECT $1::text"),
            (b"x", b"SELECT $1::text"),
            (b"reads", b"SELECT ssn FROM customer"),
        ):
            connection.pgconn.prepare(name, text)
        yield connection


@pytest.mark.parametrize(
    "behind", [parse(""), CLOSE + parse("x"), BIND], ids=["unnamed statement", "named statement", "portal"]
)
def test_what_the_server_does_behind_a_row_that_cannot_be_given_ends_the_session(
    app: psycopg.Connection, behind: bytes
) -> None:
    with wire.of_session(app) as session:
        session.sendall(BIND + EXECUTE + behind + SYNC)
        told = wire.errors(wire.read_to_end(session))
    assert [(error["S"], error["C"]) for error in told] == [("FATAL", "XX001")]
    assert "behind this statement in the same pipeline" in told[0]["D"]


def test_statement_closed_behind_a_row_that_cannot_be_given_is_closed(shop: Stack, app: psycopg.Connection) -> None:
    told = b""
    with wire.of_session(app) as session:
        session.sendall(BIND + EXECUTE + CLOSE + SYNC)
        while not told.endswith(wire.message(b"Z", b"I")):
            told += wire.read_exactly(session, 1)
    assert [(error["S"], error["C"]) for error in wire.errors(told)] == [("ERROR", "XX001")]
    shop.relay.forget()
    app.pgconn.prepare(b"x", b"INSERT INTO customer (id, ssn) VALUES (77, $1)")
    app.pgconn.exec_prepared(b"x", [b"a sealed one"])
    assert b"a sealed one" not in shop.relay.to_server()
    assert app.execute("SELECT ssn FROM customer WHERE id = 77").fetchone() == ("a sealed one",)
