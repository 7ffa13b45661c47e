"""Sessions that begin after the schema was changed have the catalog of that moment, known to the worker or not."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from harness import Stack
from tests.rows import ADA, COLUMNS, INSERT

SSN = ADA[3]


@contextmanager
def changed(shop: Stack, change: str, back: str) -> Iterator[None]:
    with shop.direct() as direct:
        direct.execute(change)
    try:
        yield
    finally:
        with shop.direct() as direct:
            direct.execute(back)


def stored(shop: Stack, column: str, relation: str = "customer") -> str:
    with shop.direct() as direct:
        (value,) = direct.execute(f"SELECT {column} FROM {relation} WHERE {column} IS NOT NULL").fetchone()
    return value


def test_a_catalog_that_did_not_change_is_read_once(shop: Stack) -> None:
    with shop.connect("app") as app:
        app.execute("SELECT 1")
    shop.relay.forget()
    for _ in range(3):
        with shop.connect("app", autocommit=True) as app:
            app.execute("TRUNCATE customer")
            app.execute(INSERT, ADA)
        assert stored(shop, "ssn").startswith("fv1.")
    sessions = [bytes(session.to_server) for session in shop.relay.recordings]
    assert [sent.count(b"WITH relation(oids)") for sent in sessions] == [1, 1, 1]
    assert not any(b"WITH RECURSIVE" in sent for sent in sessions)


@pytest.mark.parametrize(
    ("change", "back", "write", "relation"),
    [
        (
            "ALTER TABLE customer RENAME COLUMN ssn TO away; ALTER TABLE customer RENAME COLUMN name TO ssn",
            "ALTER TABLE customer RENAME COLUMN ssn TO name; ALTER TABLE customer RENAME COLUMN away TO ssn",
            "INSERT INTO customer (id, ssn) VALUES (1, %s)",
            "customer",
        ),
        (
            "CREATE TABLE customer_2020 () INHERITS (customer); GRANT ALL ON customer_2020 TO PUBLIC",
            "DROP TABLE customer_2020",
            "INSERT INTO customer_2020 (id, ssn) VALUES (1, %s)",
            "customer_2020",
        ),
        (
            "ALTER TABLE customer RENAME TO customer_away; CREATE TABLE customer (LIKE customer_away);"
            "GRANT ALL ON customer TO PUBLIC",
            "DROP TABLE customer; ALTER TABLE customer_away RENAME TO customer",
            "INSERT INTO customer (id, ssn) VALUES (1, %s)",
            "customer",
        ),
    ],
    ids=["another column of the name", "a child", "another table of the name"],
)
def test_what_a_session_writes_after_a_change_is_sealed(
    shop: Stack, change: str, back: str, write: str, relation: str
) -> None:
    with shop.connect("app") as app:
        app.execute("SELECT 1")
    with changed(shop, change, back):
        with shop.connect("app", autocommit=True) as app:
            app.execute(write, (SSN,))
        assert stored(shop, "ssn", relation).startswith("fv1.")
        # And what is known from now on is the catalog after the change.
        with shop.connect("app", autocommit=True) as app:
            assert app.execute(f"SELECT ssn FROM {relation}").fetchone() == (SSN,)
            app.execute("DELETE FROM customer")
            app.execute(write, (SSN,))
        assert stored(shop, "ssn", relation).startswith("fv1.")


def test_a_view_shows_the_values_of_the_columns_that_it_has_now(shop: Stack) -> None:
    view = "CREATE OR REPLACE VIEW shown AS SELECT id, {} AS value FROM customer"
    with shop.connect("app", autocommit=True) as app:
        app.execute(INSERT, ADA)
    for column in ("name", "ssn"):
        with changed(shop, f"{view.format(column)}; GRANT ALL ON shown TO PUBLIC", "SELECT 1"):
            for _ in range(2):
                with shop.connect("app") as app:
                    (value,) = app.execute("SELECT value FROM shown").fetchone()
                    assert value == ADA[COLUMNS.index(column)]
    with shop.direct() as direct:
        direct.execute("DROP VIEW shown")


def test_names_are_looked_up_as_each_session_does(shop: Stack) -> None:
    """In a schema of its own a session has a table of the same name, which is not protected."""
    own = "CREATE SCHEMA own; CREATE TABLE own.customer (LIKE public.customer); GRANT ALL ON SCHEMA own TO PUBLIC; "
    with changed(shop, f"{own}GRANT ALL ON own.customer TO PUBLIC", "DROP SCHEMA own CASCADE"):
        for options, relation, is_sealed in (
            ("", "public.customer", True),
            ("-c search_path=own,public", "own.customer", False),
            ("", "public.customer", True),
            ("-c search_path=own,public", "own.customer", False),
        ):
            with shop.direct() as direct:
                direct.execute(f"TRUNCATE {relation}")
            with shop.connect("app", autocommit=True, options=options) as app:
                app.execute(INSERT, ADA)
            assert stored(shop, "ssn", relation).startswith("fv1.") is is_sealed, options


def test_a_temporary_table_is_one_sessions_own(shop: Stack) -> None:
    with shop.connect("app", autocommit=True) as one, shop.connect("app", autocommit=True) as two:
        one.execute("CREATE TEMPORARY TABLE customer (LIKE public.customer)")
        one.execute(INSERT, ADA)
        two.execute(INSERT, ADA)
        assert one.execute("SELECT ssn FROM customer").fetchone() == (SSN,)
        assert stored(shop, "ssn").startswith("fv1.")
        with shop.connect("app", autocommit=True) as three:
            assert three.execute("SELECT ssn FROM customer").fetchone() == (SSN,)


def test_a_temporary_view_that_goes_with_its_session_holds_up_no_other(shop: Stack) -> None:
    """What is asked of it would wait for its lock, and fail when it is gone."""
    with shop.direct() as one:
        one.execute("CREATE TEMPORARY VIEW passing AS SELECT id, ssn FROM customer")
        with one.transaction(), shop.connect("app", autocommit=True, options="-c lock_timeout=2s") as app:
            one.execute("DROP VIEW passing")
            for _ in range(2):
                assert app.execute("SELECT count(ssn) FROM customer").fetchone() == (0,)
                with shop.connect("app", options="-c lock_timeout=2s") as another:
                    another.execute("SELECT 1")


def test_a_role_with_a_search_path_of_its_own_has_its_own_catalog(shop: Stack) -> None:
    own = "CREATE SCHEMA own; CREATE TABLE own.customer (LIKE public.customer); GRANT ALL ON SCHEMA own TO PUBLIC; "
    setting = "GRANT ALL ON own.customer TO PUBLIC; ALTER ROLE app SET search_path = own, public"
    with shop.connect("app") as app:
        app.execute("SELECT 1")
    with changed(shop, own + setting, "ALTER ROLE app RESET search_path; DROP SCHEMA own CASCADE"):
        with shop.connect("app", autocommit=True) as app:
            app.execute(INSERT, ADA)
        assert stored(shop, "ssn", "own.customer") == SSN
