"""One stack a worker: both sidecars under the same policies and keys, and the shop's API."""

from collections.abc import Iterator

import pytest

from harness import shop as example
from tests.http import shop
from tests.http.api import Api


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("api"), database=True, concurrency=2) as api:
        with api.database.direct() as direct:
            direct.execute(shop.CREATE_TABLE)
            example.allow_all(direct, shop.TABLE)
        yield api


@pytest.fixture
def api(running: Api) -> Api:
    """With nothing remembered of earlier requests."""
    running.service.forget()
    return running
