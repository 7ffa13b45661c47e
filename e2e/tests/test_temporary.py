"""Temporary relations and those of other schemas, and what they are to the policy by whatever name they are reached."""

import psycopg
import pytest

from harness import Stack
from tests.rows import ADA, INSERT

SECRET = "a secret of the session"


@pytest.fixture
def app(shop: Stack):
    with shop.direct() as direct:
        direct.execute("DROP SCHEMA IF EXISTS apart CASCADE")
        direct.execute("CREATE SCHEMA apart AUTHORIZATION app")
    with shop.connect("app") as connection:
        connection.execute(INSERT, ADA)
        shop.relay.forget()
        yield connection
    with shop.direct() as direct:
        direct.execute("DROP SCHEMA IF EXISTS apart CASCADE")


@pytest.mark.parametrize("schema", ["", "pg_temp.", '"pg_temp".', "shop.pg_temp."])
def test_temporary_view_is_read_and_not_written_by_each_of_its_names(
    shop: Stack, app: psycopg.Connection, schema: str
) -> None:
    app.execute("CREATE TEMP VIEW shown AS SELECT id, ssn FROM customer")
    assert app.execute(f"SELECT ssn FROM {schema}shown WHERE ssn = %s", [ADA[3]]).fetchall() == [(ADA[3],)]
    for text in (f"INSERT INTO {schema}shown VALUES (2, '{SECRET}')", f"UPDATE {schema}shown SET ssn = '{SECRET}'"):
        with pytest.raises(psycopg.errors.FeatureNotSupported):
            app.execute(text)
    with pytest.raises(psycopg.Error), app.cursor().copy(f"COPY {schema}shown FROM STDIN") as copy:
        copy.write_row((3, SECRET))
    assert SECRET.encode() not in shop.relay.to_server()
    assert ADA[3].encode() not in shop.relay.to_server()


@pytest.mark.parametrize(
    "text",
    [
        "ALTER TABLE public.customer RENAME ssn TO number",
        "ALTER TABLE client RENAME TO customer",
        "ALTER TABLE apart.customer SET SCHEMA public",
        "CREATE TABLE customer AS SELECT 1",
        "CREATE VIEW customer AS SELECT 1",
        "CREATE VIEW apart.customer AS SELECT id, ssn FROM public.customer",
        "CREATE TABLE apart.customer AS SELECT id FROM public.customer",
    ],
)
def test_what_may_put_another_in_the_place_of_the_protected_table_is_refused(
    app: psycopg.Connection, text: str
) -> None:
    app.execute("SET search_path = apart")
    with pytest.raises(psycopg.errors.FeatureNotSupported):
        app.execute(text)


@pytest.mark.parametrize("kind", ["TABLE", "VIEW"])
def test_temporary_relation_of_the_name_is_another(app: psycopg.Connection, kind: str) -> None:
    app.execute(f"CREATE TEMP {kind} customer AS SELECT 'mine' AS ssn")
    assert app.execute("SELECT ssn FROM customer").fetchall() == [("mine",)]
    assert app.execute("SELECT ssn FROM public.customer").fetchall() == [(ADA[3],)]
    app.execute(f"DROP {kind} customer")
    assert app.execute("SELECT ssn FROM customer").fetchall() == [(ADA[3],)]


def test_rows_behind_a_temporary_table_of_the_name_are_not_written_before_it_is_there(
    shop: Stack, app: psycopg.Connection
) -> None:
    text = b"INSERT INTO customer (id, ssn) VALUES ($1, $2)"
    app.pgconn.prepare(b"put", text)
    app.execute("BEGIN")
    app.execute("CREATE TEMP TABLE customer AS SELECT 1::bigint AS id, 'x' AS ssn")
    app.execute("ROLLBACK")
    app.pgconn.exec_prepared(b"put", [b"5", SECRET.encode()])
    app.execute(f"INSERT INTO customer (id, ssn) VALUES (6, '{SECRET}')")
    assert SECRET.encode() not in shop.relay.to_server()
    assert app.execute("SELECT id FROM customer WHERE ssn = %s ORDER BY id", [SECRET]).fetchall() == [(5,), (6,)]
