"""A policy that changes under sessions that read all the time: no error, no mixed row, and nobody left behind."""

from collections.abc import Iterator

import pytest

from tests.policies.flips import flip_under
from tests.policies.readers import READERS, Reader, fill
from tests.policies.shipping import Shipping


@pytest.fixture(scope="module")
def shipping(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shipping]:
    shipping = Shipping(tmp_path_factory.mktemp("flip"))
    shipping.publish("masked-0")
    shipping.stack.start()
    with shipping.stack.connect("app") as app:
        fill(app)
    yield shipping
    shipping.stack.stop()


def test_reveal_flips_to_mask_and_back_under_busy_sessions(shipping: Shipping) -> None:
    flip_under(
        shipping, [Reader(name, read, lambda: shipping.stack.connect("support")) for name, read in READERS.items()]
    )
