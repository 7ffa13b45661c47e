"""Connections that open at once: what they all wait for is asked for once by each worker."""

import os
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from harness import Options, Stack
from harness import shop as example
from harness.waiting import until
from tests import wire

WORKERS = 2
CONNECTIONS = 80
# The server asks for a password, as the first thing that it says to a session that was let through.
ASKS_WHO = b"R"


@pytest.fixture(scope="module")
def pooled() -> Iterator[Stack]:
    config = {"policy": {"timeout_ms": 10_000}}
    stack = Stack(Options(concurrency=WORKERS, filter_config=config, postgres_settings={"max_connections": "200"}))
    with stack:
        yield stack


def opened(stack: Stack, user: str, count: int) -> list[socket.socket]:
    """Connections that have each sent the message that begins a session."""
    connections = [wire.open_socket(stack.envoy_socket) for _ in range(count)]
    for connection in connections:
        connection.sendall(wire.startup(user, example.DATABASE))
    return connections


def questions(stack: Stack, user: str) -> int:
    plans = [decision for decision in stack.opa.decisions() if decision["path"] == "fieldveil/plan"]
    return sum(decision["input"]["session"]["user"] == user for decision in plans)


def are_all_asked_for(stack: Stack, connections: int) -> bool:
    """Whether Envoy has taken so many connections, and OPA was asked."""
    active = stack.envoy.stats("listener.")
    taken = sum(
        count for name, count in active.items() if name.endswith(".downstream_cx_active") and "worker" not in name
    )
    return taken >= connections and stack.envoy.stats("cluster.opa.")["cluster.opa.upstream_rq_active"] > 0


@pytest.fixture
def held_up(pooled: Stack) -> Iterator[None]:
    """OPA takes questions, and answers none until it is let go."""
    opa = pooled.opa.process.pid
    os.kill(opa, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(opa, signal.SIGCONT)


@pytest.mark.parametrize("user", ["app", "support"])
def test_pool_that_opens_at_once_asks_once_a_worker(pooled: Stack, held_up: None, user: str) -> None:
    connections = opened(pooled, user, CONNECTIONS)
    # The one by which the first question came ends before there is an answer.
    connections.pop(0).close()
    until(lambda: are_all_asked_for(pooled, CONNECTIONS - 1))
    os.kill(pooled.opa.process.pid, signal.SIGCONT)
    for connection in connections:
        with connection:
            assert connection.recv(1) == ASKS_WHO
    until(lambda: questions(pooled, user) > 0)
    assert questions(pooled, user) <= WORKERS


def test_each_principal_of_a_burst_gets_its_own_plan(pooled: Stack, held_up: None) -> None:
    burst = ["billing", "auditor", "intern"] * 20

    def reads(user: str) -> bool:
        with pooled.connect(user) as connection:
            try:
                connection.execute("SELECT ssn FROM customer")
            except psycopg.errors.InsufficientPrivilege:
                return False
            return True

    with ThreadPoolExecutor(len(burst)) as threads:
        results = [(user, threads.submit(reads, user)) for user in burst]
        until(lambda: are_all_asked_for(pooled, len(burst)))
        os.kill(pooled.opa.process.pid, signal.SIGCONT)
    assert all(result.result() == (user != "intern") for user, result in results)
    until(lambda: all(questions(pooled, user) > 0 for user in burst))
    assert all(questions(pooled, user) <= WORKERS for user in burst)


def test_connection_that_breaks_the_protocol_while_it_waits_ends_alone(pooled: Stack, held_up: None) -> None:
    waiting = opened(pooled, "nobody_else", 20)
    for broken in waiting[::2]:
        # No message is this short.
        broken.sendall(b"Q\0\0\0\0")
    until(lambda: are_all_asked_for(pooled, len(waiting)))
    os.kill(pooled.opa.process.pid, signal.SIGCONT)
    for number, connection in enumerate(waiting):
        with connection:
            if number % 2 == 0:
                wire.read_to_end(connection)
            else:
                assert connection.recv(1) == ASKS_WHO
    with pooled.connect("app") as app:
        assert app.execute("SELECT 1").fetchone() == (1,)
    assert "panicked" not in pooled.envoy.process.log.read_text()


def test_connections_that_open_at_once_while_opa_is_away_are_all_refused(pooled: Stack) -> None:
    pooled.opa.stop()
    try:
        for connection in opened(pooled, "nobody_yet", CONNECTIONS):
            with connection:
                (error,) = wire.errors(wire.read_to_end(connection))
                assert (error["C"], "OPA" in error["M"]) == ("57P03", True)
    finally:
        pooled.opa.start()
