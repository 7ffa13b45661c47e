"""A policy that changes under sessions of MariaDB that read all the time: no error, no mixed row, and nobody left
behind."""

from collections.abc import Callable, Iterator
from contextlib import closing

import mysql.connector
import pymysql
import pytest

from harness import shop as example
from harness.mysql_builds import OLDER
from harness.mysql_stack import SEALED, MySqlStack
from tests.mysql.asking import ask, change
from tests.policies.flips import flip_under
from tests.policies.readers import COLUMNS, RANGE, ROWS, SELECT, Reader, Rows, value
from tests.policies.shipping import Shipping

Answers = Iterator[tuple[Rows, range | list[int]]]


@pytest.fixture(scope="module")
def shipping(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shipping]:
    shipping = Shipping(tmp_path_factory.mktemp("flip"))
    shipping.publish("masked-0")
    shipping.stack.start()
    yield shipping
    shipping.stack.stop()


@pytest.fixture(scope="module")
def stack(shipping: Shipping) -> Iterator[MySqlStack]:
    if not OLDER.is_there:
        pytest.skip(f"no {OLDER.name} for this machine: see dev/setup/servers.py")
    postgres = shipping.stack
    with MySqlStack(control=postgres.control).start() as stack:
        names = ", ".join(("id", *COLUMNS))
        rows = [(row, *(value(column, row) for column in COLUMNS)) for row in range(ROWS)]
        with stack.connect("app") as app, app.cursor() as cursor:
            cursor.executemany(
                f"INSERT INTO customer ({names}) VALUES ({', '.join(['%s'] * (1 + len(COLUMNS)))})", rows
            )
        yield stack


def text(connection: pymysql.Connection) -> Answers:
    yield ask(connection, RANGE, [0, ROWS - 1]), range(ROWS)


def in_a_transaction(connection: pymysql.Connection) -> Answers:
    """Which the change of the policy does not end."""
    connection.begin()
    for _ in range(2):
        yield ask(connection, RANGE, [0, ROWS - 1]), range(ROWS)
    connection.commit()


def prepared_in_sql(connection: pymysql.Connection) -> Answers:
    change(connection, f"PREPARE hundred FROM '{SELECT} ORDER BY id'")
    for _ in range(5):
        yield ask(connection, "EXECUTE hundred"), range(ROWS)


def searching(connection: pymysql.Connection) -> Answers:
    """One row each, found by a sealed value."""
    for row in (0, ROWS - 1):
        yield ask(connection, f"{SELECT} WHERE ssn = %s", [value("ssn", row)]), [row]


def prepared(connection: mysql.connector.MySQLConnection) -> Answers:
    """By the binary protocol: prepared once, executed several times."""
    with closing(connection.cursor(prepared=True)) as cursor:
        for _ in range(5):
            cursor.execute(RANGE, (0, ROWS - 1))
            yield cursor.fetchall(), range(ROWS)


TEXTS = (text, in_a_transaction, prepared_in_sql, searching)


def test_reveal_flips_to_mask_and_back_under_busy_sessions(shipping: Shipping, stack: MySqlStack) -> None:
    readers = [Reader(read.__name__, read, lambda: stack.connect("support")) for read in TEXTS]
    flip_under(shipping, [*readers, Reader("prepared", prepared, by_connector(stack))])


def by_connector(stack: MySqlStack) -> Callable[[], closing]:
    return lambda: closing(
        mysql.connector.connect(
            unix_socket=str(stack.envoy.socket(SEALED)),
            user="support",
            password=example.PASSWORD,
            database=example.DATABASE,
            autocommit=True,
            use_pure=True,
        )
    )
