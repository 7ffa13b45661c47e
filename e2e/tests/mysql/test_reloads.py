"""A trap of the filter, between an application and MariaDB: closed for a moment, then served by the same Envoy."""

import contextlib
import socket
from collections.abc import Iterator

import pymysql
import pytest

from dev.layout import MYSQL_FILTER_WASM
from harness.mysql_stack import SEALED, MySqlOptions, MySqlStack
from harness.small_memory import TOO_MUCH_BYTES, with_small_memory
from tests import wire
from tests.mysql.asking import ask, change
from tests.reloads import is_refused_meanwhile, of_wasm_alone, reloads, served
from tests.rows import ADA, ALAN, INSERT

# CR_SERVER_GONE_ERROR and CR_SERVER_LOST: by whether the end is seen while writing or reading.
LOST_CONNECTION = (2006, 2013)
pytestmark = of_wasm_alone


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MySqlStack]:
    """One worker, so that every session is in the one that traps."""
    small = with_small_memory(MYSQL_FILTER_WASM, tmp_path_factory.mktemp("module") / "filter.wasm")
    with MySqlStack(MySqlOptions(filter_wasm=small, relay=True)).start() as running:
        with running.connect("app") as app:
            change(app, INSERT, ADA)
        yield running


def connected(stack: MySqlStack) -> pymysql.Connection:
    """As soon as the filter is there."""
    return served(lambda: stack.connect("app"), pymysql.MySQLError)


def trap(stack: MySqlStack) -> None:
    """A statement longer than the filter's memory."""
    session = connected(stack)
    assert lost(session, f"SELECT length('{'x' * TOO_MUCH_BYTES}')")


def lost(session: pymysql.Connection, statement: str, values: tuple | None = None) -> bool:
    """Whether the statement is answered by the connection's end."""
    with pytest.raises(pymysql.OperationalError) as error:
        ask(session, statement, values)
    return error.value.args[0] in LOST_CONNECTION


def test_session_of_the_trapped_worker_ends_and_nothing_of_it_is_forwarded(stack: MySqlStack) -> None:
    bystander = connected(stack)
    change(bystander, INSERT, (3, *ADA[1:]))
    trap(stack)
    stack.relay.forget()
    assert lost(bystander, INSERT, ALAN)
    assert stack.relay.to_server() == b""
    assert stack.stored("SELECT count(*) FROM customer WHERE id = %s", ALAN[:1]) == [(0,)]


def test_filter_that_traps_again_at_once_is_closed_for_a_moment(stack: MySqlStack) -> None:
    pid, before = stack.envoy.process.pid, reloads(stack.envoy)

    def refused() -> bool:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as raw:
            raw.settimeout(wire.timeout())
            raw.connect(str(stack.envoy.socket(SEALED)))
            # The server greets first; where there is no path to it, nobody does.
            with contextlib.suppress(ConnectionResetError):
                return not raw.recv(1)
            return True

    assert is_refused_meanwhile(stack.envoy, lambda: trap(stack), refused) > 0
    with stack.connect("app") as app:
        change(app, INSERT, (4, *ALAN[1:]))
        assert ask(app, "SELECT ssn FROM customer WHERE id = 4") == [(ALAN[3],)]
    ((stored,),) = stack.stored("SELECT ssn FROM customer WHERE id = 4")
    assert stored.startswith("fv1.")
    assert reloads(stack.envoy) > before
    assert reloads(stack.envoy, "failure") == 0
    assert (stack.envoy.process.pid, stack.envoy.process.running) == (pid, True)
