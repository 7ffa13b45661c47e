"""Statements of many shapes, each with the rows that it must give."""

import psycopg
import pytest

from harness import Stack
from tests.rows import ADA, ALAN, INSERT


@pytest.fixture(scope="module")
def tables(stack: Stack):
    """Views over the example's table, one upon another, one that computes, a materialized one; and other tables."""
    with stack.direct() as direct:
        direct.execute("CREATE VIEW contact AS SELECT id, email AS mail FROM customer WHERE ssn IS NOT NULL")
        direct.execute(
            "CREATE VIEW contact_twice AS SELECT a.mail, b.id FROM contact a JOIN contact b ON a.mail = b.mail"
        )
        direct.execute("CREATE VIEW shouted AS SELECT upper(email) AS mail FROM customer")
        direct.execute("CREATE MATERIALIZED VIEW snapshot AS SELECT ssn FROM customer")
        direct.execute("CREATE TABLE staging (id bigint, name text)")
        direct.execute("CREATE TABLE archive (LIKE customer)")
        for relation in ("contact", "contact_twice", "shouted", "snapshot", "staging", "archive"):
            direct.execute(f"GRANT ALL ON {relation} TO app, auditor")
        yield
        direct.execute("DROP VIEW contact_twice, contact, shouted")
        direct.execute("DROP MATERIALIZED VIEW snapshot")
        direct.execute("DROP TABLE staging, archive")


@pytest.fixture
def app(shop: Stack, tables):
    with shop.direct() as direct:
        direct.execute("TRUNCATE staging, archive")
    with shop.connect("app") as connection:
        for row in (ADA, ALAN):
            connection.execute(INSERT, row)
        with shop.direct() as direct:
            direct.execute("REFRESH MATERIALIZED VIEW snapshot")
        shop.relay.forget()
        yield connection


ADA_SSN, ALAN_SSN = ADA[3], ALAN[3]

QUERIES = [
    ("WITH c AS (SELECT id, ssn FROM customer) SELECT ssn FROM c ORDER BY id", [(ADA_SSN,), (ALAN_SSN,)]),
    ("WITH c (i, s) AS (SELECT id, ssn FROM customer) SELECT i FROM c WHERE s = '078-05-1120'", [(1,)]),
    (
        "WITH RECURSIVE c AS (SELECT id, ssn FROM customer WHERE id = 1 UNION ALL"
        " SELECT customer.id, customer.ssn FROM customer JOIN c ON customer.id = c.id + 1) SELECT * FROM c ORDER BY id",
        [(1, ADA_SSN), (2, ALAN_SSN)],
    ),
    ("SELECT ssn FROM customer WHERE id = 1 UNION SELECT ssn FROM customer WHERE id = 1", [(ADA_SSN,)]),
    ("SELECT id, card FROM customer WHERE id = 1 UNION ALL SELECT 9, NULL ORDER BY 1", [(1, ADA[5]), (9, None)]),
    ("SELECT ssn FROM customer EXCEPT SELECT ssn FROM customer WHERE id = 1", [(ALAN_SSN,)]),
    ("SELECT mail FROM contact WHERE mail = 'ada@example.com'", [("ada@example.com",)]),
    ("SELECT mail, id FROM contact_twice ORDER BY id", [(ADA[2], 1), (ALAN[2], 2)]),
    ("SELECT count(*) FROM snapshot WHERE ssn = '078-05-1120'", [(1,)]),
    ("SELECT id FROM customer WHERE ssn = ANY('{078-05-1120,x}')", [(1,)]),
    ("SELECT id FROM customer WHERE ssn <> ALL(ARRAY['078-05-1120','x'])", [(2,)]),
    ("SELECT id FROM customer WHERE ssn IS DISTINCT FROM '078-05-1120' AND id > 0", [(2,)]),
    ("SELECT ssn::text, email::varchar FROM customer WHERE ssn::text = '078-05-1120'", [(ADA_SSN, ADA[2])]),
    ("SELECT l.ssn FROM customer c, LATERAL (SELECT c.ssn, c.id AS n) l WHERE l.n = 1", [(ADA_SSN,)]),
    ("SELECT s FROM customer AS c(i, n, e, s) WHERE i = 1", [(ADA_SSN,)]),
    ("SELECT email, count(*) FROM ONLY customer GROUP BY email ORDER BY 2, count(*) LIMIT 0", []),
    ("SELECT c.ssn FROM customer c JOIN customer d USING (ssn) WHERE d.id = 2", [(ALAN_SSN,)]),
    ("UPDATE customer SET phone = COALESCE(NULL, phone), card = CASE WHEN id = 1 THEN 'new' ELSE card END"
     " WHERE id = 1 RETURNING phone, card", [(ADA[4], "new")]),
    ("INSERT INTO customer (id, ssn, email) SELECT id + 10, ssn, 'new@example.com' FROM customer WHERE id = 1"
     " RETURNING id, ssn, email", [(11, ADA_SSN, "new@example.com")]),
    ("WITH gone AS (DELETE FROM customer WHERE id = 1 RETURNING ssn) SELECT * FROM gone", [(ADA_SSN,)]),
    ("MERGE INTO customer c USING (SELECT 1 AS i UNION ALL SELECT 7) s ON c.id = s.i"
     " WHEN MATCHED THEN UPDATE SET ssn = 'merged' WHEN NOT MATCHED THEN INSERT (id, ssn) VALUES (s.i, 'fresh')"
     " RETURNING c.id, c.ssn", [(1, "merged"), (7, "fresh")]),
]  # fmt: skip


