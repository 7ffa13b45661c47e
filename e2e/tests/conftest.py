"""What the tests share: one stack a worker, with every part's log as loud as it goes."""

import signal
from collections.abc import Callable, Iterator

import psycopg
import pytest

from harness import Options, Stack
from harness.workdir import WorkDir
from matrix import database as drivers
from tests import encodings, forms, sample


def pytest_configure() -> None:
    # A SIGTERM ends a run as Ctrl-C does: what its tests started is stopped, and their folders go.
    signal.signal(signal.SIGTERM, signal.default_int_handler)


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """All parts, with a relay before the server; Envoy at debug level, so that leaks would show in its log."""
    policies = tmp_path_factory.mktemp("policies")
    for database in (sample, forms, encodings, drivers):
        database.write_policies(policies)
    options = Options(relay=True, plain=True, policies=(policies,), envoy_log_level="debug")
    with Stack(options).start() as running:
        for database in (sample, forms, encodings, drivers):
            database.create(running)
        yield running


@pytest.fixture
def work() -> Iterator[WorkDir]:
    """A folder of the test's own."""
    made = WorkDir()
    yield made
    made.remove()


@pytest.fixture
def shop(stack: Stack) -> Stack:
    """The stack with an empty customer table and nothing recorded."""
    with stack.direct() as direct:
        direct.execute("TRUNCATE customer")
    stack.relay.forget()
    return stack


@pytest.fixture
def pair(shop: Stack) -> Iterator[Callable[..., encodings.Pair]]:
    """Makes pairs of sessions with the same options; the twin is empty."""
    opened: list[psycopg.Connection] = []
    with shop.direct() as direct:
        direct.execute(f"DROP TABLE IF EXISTS {encodings.TWIN}")
        direct.execute(f"CREATE TABLE {encodings.TWIN} (LIKE customer)")
        direct.execute(f"GRANT ALL ON {encodings.TWIN} TO PUBLIC")

    def make(encoding: str, **options: object) -> encodings.Pair:
        app = shop.connect("app", client_encoding=encoding, **options)
        direct = shop.direct("app", client_encoding=encoding, **options)
        opened.extend((app, direct))
        return encodings.Pair(app, direct)

    yield make
    for connection in opened:
        connection.close()
    with shop.direct() as direct:
        direct.execute(f"DROP TABLE {encodings.TWIN}")


@pytest.fixture
def paired(stack: Stack) -> Iterator[Callable[[str, str], encodings.Pair]]:
    """Makes pairs of sessions in one of the databases for encodings."""
    opened: list[psycopg.Connection] = []

    def make(database: str, encoding: str, codec: str = "") -> encodings.Pair:
        codec = codec or encodings.session_codec(encoding)
        app = stack.connect("app", database, client_encoding=encoding)
        direct = stack.direct("app", database, client_encoding=encoding)
        opened.extend((app, direct))
        table = encodings.table_of(database)[0]
        for session, name in ((app, table), (direct, encodings.TWIN)):
            session.execute(f'DELETE FROM "{name}"'.encode(codec))
        stack.relay.forget()
        return encodings.Pair(app, direct, table.encode(codec))

    yield make
    for connection in opened:
        connection.close()
