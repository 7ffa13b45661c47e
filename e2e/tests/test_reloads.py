"""A trap of the filter, between an application and PostgreSQL: closed for a moment, then served by the same Envoy."""

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from dev.layout import FILTER_WASM
from harness import Options, Stack, workers
from harness import shop as example
from harness.small_memory import TOO_MUCH_BYTES, with_small_memory
from harness.waiting import until, until_equal
from tests import wire
from tests.policies.dump import DATABASE as DUMP
from tests.policies.dump import expected, write_policies
from tests.reloads import is_refused_meanwhile, of_wasm_alone, reloads, served
from tests.rows import ADA, ALAN, INSERT

ROWS = 200
pytestmark = of_wasm_alone


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_small_memory(FILTER_WASM, tmp_path_factory.mktemp("module") / "filter.wasm")


@pytest.fixture(scope="module")
def make(small: Path) -> Iterator[Callable[..., Stack]]:
    stacks: list[Stack] = []

    def started(**options: object) -> Stack:
        stacks.append(Stack(Options(filter_wasm=small, relay=True, **options)))
        return stacks[-1].start()

    yield started
    for stack in stacks:
        stack.stop()


@pytest.fixture(scope="module")
def stack(make: Callable[..., Stack]) -> Stack:
    """One worker, so that every session is in the one that traps."""
    stack = make()
    with stack.connect("app") as app:
        app.execute(INSERT, ADA)
    return stack


def connected(stack: Stack, user: str = "app", database: str = example.DATABASE) -> psycopg.Connection:
    """As soon as the filter is there."""
    return served(lambda: stack.connect(user, database), psycopg.OperationalError)


def trap(stack: Stack) -> None:
    """A statement longer than the filter's memory."""
    session = connected(stack)
    with pytest.raises(psycopg.OperationalError, match="server closed the connection unexpectedly"):
        session.execute(f"SELECT length('{'x' * TOO_MUCH_BYTES}')", prepare=False)


def test_session_of_the_trapped_worker_ends_and_nothing_of_it_is_forwarded(stack: Stack) -> None:
    with connected(stack) as bystander:
        bystander.execute(INSERT, (3, *ADA[1:]))
        trap(stack)
        stack.relay.forget()
        with pytest.raises(psycopg.OperationalError, match="server closed the connection unexpectedly"):
            bystander.execute(INSERT, ALAN)
    # Not one byte of the statement; of the session's end, that of PostgreSQL's protocol at most.
    assert stack.relay.to_server() in (b"", wire.message(b"X"))
    with stack.direct() as direct:
        assert direct.execute("SELECT count(*) FROM customer WHERE id = %s", ALAN[:1]).fetchone() == (0,)


def test_next_session_is_served_by_the_same_envoy(stack: Stack) -> None:
    connected(stack).close()
    pid, before = stack.envoy.process.pid, reloads(stack.envoy)
    # Longer than Envoy waits from one start of the filter to the next.
    time.sleep(1)
    trap(stack)
    with stack.connect("app") as app:
        app.execute(INSERT, (4, *ALAN[1:]))
        assert app.execute("SELECT ssn FROM customer WHERE id = 4").fetchone() == (ALAN[3],)
    with stack.direct() as direct:
        (stored,) = direct.execute("SELECT ssn FROM customer WHERE id = 4").fetchone()
    assert stored.startswith("fv1.")
    assert reloads(stack.envoy) == before + 1
    assert reloads(stack.envoy, "failure") == 0
    assert (stack.envoy.process.pid, stack.envoy.process.running) == (pid, True)


def test_filter_that_traps_again_at_once_is_closed_for_a_moment(stack: Stack) -> None:
    def refused() -> bool:
        stack.relay.forget()
        with wire.open_socket(stack.envoy_socket) as raw, contextlib.suppress(BrokenPipeError, ConnectionResetError):
            raw.sendall(wire.startup("app", example.DATABASE))
            if raw.recv(1):
                return False
        assert stack.relay.to_server() == b""
        return True

    assert is_refused_meanwhile(stack.envoy, lambda: trap(stack), refused) > 0
    with stack.connect("app") as app:
        assert app.execute("SELECT ssn FROM customer WHERE id = 1").fetchone() == (ADA[3],)


def test_gauge_of_plans_forgets_those_of_the_trapped_worker(stack: Stack) -> None:
    def held() -> int:
        return sum(stack.envoy.stats("wasmcustom.fieldveil.plans.held.").values())

    with connected(stack, "support") as support, stack.connect("app"):
        support.execute("SELECT ssn FROM customer").fetchall()
        until(lambda: held() >= 2)
        trap(stack)
    with connected(stack) as app:
        app.execute("SELECT ssn FROM customer").fetchall()
        until_equal(held, 1)


def test_trap_does_not_end_the_sessions_of_another_worker(make: Callable[..., Stack]) -> None:
    stack = make(concurrency=2)
    with stack.connect("app") as app:
        app.execute(INSERT, ADA)
    with workers.of_every_worker(stack.envoy, lambda: stack.connect("app")) as sessions:
        trap(stack)
        assert sorted(map(_reads, sessions)) == [False, True]
    with connected(stack) as app:
        assert _reads(app)


def test_trap_gives_no_budget_back(make: Callable[..., Stack], tmp_path: Path) -> None:
    stack = make(policies=(write_policies(tmp_path),))
    with stack.postgres.connect() as superuser:
        superuser.execute(f"CREATE DATABASE {DUMP}")
    with stack.direct(database=DUMP) as direct:
        direct.execute("CREATE TABLE person (id int PRIMARY KEY, card text)")
        example.allow_all(direct, "person")
    with stack.connect("app", DUMP) as app, app.cursor().copy("COPY person FROM STDIN") as rows:
        for number, shown in enumerate(expected(ROWS, ROWS)):
            rows.write_row((number, shown))
    shown = []
    for first in range(0, 160, 40):
        with connected(stack, "support", DUMP) as support:
            read = f"SELECT card FROM person WHERE id >= {first} ORDER BY id LIMIT 40"
            shown += [card for (card,) in support.execute(read)]
        trap(stack)
    assert shown == expected(100, 160)


def _reads(session: psycopg.Connection) -> bool:
    try:
        return session.execute("SELECT ssn FROM customer WHERE id = 1").fetchone() == (ADA[3],)
    except psycopg.OperationalError:
        return False
