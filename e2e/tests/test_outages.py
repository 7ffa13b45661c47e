"""A part that is away or broken: the stated error, nothing forwarded, and recovery without a restart of Envoy."""

import json
from collections.abc import Callable, Iterator

import psycopg
import pytest

from harness import Options, Stack
from harness import shop as example
from harness.waiting import until, until_done
from tests import wire
from tests.keys.rotating import key_of
from tests.rows import ADA, ALAN, INSERT

CANNOT_CONNECT_NOW = "57P03"
QUICK = {"keys": {"refresh_seconds": 1}}


@pytest.fixture
def made() -> Iterator[Callable[..., Stack]]:
    """Makes stacks that this test alone breaks."""
    stacks: list[Stack] = []

    def make(*, without: tuple[str, ...] = (), **options: object) -> Stack:
        stacks.append(Stack(Options(**{"relay": True, "filter_config": QUICK, **options})))
        return stacks[-1].start(without=without)

    yield make
    for stack in stacks:
        stack.stop()


def refused(stack: Stack, user: str, application_name: str = "") -> dict[str, str]:
    """The one error that a startup is answered with."""
    with wire.open_socket(stack.envoy_socket) as raw:
        raw.sendall(wire.startup(user, example.DATABASE, application_name=application_name))
        (error,) = wire.errors(wire.read_to_end(raw))
    return error


def recovers(stack: Stack, user: str) -> None:
    def reads() -> None:
        with stack.connect(user) as connection:
            connection.execute("SELECT ssn FROM customer")

    until_done(reads, psycopg.OperationalError, f"{user} to be served again")


@pytest.mark.parametrize("parts", [["policy"], ["keys"], ["policy", "keys"]], ids="-".join)
def test_cluster_that_envoy_does_not_know_is_an_error_and_no_hang(made, parts: list[str]) -> None:
    stack = made(filter_config={part: {"cluster": "nowhere"} for part in parts})
    error = refused(stack, "app")
    assert (error["C"], error["S"]) == (CANNOT_CONNECT_NOW, "FATAL")
    assert "Envoy did not take the call to cluster nowhere" in stack.envoy.process.log.read_text()


def test_startup_without_opa_is_refused_until_it_is_there(made) -> None:
    stack = made(without=("opa",))
    error = refused(stack, "app")
    assert error["C"] == CANNOT_CONNECT_NOW
    assert error["S"] == "FATAL"
    assert "OPA" in error["M"]
    assert error["H"]
    assert b"app" not in stack.relay.to_server()
    stack.opa.start()
    recovers(stack, "app")


def test_startup_without_the_agent_is_refused_until_it_is_there(made) -> None:
    stack = made(without=("agent",))
    error = refused(stack, "app")
    assert error["C"] == CANNOT_CONNECT_NOW
    assert "key agent" in error["M"]
    assert b"app" not in stack.relay.to_server()
    stack.agent.start()
    recovers(stack, "app")


def test_known_principals_go_on_while_opa_and_agent_are_away(made) -> None:
    stack = made()
    with stack.connect("app") as app:
        app.execute(INSERT, ADA)
        stack.opa.stop()
        stack.agent.stop()
        assert app.execute("SELECT ssn FROM customer").fetchone() == (ADA[3],)
        with stack.connect("app") as again:
            assert again.execute("SELECT ssn FROM customer").fetchone() == (ADA[3],)
        error = refused(stack, "billing")
        assert (error["C"], "OPA" in error["M"]) == (CANNOT_CONNECT_NOW, True)
        stack.opa.start()
        recovers(stack, "billing")
        stack.agent.start()
        assert app.execute("SELECT ssn FROM customer").fetchone() == (ADA[3],)


def test_missing_keyset_is_named_until_it_is_there(made) -> None:
    stack = made(keysets=("pii",))
    error = refused(stack, "app")
    assert error["C"] == CANNOT_CONNECT_NOW
    assert "payments" in error["M"]
    stack.agent.create_keyset("payments")
    recovers(stack, "app")


def test_opa_without_a_decision_is_refused(made, tmp_path) -> None:
    """A catalog that contradicts itself leaves the plan undefined."""
    broken = tmp_path / "catalog" / "broken" / "data.json"
    broken.parent.mkdir(parents=True)
    no_schema = {"protocol": "postgres", "database": "shop", "columns": {"customer": {"x": "y"}}}
    broken.write_text(json.dumps({"databases": [no_schema]}))
    stack = made(policies=(tmp_path,))
    error = refused(stack, "app")
    assert error["C"] == CANNOT_CONNECT_NOW
    assert "policy" in error["M"]


@pytest.mark.parametrize("harm", ["cut short", "a changed letter", "another label's", "plaintext"])
def test_value_that_does_not_open_is_an_error_that_names_its_label(shop: Stack, harm: str) -> None:
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    changed = f"overlay(ssn placing translate(substr(ssn, 30, 1), '{letters}', '{letters[1:]}A') from 30)"
    harms = {
        "cut short": "UPDATE customer SET ssn = left(ssn, 40) WHERE id = 1",
        "a changed letter": f"UPDATE customer SET ssn = {changed} WHERE id = 1",
        "another label's": "UPDATE customer SET ssn = email WHERE id = 1",
        "plaintext": "UPDATE customer SET ssn = 'planted' WHERE id = 1",
    }
    with shop.connect("app") as app:
        app.execute(INSERT, ADA)
        app.execute(INSERT, ALAN)
        with shop.direct() as direct:
            direct.execute(harms[harm])
        with pytest.raises(psycopg.errors.DataCorrupted) as broken:
            app.execute("SELECT ssn FROM customer WHERE id = 1")
        assert "customer.ssn" in broken.value.diag.message_primary
        assert "planted" not in str(broken.value)
        # The row beside it, and the columns beside it, are as good as ever.
        assert app.execute("SELECT ssn FROM customer WHERE id = 2").fetchone() == (ALAN[3],)
        assert app.execute("SELECT phone FROM customer WHERE id = 1").fetchone() == (ADA[4],)


def sealed_by(stack: Stack, row: int) -> int:
    """The key under which a row's phone is stored."""
    with stack.direct() as direct:
        return key_of(direct.execute("SELECT phone FROM customer WHERE id = %s", [row]).fetchone()[0])


def test_rotated_key_opens_old_values_and_seals_new_ones(made) -> None:
    stack = made()
    with stack.connect("app") as app:
        app.execute(INSERT, ADA)
        before = sealed_by(stack, ADA[0])
        stack.agent.keys("rotate", "pii")

        def is_taken_up() -> bool:
            app.execute("DELETE FROM customer WHERE id = %s", ALAN[:1])
            app.execute(INSERT, ALAN)
            return sealed_by(stack, ALAN[0]) != before

        until(is_taken_up, "the rotated key to seal")
        rows = app.execute("SELECT ssn, phone FROM customer ORDER BY id").fetchall()
    assert rows == [(ADA[3], ADA[4]), (ALAN[3], ALAN[4])]


def test_server_away_closes_the_connection_and_comes_back(made) -> None:
    stack = made()
    stack.connect("app").close()
    stack.postgres.stop()
    with pytest.raises(psycopg.OperationalError):
        stack.connect("app")
    stack.postgres.start()
    recovers(stack, "app")
