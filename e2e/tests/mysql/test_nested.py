"""Texts as deep as the filter takes, and deeper: the filter stays as it is, and serves on."""

from contextlib import suppress

import pymysql
import pytest

from harness.mysql_stack import MySqlStack
from tests import nested
from tests.mysql.asking import ask, change, refusal
from tests.reloads import reloads
from tests.rows import ADA, INSERT

STACK_OVERRUN_NEED_MORE = 1436


@pytest.mark.parametrize("construct", nested.MYSQL, ids=lambda construct: construct.name)
def test_filter_outlives_a_text_however_deep(shop: MySqlStack, construct: nested.Construct) -> None:
    pid, before = shop.envoy.process.pid, reloads(shop.envoy)
    with shop.connect("app") as app:
        change(app, INSERT, ADA)
        for count in (construct.most, construct.most + 1, construct.most + 2, *nested.FAR):
            # What the server says of it does not matter: the session is there to be asked again.
            with suppress(pymysql.MySQLError):
                ask(app, "EXPLAIN " + construct.text(count))
            assert app.open, f"the connection ended at {count}"
        assert ask(app, "SELECT ssn FROM customer") == [(ADA[3],)]
    with shop.connect("app") as another:
        assert ask(another, "SELECT ssn FROM customer") == [(ADA[3],)]
    assert (shop.envoy.process.pid, reloads(shop.envoy)) == (pid, before)


def test_joins_without_a_condition_are_refused_past_the_bound(shop: MySqlStack) -> None:
    with shop.connect("app") as app:
        for count in (62, 250, 5_000):
            number, text = refusal(app, nested.joined("SELECT 1 FROM", "JOIN")(count))
            assert number == STACK_OVERRUN_NEED_MORE
            assert "HINT" in text
