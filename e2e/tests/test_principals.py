"""The same row, as policy has it for who asks."""

import psycopg
import pytest

from harness import Stack
from tests.rows import ADA, COLUMNS, INSERT, SELECT


@pytest.fixture
def with_row(shop: Stack) -> Stack:
    with shop.connect("app") as app:
        app.execute(INSERT, ADA)
    return shop


def read(stack: Stack, user: str, columns: str = ", ".join(COLUMNS), **how: bool) -> tuple:
    with stack.connect(user) as connection:
        return connection.cursor(**how).execute(f"SELECT {columns} FROM customer").fetchone()


@pytest.mark.parametrize("binary", [False, True], ids=["text", "binary"])
def test_three_principals_get_three_treatments(with_row: Stack, binary: bool) -> None:
    assert read(with_row, "billing", binary=binary) == ADA
    masked = read(with_row, "support", binary=binary)
    assert masked == (1, "Ada", "a***@e***.com", "***-**-1120", "*** ** **** 0958", "**** **** **** 1111", None)
    concealed = read(with_row, "auditor", binary=binary)
    with with_row.direct() as direct:
        stored = direct.execute(SELECT, [1]).fetchone()
    assert concealed == stored
    assert all(value.startswith("fv1.") for value in concealed[2:])


def test_refused_read_names_label_and_remedy(with_row: Stack) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege) as refused:
        read(with_row, "intern", "ssn")
    assert "customer.ssn" in refused.value.diag.message_primary
    assert refused.value.diag.message_hint


def test_principal_with_a_refused_column_reads_the_others(with_row: Stack) -> None:
    assert read(with_row, "intern", "id, name") == (1, "Ada")
    assert read(with_row, "intern", "phone")[0].startswith("fv1.")


@pytest.mark.parametrize("user", ["support", "auditor", "intern"])
@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO customer (id, ssn) VALUES (9, 'written')",
        "UPDATE customer SET ssn = 'written'",
        "INSERT INTO customer (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET ssn = 'written'",
    ],
)
def test_principal_without_the_right_to_write_is_refused(with_row: Stack, user: str, statement: str) -> None:
    with with_row.connect(user) as connection:
        with pytest.raises(psycopg.errors.InsufficientPrivilege) as refused:
            connection.execute(statement)
        assert "customer.ssn" in refused.value.diag.message_primary
        assert connection.execute("SELECT 1").fetchone() == (1,)
    assert read(with_row, "billing") == ADA
    assert b"written" not in with_row.relay.to_server()


def test_principal_who_sees_a_part_may_search(with_row: Stack) -> None:
    with with_row.connect("support") as connection:
        found = connection.execute("SELECT id FROM customer WHERE ssn = %s", [ADA[3]]).fetchall()
    assert found == [(ADA[0],)]


@pytest.mark.parametrize("user", ["auditor", "intern"])
def test_principal_who_may_not_read_may_not_search(with_row: Stack, user: str) -> None:
    with with_row.connect(user) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("SELECT id FROM customer WHERE ssn = %s", [ADA[3]])


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT array_agg(id) FROM customer GROUP BY ssn",
        "SELECT DISTINCT ON (ssn) id FROM customer",
        "SELECT count(*) FROM (SELECT DISTINCT ssn FROM customer) x",
        "SELECT count(ssn) FROM customer",
        "SELECT id FROM customer a JOIN customer b USING (id, ssn)",
    ],
)
def test_principal_who_is_refused_a_label_may_not_tell_its_values_apart(with_row: Stack, statement: str) -> None:
    with with_row.connect("intern") as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(statement)
