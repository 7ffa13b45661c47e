"""What concerns no field passes byte for byte, both ways; a protected statement changes at its values alone."""

import psycopg
import pytest

from harness import Stack
from harness import shop as example
from harness.relay import Relay
from tests import wire
from tests.rows import ADA, INSERT


@pytest.fixture
def front(shop: Stack):
    """A second relay, before Envoy: what the client itself sends and gets."""
    folder = shop.work.path / "front"
    folder.mkdir(exist_ok=True)
    relay = Relay(shop.work.socket("front/.s.PGSQL.5432"), shop.envoy_socket)
    relay.start()
    shop.relay.forget()
    yield relay
    relay.stop()


def connect(stack: Stack, front: Relay, database: str, **options: object) -> psycopg.Connection:
    dsn = psycopg.conninfo.make_conninfo(stack.dsn("app", database), host=str(front.socket.parent))
    return psycopg.connect(dsn, autocommit=True, **options)


def use_everything(connection: psycopg.Connection) -> None:
    connection.execute("CREATE TEMP TABLE t (id int, ssn text, at timestamptz, data bytea)")
    connection.execute("INSERT INTO t VALUES (%s, %s, now(), %s)", [1, "plain", b"\0\xff"])
    connection.cursor(binary=True).execute("SELECT * FROM t WHERE ssn = %s", ["plain"], prepare=True).fetchall()
    with connection.cursor().copy("COPY t TO STDOUT (FORMAT binary)") as copy:
        assert b"".join(bytes(chunk) for chunk in copy)
    with connection.cursor().copy("COPY t (id) FROM STDIN") as copy:
        copy.write("7\n8\n")
    with connection.pipeline():
        for number in range(20):
            connection.execute("SELECT %s::int", [number])
    for broken in ("SELEC", "SELECT 1/0", "SELECT nothing FROM t"):
        with pytest.raises(psycopg.Error):
            connection.execute(broken)
    connection.execute("LISTEN something")
    connection.execute("SELECT pg_notify('something', 'payload')")
    connection.execute("DO $$ BEGIN RAISE NOTICE 'said'; END $$")
    connection.execute(b"SELECT 1; ; /* note */ SELECT '\xc3\xa9', E'\\n' -- end", prepare=False)
    connection.execute("SELECT repeat('x', 3000000)")


def test_session_without_a_field_is_identical_both_ways(shop: Stack, front: Relay) -> None:
    with connect(shop, front, example.PLAIN_DATABASE) as connection:
        use_everything(connection)
    (before,), (behind,) = front.recordings, shop.relay.recordings
    assert bytes(before.to_server) == bytes(behind.to_server)
    assert bytes(before.to_client) == bytes(behind.to_client)
    assert len(before.to_client) > 3_000_000


def test_untouched_statements_beside_protected_ones_are_forwarded_as_they_are(shop: Stack, front: Relay) -> None:
    with connect(shop, front, example.DATABASE) as connection:
        use_everything(connection)
        connection.execute(INSERT, ADA)
        use_everything(connection.execute("DROP TABLE t").connection)
    (before,), (behind,) = front.recordings, shop.relay.recordings
    sent = list(wire.messages(bytes(before.to_server), startup_first=True))
    forwarded = iter(wire.messages(bytes(behind.to_server), startup_first=True))
    untouched = [one for one in sent if b"customer" not in one and ADA[3].encode() not in one]
    assert len(untouched) > 100
    # Each in its order; what the filter asks of its own stands in between.
    assert all(any(one == other for other in forwarded) for one in untouched)


def test_protected_statement_changes_at_its_values_alone(shop: Stack, front: Relay) -> None:
    text = "INSERT  INTO customer(id,ssn,name)\n VALUES (1 , '078-05-1120' ,'Ada') /* as it was */ -- to the end"
    with connect(shop, front, example.DATABASE, cursor_factory=psycopg.ClientCursor) as connection:
        connection.execute(text)
    head, tail = text.split("'078-05-1120'")
    assert b"078-05-1120" not in shop.relay.to_server()
    assert head.encode() + b"'fv1." in shop.relay.to_server()
    assert tail.encode() + b"\0" in shop.relay.to_server()
