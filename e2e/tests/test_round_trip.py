"""What was written comes back, by every way that psycopg has of asking."""

import psycopg
import pytest

from harness import Stack
from tests.rows import ADA, ALAN, COLUMNS, INSERT, LIST, SELECT


@pytest.fixture
def app(shop: Stack):
    with shop.connect("app") as connection:
        yield connection


@pytest.mark.parametrize("binary", [False, True], ids=["text", "binary"])
@pytest.mark.parametrize("prepare", [False, True], ids=["unnamed", "prepared"])
def test_row_comes_back(app: psycopg.Connection, binary: bool, prepare: bool) -> None:
    values = INSERT.replace("%s", "%b") if binary else INSERT
    cursor = app.cursor(binary=binary)
    for row in (ADA, ALAN):
        cursor.execute(values, row, prepare=prepare)
    for row in (ADA, ALAN):
        for _ in range(2):
            assert cursor.execute(SELECT, [row[0]], prepare=prepare).fetchone() == row


def test_simple_protocol_row_comes_back(shop: Stack) -> None:
    with shop.connect("app", cursor_factory=psycopg.ClientCursor) as app:
        app.execute(INSERT, ADA)
        assert app.execute(SELECT, [1]).fetchone() == ADA
        assert app.execute("SELECT * FROM customer").fetchone() == ADA


def test_pipeline_keeps_answers_in_order(app: psycopg.Connection) -> None:
    with app.pipeline():
        cursors = []
        for number in range(50):
            app.execute(INSERT, (number, *ADA[1:3], f"ssn-{number}", *ADA[4:]))
            cursors.append(app.execute("SELECT ssn FROM customer WHERE id = %s", [number]))
        assert [cursor.fetchone()[0] for cursor in cursors] == [f"ssn-{number}" for number in range(50)]


def test_many_executions_before_one_sync_come_back(app: psycopg.Connection) -> None:
    with app.cursor() as cursor:
        cursor.executemany(f"{INSERT} RETURNING ssn", [(number, *ADA[1:]) for number in range(20)], returning=True)
        seen = []
        while True:
            seen.append(cursor.fetchone()[0])
            if not cursor.nextset():
                break
    assert seen == [ADA[3]] * 20


def test_insert_without_column_list_and_many_rows_comes_back(app: psycopg.Connection) -> None:
    returned = app.execute(
        "INSERT INTO customer VALUES (%s,%s,%s,%s,%s,%s,%s), (%s,%s,%s,%s,%s,%s,%s) RETURNING *", (*ADA, *ALAN)
    ).fetchall()
    assert returned == [ADA, ALAN]


def test_literals_of_every_writing_come_back(app: psycopg.Connection) -> None:
    app.execute(
        "INSERT INTO customer (id, email, ssn, phone, card, notes) VALUES"
        " (7, E'tab\\tand \\'quote\\'', $$dollar 'quoted'$$, 'it''s', $tag$x$tag$, 'häßlich ☃')"
    )
    row = app.execute("SELECT email, ssn, phone, card, notes FROM customer WHERE id = 7").fetchone()
    assert row == ("tab\tand 'quote'", "dollar 'quoted'", "it's", "x", "häßlich ☃")


def test_upsert_seals_the_new_value(app: psycopg.Connection) -> None:
    app.execute(INSERT, ADA)
    upsert = "INSERT INTO customer (id, ssn) VALUES (1, %s) ON CONFLICT (id) DO UPDATE SET ssn = "
    assert app.execute(upsert + "EXCLUDED.ssn RETURNING ssn", ["second"]).fetchone() == ("second",)
    assert app.execute(upsert + "%s RETURNING ssn", ["unused", "third"]).fetchone() == ("third",)
    assert app.execute("SELECT ssn FROM customer").fetchall() == [("third",)]


def test_update_and_delete_by_a_sealed_value(app: psycopg.Connection) -> None:
    app.execute(INSERT, ADA)
    app.execute(INSERT, ALAN)
    assert app.execute("UPDATE customer SET phone = %s WHERE ssn = %s", ["new", ADA[3]]).rowcount == 1
    assert app.execute("SELECT phone FROM customer WHERE id = 1").fetchone() == ("new",)
    assert app.execute("DELETE FROM customer WHERE email = %s RETURNING id", [ALAN[2]]).fetchone() == (2,)


