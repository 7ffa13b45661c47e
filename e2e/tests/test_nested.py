"""Texts as deep as the filter takes, and deeper: the filter stays as it is, and serves on."""

from contextlib import suppress

import psycopg
import pytest

from harness import Stack
from tests import nested
from tests.reloads import reloads
from tests.rows import ADA, INSERT

TOO_COMPLEX = "54001"


@pytest.mark.parametrize("construct", nested.POSTGRES, ids=lambda construct: construct.name)
def test_filter_outlives_a_text_however_deep(shop: Stack, construct: nested.Construct) -> None:
    pid, before = shop.envoy.process.pid, reloads(shop.envoy)
    with shop.connect("app") as app:
        app.execute(INSERT, ADA)
        for count in (construct.most, construct.most + 1, construct.most + 2, *nested.FAR):
            # What the server says of it does not matter: the session is there to be asked again.
            with suppress(psycopg.Error):
                app.execute("EXPLAIN " + construct.text(count))
            assert not app.broken, f"the connection ended at {count}"
        assert app.execute("SELECT ssn FROM customer").fetchone() == (ADA[3],)
    with shop.connect("app") as another:
        assert another.execute("SELECT ssn FROM customer").fetchone() == (ADA[3],)
    assert (shop.envoy.process.pid, reloads(shop.envoy)) == (pid, before)


def test_joins_without_a_condition_are_refused_past_the_bound(shop: Stack) -> None:
    with shop.connect("app") as app:
        for count in (62, 250, 5_000):
            with pytest.raises(psycopg.errors.StatementTooComplex) as refused:
                app.execute(nested.joined("SELECT 1 FROM", "JOIN")(count))
            assert refused.value.sqlstate == TOO_COMPLEX
            assert refused.value.diag.message_hint
