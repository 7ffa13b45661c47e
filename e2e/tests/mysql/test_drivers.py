"""The quick part of the driver matrix: the clients that need no Node.js, Java or Rust toolchain of their own.

`make e2e` runs all of them and writes `docs/reference/mysql-drivers.md`.
"""

import pytest

from harness.mysql_stack import MySqlStack
from matrix import known
from matrix.clients import MYSQL_CLIENTS, QUICK, Client
from matrix.mysql import run

CLIENTS = [client for client in MYSQL_CLIENTS if client.family in QUICK and client.is_there]


@pytest.mark.parametrize("client", CLIENTS, ids=lambda it: it.name)
def test_client_does_what_the_matrix_says(stack: MySqlStack, client: Client) -> None:
    assert run(stack, client).differences(known.load().of(client.name)) == []
