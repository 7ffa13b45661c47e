"""The drivers of MySQL that need no toolchain of their own, within TLS all the way; `make e2e` has the others too."""

from collections.abc import Iterator

import pytest

from harness.mysql_builds import MYSQL, NEWER, Build
from matrix import known
from matrix.clients import MYSQL_CLIENTS, QUICK, Client
from matrix.tls import MySqlByTls, refuses

BY_TLS = [client for client in MYSQL_CLIENTS if client.family in QUICK and client.tls and client.is_there]


@pytest.fixture(scope="module", params=(NEWER, MYSQL), ids=lambda build: build.name)
def bridged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MySqlByTls]:
    build: Build = request.param
    if not build.is_there:
        pytest.skip(f"no {build.name} for this machine: see dev/setup/servers.py")
    running = MySqlByTls(build, tmp_path_factory.mktemp("policies")).start()
    yield running
    running.stop()


@pytest.mark.parametrize("client", BY_TLS, ids=lambda it: it.name)
def test_client_does_the_same_within_tls(bridged: MySqlByTls, client: Client) -> None:
    assert bridged.run(client).differences(known.load().of(client.name)) == []


@pytest.mark.parametrize("client", BY_TLS, ids=lambda it: it.name)
def test_client_does_nothing_with_a_bridge_of_another_authority_or_name(bridged: MySqlByTls, client: Client) -> None:
    assert refuses(client, bridged) == []
