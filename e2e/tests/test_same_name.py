"""A table that has the name of a protected one and is another: a temporary one, or one of another schema."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from harness import Stack

SCHEMA = "same_name"
SECRET = "078-05-1120"
STATEMENTS = [
    "INSERT INTO customer VALUES (1, 'plain')",
    "INSERT INTO customer SELECT 2, upper('b') || 'c'",
    "UPDATE customer SET ssn = upper(ssn) WHERE id = 1",
    "SELECT upper(ssn), length(ssn) FROM customer ORDER BY ssn",
    "SELECT c FROM customer c WHERE ssn LIKE 'P%'",
    "TABLE customer",
    "SELECT row_to_json(customer) FROM customer",
    "CREATE INDEX by_ssn ON customer (upper(ssn))",
    "ALTER TABLE customer ADD CONSTRAINT checked CHECK (ssn <> 'x')",
    "ALTER TABLE customer RENAME COLUMN ssn TO number",
    "ALTER TABLE customer RENAME COLUMN number TO ssn",
    "ALTER TABLE customer ADD COLUMN long text GENERATED ALWAYS AS (ssn || ssn) STORED",
    "ALTER TABLE customer ALTER COLUMN ssn SET DEFAULT 'none'",
    "CREATE TEMP VIEW shown AS SELECT upper(ssn) AS ssn FROM customer",
    "SELECT * FROM shown",
    "CREATE TEMP TABLE computed AS SELECT upper(ssn) FROM customer",
    "SELECT upper(ssn) INTO TEMP gone FROM customer",
    "PREPARE ours AS SELECT upper(ssn) FROM customer WHERE id = $1",
    "EXECUTE ours (1)",
    "DEALLOCATE ours",
    "EXPLAIN (COSTS OFF) SELECT upper(ssn) FROM customer",
    "COMMENT ON TABLE customer IS 'ours'",
    "CREATE TEMP TABLE child (more int) INHERITS (customer)",
    "DELETE FROM customer WHERE upper(ssn) = 'PLAIN'",
    "TRUNCATE customer CASCADE",
    "ALTER TABLE customer ALTER COLUMN id TYPE bigint",
    "ALTER TABLE customer RENAME TO client",
    "DROP TABLE client CASCADE",
    "CREATE TEMP TABLE customer AS SELECT 1 AS id, 'of its own' AS ssn",
    "INSERT INTO customer VALUES (2, upper('another'))",
    "SELECT upper(ssn) FROM pg_temp.customer ORDER BY 1",
    "DROP TABLE customer",
    "SELECT 3 AS id INTO TEMP customer",
    "SELECT * FROM customer",
    "ALTER TABLE nothing.customer ADD x int",
    "DROP TABLE customer",
]

# Each names the schema, or alters what is in it. The table of the bare name is the one that the search path says.
MADE_ELSEWHERE = [
    f"CREATE TABLE {SCHEMA}.orders (id int, note text)",
    f"INSERT INTO {SCHEMA}.orders VALUES (1, 'plain')",
    f"CREATE VIEW {SCHEMA}.customer AS SELECT id, upper(note) AS ssn FROM {SCHEMA}.orders",
    f"SELECT upper(ssn), length(ssn) FROM {SCHEMA}.customer",
    f"CREATE OR REPLACE VIEW {SCHEMA}.customer AS SELECT id, lower(note) AS ssn FROM {SCHEMA}.orders",
    f"SELECT count(*) FROM {SCHEMA}.customer WHERE ssn LIKE 'p%'",
    f"DROP VIEW {SCHEMA}.customer",
    f"CREATE MATERIALIZED VIEW {SCHEMA}.customer AS SELECT 1 AS id, 'x' AS ssn",
    f"DROP MATERIALIZED VIEW {SCHEMA}.customer",
    f"CREATE TABLE {SCHEMA}.customer AS SELECT id, note AS ssn FROM {SCHEMA}.orders",
    f"INSERT INTO {SCHEMA}.customer VALUES (2, upper('another'))",
    f"SELECT upper(ssn) FROM {SCHEMA}.customer ORDER BY 1",
    f"ALTER TABLE {SCHEMA}.customer RENAME TO client",
    f"ALTER TABLE {SCHEMA}.client RENAME TO customer",
    f"SELECT upper(ssn) FROM {SCHEMA}.customer ORDER BY 1",
    f"DROP TABLE {SCHEMA}.customer",
    f"CREATE TABLE {SCHEMA}.customer AS VALUES (1)",
    f"CREATE VIEW {SCHEMA}.customer AS SELECT 1",
]


@contextmanager
def temporary(connection: psycopg.Connection) -> Iterator[None]:
    connection.execute("CREATE TEMP TABLE customer (id int, ssn text)")
    yield


@contextmanager
def in_another_schema(connection: psycopg.Connection) -> Iterator[None]:
    connection.execute(f"SET search_path = {SCHEMA}, public")
    connection.execute("CREATE TABLE customer (id int, ssn text)")
    yield


def said(connection: psycopg.Connection, statement: str) -> object:
    try:
        cursor = connection.execute(statement)
    except psycopg.Error as error:
        return error.sqlstate, str(error)
    return cursor.statusmessage, cursor.fetchall() if cursor.description else None


@pytest.mark.parametrize("made", [temporary, in_another_schema])
def test_it_is_used_as_without_the_sidecar(shop: Stack, made) -> None:
    require_the_same_answers(shop, made, STATEMENTS)


@pytest.mark.parametrize("path", ["public", f"{SCHEMA}, public"])
def test_it_is_made_in_another_schema_as_without_the_sidecar(shop: Stack, path: str) -> None:
    @contextmanager
    def on_path(connection: psycopg.Connection) -> Iterator[None]:
        connection.execute(f"SET search_path = {path}")
        yield

    require_the_same_answers(shop, on_path, MADE_ELSEWHERE)


def require_the_same_answers(shop: Stack, made, statements: list[str]) -> None:
    answers = []
    with shop.direct() as owner:
        for connect in (shop.direct, shop.connect):
            owner.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
            owner.execute(f"CREATE SCHEMA {SCHEMA} AUTHORIZATION app")
            with connect("app") as connection, made(connection):
                answers.append([(statement, said(connection, statement)) for statement in statements])
                # What the name means now is protected again.
                connection.execute("SET search_path = public")
                if connect == shop.connect:
                    connection.execute(f"INSERT INTO customer (id, ssn) VALUES (4, '{SECRET}')")
                    assert SECRET.encode() not in shop.relay.to_server()
        owner.execute(f"DROP SCHEMA {SCHEMA} CASCADE")
    direct, through = answers
    differ = [(*one, other[1]) for one, other in zip(direct, through, strict=True) if one != other]
    assert differ == [], "\n".join(map(str, differ))


# One for each pair of types that the question for the catalog compares: the exact types win over the search path.
COMPARED = [
    ("=", "name", "name"),
    ("=", "oid", "oid"),
    ("=", '"char"', '"char"'),
    ("=", "oid", "int4"),
    (">", "int2", "int4"),
]


def test_operators_of_the_clients_own_hide_no_table_from_the_sidecar(shop: Stack) -> None:
    with shop.direct() as direct:
        direct.execute(f"CREATE SCHEMA {SCHEMA}_operators AUTHORIZATION app")
        try:
            with shop.connect("app") as app:
                app.execute(f"SET search_path = {SCHEMA}_operators, pg_catalog, public")
                for operator, left, right in COMPARED:
                    function = f"never({left}, {right})"
                    app.execute(f"CREATE FUNCTION {function} RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT false'")
                    made = f"FUNCTION = never, LEFTARG = {left}, RIGHTARG = {right}"
                    app.execute(f"CREATE OPERATOR {operator} ({made})")
                app.execute("INSERT INTO customer (id, name, ssn) VALUES (-77, 'Eve', %s)", (SECRET,))
                assert app.execute("SELECT ssn FROM customer WHERE id = -77").fetchall() == [(SECRET,)]
            assert direct.execute("SELECT ssn LIKE 'fv1.%' FROM customer WHERE id = -77").fetchall() == [(True,)]
        finally:
            direct.execute("DELETE FROM customer WHERE id = -77")
            direct.execute(f"DROP SCHEMA {SCHEMA}_operators CASCADE")
