"""A connection that the filter ends: its client reads the reason first, and nobody else notices."""

import psycopg
import pytest

from harness import Stack
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
