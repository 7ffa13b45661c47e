"""The quick part of the driver matrix: the clients that need no Node.js, Java or Rust toolchain of their own.

`make e2e` runs all of them and writes `docs/reference/drivers.md`.
"""

import pytest

from harness import Stack
from matrix import known
from matrix.clients import CLIENTS, QUICK, Client
from matrix.run import run


@pytest.mark.parametrize("client", [client for client in CLIENTS if client.family in QUICK], ids=lambda it: it.name)
def test_client_does_what_the_matrix_says(stack: Stack, client: Client) -> None:
    assert run(stack, client).differences(known.load().of(client.name)) == []
