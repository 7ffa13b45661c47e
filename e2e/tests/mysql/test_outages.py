"""A part that is away or broken: the stated error, nothing forwarded, and recovery without a restart of Envoy."""

from collections.abc import Callable, Iterator

import pymysql
import pytest

from harness.mysql_stack import MySqlOptions, MySqlStack
from harness.waiting import until, until_done
from tests.keys.rotating import key_of
from tests.mysql.asking import ask, change, refusal
from tests.mysql.test_connecting import connector
from tests.rows import ADA, INSERT

UNAVAILABLE = 1105
# A row of nobody's.
PROBE = 99
QUICK = {"keys": {"refresh_seconds": 1}}


@pytest.fixture
def made() -> Iterator[Callable[..., MySqlStack]]:
    """Makes stacks that this test alone breaks."""
    stacks: list[MySqlStack] = []

    def make(*, without: tuple[str, ...] = (), **options: object) -> MySqlStack:
        stacks.append(MySqlStack(MySqlOptions(**{"relay": True, "filter_config": QUICK, **options})))
        return stacks[-1].start(without=without)

    yield make
    for stack in stacks:
        stack.stop()


def refused(stack: MySqlStack, user: str) -> str:
    """What a client is told that comes in, or asks, while something is away."""
    with pytest.raises(pymysql.MySQLError) as away, stack.connect(user) as connection:
        ask(connection, "SELECT ssn FROM customer")
    assert away.value.args[0] == UNAVAILABLE
    return away.value.args[1]


def recovers(stack: MySqlStack, user: str) -> None:
    def reads() -> None:
        with stack.connect(user) as connection:
            ask(connection, "SELECT ssn FROM customer")

    until_done(reads, pymysql.MySQLError, f"{user} to be served again")


def rotate(stack: MySqlStack, *words: str, probed: str = "phone") -> None:
    """Until a new key seals the probed column, for all sessions: there is one worker."""

    def key() -> int:
        with stack.connect("app") as app:
            change(app, INSERT, (PROBE, *ADA[1:]))
            ((stored,),) = stack.stored(f"SELECT {probed} FROM customer WHERE id = %s", (PROBE,))
            change(app, f"DELETE FROM customer WHERE id = {PROBE}")
        return key_of(stored)

    before = key()
    stack.agent.keys("rotate", *words)
    until(lambda: key() != before, "the rotated key to seal")


def test_without_opa_a_session_is_refused_until_it_is_there(made) -> None:
    stack = made(without=("opa",))
    assert "OPA" in refused(stack, "app")
    stack.opa.start()
    recovers(stack, "app")


def test_without_the_agent_a_session_is_refused_until_it_is_there(made) -> None:
    stack = made(without=("agent",))
    assert "key agent" in refused(stack, "app")
    stack.agent.start()
    recovers(stack, "app")


def test_missing_keyset_is_named_until_it_is_there(made) -> None:
    stack = made(keysets=("pii",))
    assert "payments" in refused(stack, "app")
    stack.agent.create_keyset("payments")
    recovers(stack, "app")


def test_known_principals_go_on_while_opa_and_agent_are_away(made) -> None:
    stack = made()
    with stack.connect("app") as app:
        change(app, INSERT, ADA)
        stack.opa.stop()
        stack.agent.stop()
        assert ask(app, "SELECT ssn FROM customer") == [(ADA[3],)]
        with stack.connect("app") as again:
            assert ask(again, "SELECT ssn FROM customer") == [(ADA[3],)]
        assert "OPA" in refused(stack, "billing")


def test_rotated_key_opens_old_values_and_seals_new_ones(made) -> None:
    stack = made()
    with stack.connect("app") as app:
        change(app, INSERT, ADA)
        rotate(stack, "pii")
        change(app, INSERT, (2, *ADA[1:]))
        assert ask(app, "SELECT ssn, phone FROM customer") == [(ADA[3], ADA[4])] * 2


def test_statement_that_is_prepared_anew_is_open_once_at_the_server(made) -> None:
    stack = made()
    search = "SELECT phone FROM customer WHERE ssn = ?"
    with stack.connect("app") as app:
        change(app, INSERT, ADA)
    app = connector(stack)
    with app.cursor(prepared=True) as cursor:
        for purpose in ("deterministic", "aead"):
            cursor.execute(search, (ADA[3],))
            assert cursor.fetchall() == [(ADA[4],)]
            rotate(stack, "pii", "--purpose", purpose, probed="ssn" if purpose == "deterministic" else "phone")
        cursor.execute(search, (ADA[3],))
        assert cursor.fetchall() == [(ADA[4],)]
        assert stack.stored("SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'")[0][1] == "1"
    app.close()


def test_server_away_closes_the_connection_and_comes_back(made) -> None:
    stack = made()
    stack.connect("app").close()
    stack.server.stop()
    with pytest.raises(pymysql.OperationalError):
        stack.connect("app")
    stack.server.start()
    recovers(stack, "app")


def test_a_listener_by_loopback_does_the_same(made) -> None:
    stack = made(relay=False, tcp=True)
    with stack.connect("app", tcp=True) as app:
        change(app, INSERT, ADA)
        assert ask(app, "SELECT ssn FROM customer") == [(ADA[3],)]
    assert stack.stored("SELECT LEFT(ssn, 4) FROM customer") == [("fv1.",)]
    assert "customer.ssn" in refusal(stack.connect("app"), "SELECT id FROM customer WHERE ssn > '0'")[1]
