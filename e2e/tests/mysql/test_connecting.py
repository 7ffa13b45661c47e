"""Logging in through the sidecar: the server proves its users itself, and the session is theirs."""

import pymysql
import pytest

from harness.mysql_stack import MySqlStack

ACCESS_DENIED = 1045


def test_a_wrong_password_is_the_servers_to_refuse(shop: MySqlStack) -> None:
    with pytest.raises(pymysql.OperationalError) as refused:
        shop.connect("app", password="wrong")
    assert refused.value.args[0] == ACCESS_DENIED
