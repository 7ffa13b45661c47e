"""A protected table that another connection makes while a session is open: what that writes is sealed at once."""

from collections.abc import Iterator

import psycopg
import pytest

from harness import Stack
from tests.rows import ADA, INSERT


@pytest.fixture
def without(shop: Stack) -> Iterator[Stack]:
    """The stack without its table, which is put back."""
    with shop.direct() as direct:
        direct.execute("ALTER TABLE customer RENAME TO customer_away")
    try:
        yield shop
    finally:
        with shop.direct() as direct:
            direct.execute("DROP TABLE IF EXISTS customer")
            direct.execute("ALTER TABLE customer_away RENAME TO customer")


def make(shop: Stack) -> None:
    with shop.direct() as direct:
        direct.execute("CREATE TABLE customer (LIKE customer_away)")
        direct.execute("GRANT ALL ON customer TO PUBLIC")


@pytest.mark.parametrize("in_transaction", [False, True], ids=["alone", "in a transaction"])
def test_what_is_written_to_a_table_that_was_made_meanwhile_is_sealed(without: Stack, in_transaction: bool) -> None:
    with without.connect("app", autocommit=not in_transaction) as app:
        assert app.execute("SELECT to_regclass('public.customer')").fetchone() == (None,)
        make(without)
        app.execute(INSERT, ADA)
        app.commit()
    with without.direct() as direct:
        (stored,) = direct.execute("SELECT ssn FROM customer").fetchone()
    assert stored.startswith("fv1.")


def test_a_table_that_is_not_there_is_the_servers_error(without: Stack) -> None:
    with without.connect("app", autocommit=True) as app, pytest.raises(psycopg.errors.UndefinedTable):
        app.execute(INSERT, ADA)
