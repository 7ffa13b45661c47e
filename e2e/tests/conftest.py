"""What the tests share: one stack a worker, with every part's log as loud as it goes."""

import signal
from collections.abc import Iterator

import pytest

from harness import Options, Stack
from matrix import database as drivers
from tests import forms, sample


def pytest_configure() -> None:
    # A SIGTERM ends a run as Ctrl-C does: what its tests started is stopped, and their folders go.
    signal.signal(signal.SIGTERM, signal.default_int_handler)


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """All parts, with a relay before the server; Envoy at debug level, so that leaks would show in its log."""
    policies = tmp_path_factory.mktemp("policies")
    for database in (sample, forms, drivers):
        database.write_policies(policies)
    options = Options(relay=True, plain=True, policies=(policies,), envoy_log_level="debug")
    with Stack(options).start() as running:
        for database in (sample, forms, drivers):
            database.create(running)
        yield running


@pytest.fixture
def shop(stack: Stack) -> Stack:
    """The stack with an empty customer table and nothing recorded."""
    with stack.direct() as direct:
        direct.execute("TRUNCATE customer")
    stack.relay.forget()
    return stack
