"""Logging in through the sidecar: the server proves its users itself, and the session is theirs."""

import mysql.connector
import pymysql
import pytest

from harness import shop as example
from harness.envoy import LOOPBACK
from harness.mysql_stack import SEALED, MySqlStack
from tests.mysql.asking import ask, change
from tests.rows import ADA, INSERT, SELECT

ACCESS_DENIED = 1045


def connector(stack: MySqlStack, user: str = "app", **options: object) -> mysql.connector.MySQLConnection:
    """Another driver, all of it in Python."""
    where = {"host": LOOPBACK, "port": stack.envoy.port(SEALED), "database": example.DATABASE}
    told = {"user": user, "password": example.PASSWORD, "use_pure": True, "autocommit": True}
    return mysql.connector.connect(**{**where, **told, **options})


@pytest.mark.parametrize("tcp", [False, True], ids=["unix socket", "loopback"])
def test_a_user_with_a_native_password_comes_in(shop: MySqlStack, tcp: bool) -> None:
    with shop.connect("app", tcp=tcp) as app:
        assert ask(app, "SELECT CURRENT_USER(), DATABASE()") == [("app@%", "shop")]


def test_a_wrong_password_is_the_servers_to_refuse(shop: MySqlStack) -> None:
    with pytest.raises(pymysql.OperationalError) as refused:
        shop.connect("app", password="wrong")
    assert refused.value.args[0] == ACCESS_DENIED


def test_a_session_without_a_database_may_choose_one_later(shop: MySqlStack) -> None:
    with shop.connect("app", None) as app:
        app.select_db("shop")
        change(app, INSERT, ADA)
        assert ask(app, SELECT, [1]) == [ADA]
    assert shop.stored("SELECT LEFT(ssn, 4) FROM customer") == [("fv1.",)]


def test_compression_is_not_offered_and_whoever_begins_it_is_told(shop: MySqlStack) -> None:
    with pytest.raises(mysql.connector.Error, match="compression was not offered"):
        connector(shop, compress=True)


def test_another_user_on_the_same_connection_sees_what_that_user_may(shop: MySqlStack) -> None:
    with shop.connect("app") as app:
        change(app, INSERT, ADA)
    connection = connector(shop)
    cursor = connection.cursor()
    cursor.execute("SELECT ssn FROM customer")
    assert cursor.fetchall() == [(ADA[3],)]
    connection.cmd_change_user("support", example.PASSWORD, example.DATABASE)
    cursor = connection.cursor()
    cursor.execute("SELECT ssn, notes FROM customer")
    assert cursor.fetchall() == [("***-**-1120", None)]
    connection.close()


def test_a_session_that_is_reset_goes_on(shop: MySqlStack) -> None:
    connection = connector(shop)
    cursor = connection.cursor()
    cursor.execute(INSERT, ADA)
    connection.cmd_reset_connection()
    cursor = connection.cursor()
    cursor.execute("SELECT ssn FROM shop.customer")
    assert cursor.fetchall() == [(ADA[3],)]
    connection.close()


def test_ping_and_quit_pass(shop: MySqlStack) -> None:
    app = shop.connect("app")
    app.ping(reconnect=False)
    app.close()
    assert not app.open
