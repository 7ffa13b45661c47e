"""Each way in which a server proves its users passes as it is: Fieldveil sees no password and needs none."""

from collections.abc import Iterator

import pymysql
import pytest

from harness import shop as example
from harness.mysql_builds import MYSQL, OF_DEBIAN, Build
from harness.mysql_stack import MySqlOptions, MySqlStack
from tests.mysql.asking import ask


def made(build: Build, **options: object) -> Iterator[MySqlStack]:
    if not build.is_there:
        pytest.skip(f"no {build.name} for this machine: see dev/setup/servers.py")
    with MySqlStack(MySqlOptions(build=build, **options)).start() as stack:
        yield stack


@pytest.fixture(scope="module")
def by_socket() -> Iterator[MySqlStack]:
    """MySQL, from Unix socket to Unix socket."""
    yield from made(MYSQL)


@pytest.fixture(scope="module")
def by_loopback() -> Iterator[MySqlStack]:
    """MySQL, from loopback to loopback."""
    yield from made(MYSQL, tcp=True)


@pytest.fixture(scope="module")
def debians() -> Iterator[MySqlStack]:
    yield from made(OF_DEBIAN, settings={"plugin-load-add": "auth_ed25519"})


def user(stack: MySqlStack, **how: object) -> tuple:
    with stack.connect("app", **how) as app:
        return ask(app, "SELECT CURRENT_USER(), DATABASE()")[0]


@pytest.mark.parametrize("way", ["by_socket", "by_loopback"])
def test_caching_sha2_with_a_cold_cache_and_with_a_warm_one(way: str, request: pytest.FixtureRequest) -> None:
    stack: MySqlStack = request.getfixturevalue(way)
    tcp = way == "by_loopback"
    for _ in range(2):
        # Cold: the server knows nobody. By loopback the password goes encrypted with the server's public key.
        stack.server.stop()
        stack.server.start()
        for _ in range(3):
            assert user(stack, tcp=tcp) == ("app@%", example.DATABASE)


def test_caching_sha2_refuses_a_wrong_password(by_loopback: MySqlStack) -> None:
    with pytest.raises(pymysql.OperationalError) as refused:
        by_loopback.connect("app", tcp=True, password="wrong")
    assert refused.value.args[0] == 1045


def test_ed25519(debians: MySqlStack) -> None:
    debians.stored(f"ALTER USER app@'%%' IDENTIFIED VIA ed25519 USING PASSWORD('{example.PASSWORD}')")
    assert user(debians) == ("app@%", example.DATABASE)
    with pytest.raises(pymysql.OperationalError) as refused:
        debians.connect("app", password="wrong")
    assert refused.value.args[0] == 1045


def test_a_switch_to_another_method_passes(debians: MySqlStack) -> None:
    """The server's default is not the user's: it asks for another one."""
    debians.stored(f"ALTER USER billing@'%%' IDENTIFIED VIA ed25519 USING PASSWORD('{example.PASSWORD}')")
    with debians.connect("billing") as billing:
        assert ask(billing, "SELECT CURRENT_USER()") == [("billing@%",)]
