"""The drivers that need no toolchain of their own, within TLS all the way; `make e2e` has the others too."""

from collections.abc import Iterator

import pytest

from harness import install
from matrix import known
from matrix.clients import CLIENTS, QUICK, Client
from matrix.tls import PostgresByTls, refuses

BY_TLS = [client for client in CLIENTS if client.family in QUICK and client.tls]

pytestmark = pytest.mark.skipif(
    not install.is_there(install.WITH_TLS),
    reason=f"no PostgreSQL with TLS here: {install.WITH_TLS.package} has no wheel for this system",
)


@pytest.fixture(scope="module")
def bridged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresByTls]:
    running = PostgresByTls(tmp_path_factory.mktemp("policies")).start()
    yield running
    running.stop()


@pytest.mark.parametrize("client", BY_TLS, ids=lambda it: it.name)
def test_client_does_the_same_within_tls(bridged: PostgresByTls, client: Client) -> None:
    assert bridged.run(client).differences(known.load().of(client.name)) == []


@pytest.mark.parametrize("client", BY_TLS, ids=lambda it: it.name)
def test_client_does_nothing_with_a_bridge_of_another_authority_or_name(bridged: PostgresByTls, client: Client) -> None:
    assert refuses(client, bridged) == []
