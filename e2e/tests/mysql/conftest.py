"""What the tests of MySQL's protocol share: one stack of each server a worker."""

from collections.abc import Iterator

import pytest

from harness import mariadb
from harness.mysql_stack import MySqlOptions, MySqlStack
from tools.layout import MARIADB_VERSIONS


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """There is a server for Linux on x86-64 alone."""
    if not mariadb.is_there():
        skip = pytest.mark.skip(reason="no MariaDB for this machine: `make setup` says why")
        for item in items:
            if "mysql" in item.path.parts:
                item.add_marker(skip)


@pytest.fixture(scope="session", params=MARIADB_VERSIONS, ids=lambda version: f"mariadb-{version}")
def stack(request: pytest.FixtureRequest) -> Iterator[MySqlStack]:
    """All parts, with a relay before the server; Envoy at debug level, so that leaks would show in its log."""
    options = MySqlOptions(
        version=request.param,
        relay=True,
        plain=True,
        envoy_log_level="debug",
        filter_config={"audit": {"interval_seconds": 1}},
    )
    with MySqlStack(options).start() as running:
        yield running


@pytest.fixture
def shop(stack: MySqlStack) -> MySqlStack:
    """The stack with an empty customer table and nothing recorded."""
    stack.stored("TRUNCATE customer")
    stack.relay.forget()
    return stack