@pytest.mark.parametrize("protocol", ["simple", "extended", "binary"])
@pytest.mark.parametrize("case", QUERIES, ids=lambda case: case[0][:60])
def test_query_gives_its_rows(app: psycopg.Connection, case: tuple, protocol: str) -> None:
    text, rows = case
    if protocol == "simple":
        cursor = psycopg.ClientCursor(app)
        cursor.execute(text.encode())
    else:
        cursor = app.cursor(binary=protocol == "binary")
        cursor.execute(text)
    assert cursor.fetchall() == rows


def test_parameters_of_every_writing_are_sealed(shop: Stack, app: psycopg.Connection) -> None:
    for text, parameters in [
        ("SELECT id FROM customer WHERE ssn = ANY(%s)", [[ADA_SSN, None]]),
        ("SELECT id FROM customer WHERE ssn = ANY(%s::text[])", [[ADA_SSN]]),
        ("SELECT id FROM customer WHERE ssn = %s::varchar", [ADA_SSN]),
        ("SELECT id FROM customer WHERE ssn IS NOT DISTINCT FROM %s", [ADA_SSN]),
        ("SELECT id FROM customer WHERE ssn = %b", [ADA_SSN]),
        ("SELECT id FROM customer WHERE ssn = ANY(%b)", [[ADA_SSN]]),
    ]:
        assert app.execute(text, parameters).fetchall() == [(1,)], text
    app.execute("INSERT INTO customer (id, ssn) SELECT %s, %s WHERE NOT EXISTS (SELECT 1)", [9, "none"])
    app.execute("INSERT INTO customer (id, ssn) SELECT %s, %s", [9, "nine"])
    assert app.execute("SELECT ssn FROM customer WHERE id = 9").fetchone() == ("nine",)
    assert ADA_SSN.encode() not in shop.relay.to_server()


def test_several_statements_in_one_text_each_have_their_columns(app: psycopg.Connection) -> None:
    cursor = psycopg.ClientCursor(app)
    cursor.execute(
        "SELECT ssn FROM customer WHERE id = 1; SELECT 'fv1.no' ; SELECT id, ssn FROM customer UNION SELECT 3, NULL"
    )
    assert cursor.fetchall() == [(ADA_SSN,)]
    cursor.nextset()
    assert cursor.fetchall() == [("fv1.no",)]
    cursor.nextset()
    assert sorted(cursor.fetchall()) == [(1, ADA_SSN), (2, ALAN_SSN), (3, None)]


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT ssn FROM customer UNION SELECT name FROM staging",
        "SELECT * FROM shouted",
        "INSERT INTO customer (id, ssn) SELECT id, name FROM staging",
        "INSERT INTO staging SELECT id, ssn FROM customer",
        "CREATE TABLE copied AS SELECT ssn FROM customer",
        "SELECT ssn INTO copied FROM customer",
        "UPDATE contact SET mail = 'x'",
        "MERGE INTO customer c USING staging s ON c.id = s.id"
        " WHEN NOT MATCHED THEN INSERT (id, ssn) VALUES (s.id, s.name)",
        "CREATE VIEW seen AS SELECT id FROM customer WHERE ssn = 'x'",
        "CREATE TABLE child (CHECK (ssn <> 'x')) INHERITS (customer)",
        "CREATE PUBLICATION told FOR TABLE customer WHERE (ssn = 'x')",
        "COMMIT; INSERT INTO customer (id, ssn) VALUES (9, 'x')",
    ],
)
def test_statement_that_would_mix_or_spill_is_refused(app: psycopg.Connection, statement: str) -> None:
    with pytest.raises(psycopg.errors.FeatureNotSupported):
        psycopg.ClientCursor(app).execute(statement.encode())


def test_children_and_triggers_of_a_protected_table_can_be_made(shop: Stack, app: psycopg.Connection) -> None:
    with shop.direct() as direct:
        direct.execute("GRANT CREATE ON SCHEMA public TO app")
        direct.execute("CREATE TABLE parted (id int, ssn text) PARTITION BY RANGE (id)")
        direct.execute("CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'")
        direct.execute("GRANT TRIGGER ON customer TO app")
        direct.execute("GRANT ALL ON parted TO app")
    app.execute("CREATE TRIGGER does_nothing BEFORE INSERT ON customer FOR EACH ROW EXECUTE FUNCTION nothing()")
    with shop.direct() as direct:
        direct.execute("DROP TRIGGER does_nothing ON customer")
        direct.execute("DROP FUNCTION nothing()")
        direct.execute("DROP TABLE parted")


def test_who_sees_envelopes_may_copy_them(shop: Stack, app: psycopg.Connection) -> None:
    with shop.connect("auditor") as auditor:
        auditor.execute("CREATE TEMP TABLE copied AS SELECT id, ssn FROM customer")
        (ssn,) = auditor.execute("SELECT ssn FROM copied WHERE id = 1").fetchone()
        assert ssn.startswith("fv1.")


def test_view_that_is_made_through_the_sidecar_is_known_at_once(app: psycopg.Connection, shop: Stack) -> None:
    with shop.direct() as direct:
        direct.execute("GRANT CREATE ON SCHEMA public TO app")
    app.execute("CREATE VIEW mine AS SELECT id, ssn FROM customer")
    assert app.execute("SELECT ssn FROM mine WHERE id = 1").fetchone() == (ADA_SSN,)
    app.execute("DROP VIEW mine")
