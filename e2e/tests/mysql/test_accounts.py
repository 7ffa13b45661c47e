"""Who a session is for is the account that the server let it in by, whatever name the client said."""

from collections.abc import Iterator

import pytest

from harness.mysql_stack import MySqlStack
from tests.mysql.asking import ask, change
from tests.rows import ADA, INSERT


@pytest.fixture
def nameless(shop: MySqlStack) -> Iterator[MySqlStack]:
    """A server with an account without a name, which lets in everybody from its own host before all others."""
    with shop.connect("app") as app:
        change(app, INSERT, ADA)
    shop.stored("CREATE USER ''@'localhost'")
    try:
        shop.stored("GRANT ALL ON shop.* TO ''@'localhost'")
        yield shop
    finally:
        shop.stored("DROP USER ''@'localhost'")


@pytest.mark.parametrize("claimed", ["billing", "app", "nobody"])
def test_who_comes_in_without_a_name_is_nobody_whatever_the_client_said(nameless: MySqlStack, claimed: str) -> None:
    with nameless.connect(claimed, password="") as somebody:
        ((account, ssn, notes),) = ask(somebody, "SELECT CURRENT_USER(), ssn, notes FROM customer")
    assert account == "@localhost"
    assert ssn.startswith("fv1.")
    assert notes.startswith("fv1.")
