"""What the tests of MySQL's protocol share: one stack of each server a worker."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.mysql_builds import MYSQL, NEWER, OLDER, Build
from harness.mysql_stack import MySqlOptions, MySqlStack
from matrix import mysql as drivers


@pytest.fixture(scope="session")
def policies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Catalog and rules for the drivers' table, beside the example's."""
    return drivers.write_policies(tmp_path_factory.mktemp("policies"))


@pytest.fixture(scope="session")
def stacks() -> Iterator[dict[str, MySqlStack]]:
    """The stacks that run, by the names of their servers: each starts when a test first needs it, and stays."""
    running: dict[str, MySqlStack] = {}
    yield running
    for stack in running.values():
        stack.stop()


@pytest.fixture(scope="session", params=(OLDER, NEWER, MYSQL), ids=lambda build: build.name)
def stack(request: pytest.FixtureRequest, policies: Path, stacks: dict[str, MySqlStack]) -> MySqlStack:
    """All parts, with a relay before the server; Envoy at debug level, so that leaks would show in its log."""
    build: Build = request.param
    if not build.is_there:
        pytest.skip(f"no {build.name} for this machine: see dev/setup/servers.py")
    if build.name not in stacks:
        options = MySqlOptions(
            build=build,
            relay=True,
            policies=(policies,),
            plain=True,
            envoy_log_level="debug",
            filter_config={"audit": {"interval_seconds": 1}},
        )
        stacks[build.name] = MySqlStack(options).start()
        drivers.create(stacks[build.name])
    return stacks[build.name]


@pytest.fixture
def shop(stack: MySqlStack) -> MySqlStack:
    """The stack with an empty customer table and nothing recorded."""
    stack.stored("TRUNCATE customer")
    stack.relay.forget()
    return stack