def test_null_stays_null(app: psycopg.Connection) -> None:
    app.execute(INSERT, ALAN)
    assert app.execute("SELECT notes FROM customer WHERE notes IS NULL").fetchone() == (None,)
    app.execute("UPDATE customer SET ssn = NULL")
    assert app.execute("SELECT ssn FROM customer").fetchone() == (None,)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT c.ssn AS number FROM customer AS c WHERE c.id = 1",
        "SELECT a.ssn FROM customer a JOIN customer b ON a.ssn = b.ssn WHERE b.id = 1",
        "SELECT inner_one.s FROM (SELECT ssn AS s, id FROM customer) AS inner_one WHERE inner_one.id = 1",
        "SELECT ssn FROM customer WHERE email IN (SELECT email FROM customer WHERE id = 1)",
        "SELECT ssn FROM customer WHERE ssn IN ('078-05-1120', 'no one')",
        "SELECT customer.ssn FROM public.customer WHERE id = 1 FOR UPDATE",
        'SELECT "ssn" FROM "customer" WHERE NOT (id <> 1) ORDER BY id LIMIT 1',
    ],
)
def test_query_gives_the_opened_value(app: psycopg.Connection, query: str) -> None:
    app.execute(INSERT, ADA)
    app.execute(INSERT, ALAN)
    assert app.execute(query).fetchall() == [(ADA[3],)]


def test_wildcards_give_opened_values(app: psycopg.Connection) -> None:
    app.execute(INSERT, ADA)
    assert app.execute("SELECT * FROM customer").fetchone() == ADA
    assert app.execute("SELECT c.*, 1 FROM customer c").fetchone() == (*ADA, 1)


def test_columns_show_their_declared_types(app: psycopg.Connection) -> None:
    described = app.execute(f"SELECT {LIST} FROM customer").description
    assert [(column.name, column.type_code) for column in described] == [
        ("id", 20),
        *[(name, 25) for name in COLUMNS[1:]],
    ]


def test_transaction_rolls_back(app: psycopg.Connection) -> None:
    with app.transaction(force_rollback=True):
        app.execute(INSERT, ADA)
        assert app.execute("SELECT ssn FROM customer").fetchone() == (ADA[3],)
    assert app.execute("SELECT ssn FROM customer").fetchone() is None


def test_named_statement_used_again_with_another_text(app: psycopg.Connection) -> None:
    connection = app.pgconn
    app.execute(INSERT, ADA)
    connection.prepare(b"", b"SELECT ssn FROM customer")
    assert connection.exec_prepared(b"", None).get_value(0, 0) == ADA[3].encode()
    connection.prepare(b"", b"SELECT name FROM customer")
    assert connection.exec_prepared(b"", None).get_value(0, 0) == ADA[1].encode()
    connection.prepare(b"", b"SELECT card FROM customer")
    assert connection.exec_prepared(b"", None).get_value(0, 0) == ADA[5].encode()


def test_large_values_and_many_rows_come_back(app: psycopg.Connection) -> None:
    notes = "long " * 60_000
    app.execute("INSERT INTO customer (id, notes) VALUES (1, %s)", [notes])
    assert app.execute("SELECT notes FROM customer").fetchone() == (notes,)
    app.execute("DELETE FROM customer")
    rows = [(number, *ADA[1:]) for number in range(1000)]
    with app.pipeline():
        app.cursor().executemany(INSERT, rows)
    assert app.execute(f"SELECT {LIST} FROM customer ORDER BY id").fetchall() == rows


def test_table_of_another_schema_is_not_the_protected_one(shop: Stack, app: psycopg.Connection) -> None:
    with shop.direct() as direct:
        direct.execute("CREATE SCHEMA IF NOT EXISTS other")
        direct.execute("CREATE TABLE IF NOT EXISTS other.customer (id bigint, ssn text)")
        direct.execute("TRUNCATE other.customer")
        direct.execute("GRANT ALL ON SCHEMA other TO app")
        direct.execute("GRANT ALL ON other.customer TO app")
        app.execute("INSERT INTO other.customer VALUES (1, 'not sealed')")
        app.execute("SET search_path = other")
        app.execute("INSERT INTO customer VALUES (2, 'nor this')")
        app.execute("SET search_path = public")
        app.execute("INSERT INTO customer (id, ssn) VALUES (3, 'sealed')")
        assert direct.execute("SELECT ssn FROM other.customer ORDER BY id").fetchall() == [
            ("not sealed",),
            ("nor this",),
        ]
        assert direct.execute("SELECT left(ssn, 4) FROM public.customer").fetchall() == [("fv1.",)]
