"""Tables that held values before they were protected."""

from collections.abc import Iterator

import pytest

from tests.keys.tables import FILL, Tables


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tables]:
    running = Tables(tmp_path_factory.mktemp("policies"))
    yield running
    running.stack.stop()


@pytest.fixture
def person(tables: Tables) -> Tables:
    """The table full of plaintext."""
    with tables.direct() as direct:
        direct.execute("TRUNCATE person")
        direct.execute(FILL)
    return tables
