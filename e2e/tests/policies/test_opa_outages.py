"""OPA killed, hung, or back with something else to say: open sessions go on, are refused in time, and come back."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from harness import bundles
from harness import shop as example
from harness.waiting import patience, until, until_equal
from tests import wire
from tests.policies.shipping import MASKED, REVEALED, Shipping
from tests.rows import ADA, INSERT

# How long plans serve without OPA: long enough for what tests do meanwhile, and for OPA to start.
MAX_STALE_SECONDS = round(patience(6))
# For the test in which OPA answers nothing.
ANSWER_MILLISECONDS = round(patience(2000))
SSN = "SELECT ssn FROM customer"
MASKED_SSN, PLAIN_SSN = "***-**-1120", ADA[3]
REFUSED = "57P03"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shipping]:
    config = {"policy": {"timeout_ms": ANSWER_MILLISECONDS}}
    shipping = Shipping(tmp_path_factory.mktemp("outages"), max_stale_seconds=MAX_STALE_SECONDS, filter_config=config)
    shipping.publish("good")
    shipping.stack.start()
    with shipping.stack.connect("app") as app:
        app.execute(INSERT, ADA)
    yield shipping
    shipping.stack.stop()


@pytest.fixture
def shipping(shared: Shipping) -> Shipping:
    """With OPA there, and a policy that masks."""
    shared.support = MASKED
    if not shared.stack.opa.process.running:
        shared.stack.opa.start()
    shared.activate("good")
    return shared


@contextmanager
def open_session(shipping: Shipping) -> Iterator[psycopg.Connection]:
    """One that has seen what the policy says now."""
    with shipping.stack.connect("support") as support:
        until_equal(lambda: reads(support), MASKED_SSN)
        yield support


def reads(connection: psycopg.Connection) -> str:
    """What stands there, or the error's SQLSTATE. Prepared in the first turns."""
    try:
        (value,) = connection.execute(SSN).fetchone()
    except psycopg.errors.CannotConnectNow as refused:
        return refused.sqlstate
    return value


def sees_until(connection: psycopg.Connection, last: str) -> set[str]:
    """All that it reads before it reads `last`."""
    seen = set()

    def came() -> bool:
        value = reads(connection)
        seen.add(value)
        return value == last

    until(came)
    return seen - {last}


def kill(shipping: Shipping) -> None:
    os.kill(shipping.stack.opa.process.pid, signal.SIGKILL)
    until(lambda: not shipping.stack.opa.process.running)


def refusal_of(shipping: Shipping, user: str) -> dict[str, str]:
    """The one error that a startup of somebody whose plan nobody has is answered with."""
    with wire.open_socket(shipping.stack.envoy_socket) as raw:
        raw.sendall(wire.startup(user, example.DATABASE))
        (error,) = wire.errors(wire.read_to_end(raw))
    return error


def test_killed_opa_is_missed_when_plans_are_too_old_and_no_sooner(shipping: Shipping) -> None:
    with open_session(shipping) as support:
        kill(shipping)
        assert reads(support) == MASKED_SSN
        # A new session of a principal whose plan is there, and one whose plan is not.
        with shipping.stack.connect("support") as again:
            assert reads(again) == MASKED_SSN
        assert refusal_of(shipping, "auditor")["C"] == REFUSED
        assert sees_until(support, REFUSED) <= {MASKED_SSN}
        # From then on everybody is refused, and says so at once.
        assert reads(support) == REFUSED
        assert "OPA" in refusal_of(shipping, "support")["M"]
        shipping.stack.opa.start()
        assert sees_until(support, MASKED_SSN) <= {REFUSED}


def test_refusal_for_want_of_a_plan_leaves_transaction_and_prepared_statement_as_the_server_would(
    shipping: Shipping,
) -> None:
    with open_session(shipping) as support:
        support.execute(SSN, prepare=True)
        kill(shipping)
        sees_until(support, REFUSED)
        # What concerns no plan's fields is refused too: nothing says that it does not.
        with pytest.raises(psycopg.errors.CannotConnectNow) as refused, support.transaction():
            support.execute(SSN, prepare=True)
        assert refused.value.diag.message_hint
        shipping.stack.opa.start()
        sees_until(support, MASKED_SSN)
        with support.transaction():
            assert support.execute(SSN, prepare=True).fetchone() == (MASKED_SSN,)


def test_opa_that_comes_back_with_another_revision_is_heard_by_open_sessions(shipping: Shipping) -> None:
    with open_session(shipping) as support:
        kill(shipping)
        shipping.support = REVEALED
        shipping.publish("while-away")
        shipping.stack.opa.start()
        # It may begin with the bundle on its disk; nobody is refused meanwhile.
        assert sees_until(support, PLAIN_SSN) <= {MASKED_SSN}
        assert shipping.active() == "while-away"
        held = "wasmcustom.fieldveil.plans.held."
        until_equal(lambda: shipping.stack.envoy.stats(f"{held}good"), {f"{held}good": 0})


def test_opa_that_hangs_is_as_one_that_is_away(shipping: Shipping) -> None:
    """It takes connections, and answers nothing."""
    opa = shipping.stack.opa.process.pid
    with open_session(shipping) as support:
        os.kill(opa, signal.SIGSTOP)
        try:
            assert reads(support) == MASKED_SSN
            error = refusal_of(shipping, "auditor")
            assert (error["C"], error["S"]) == (REFUSED, "FATAL")
            assert "did not answer in time" in error["M"] or "HTTP 504" in error["M"]
            assert sees_until(support, REFUSED) <= {MASKED_SSN}
        finally:
            os.kill(opa, signal.SIGCONT)
        assert sees_until(support, MASKED_SSN) <= {REFUSED}


def test_opa_that_has_nothing_to_say_is_as_one_that_is_away(shipping: Shipping) -> None:
    """It is back without a bundle: it answers, and the decision is undefined."""
    with open_session(shipping) as support:
        kill(shipping)
        shipping.bundles.server.stop()
        bundle = shipping.stack.opa.state / "bundles" / bundles.NAME / "bundle.tar.gz"
        bundle.unlink()
        shipping.stack.opa.start(until="/health")
        assert shipping.stack.opa.data("fieldveil/plan", {}) is None
        assert sees_until(support, REFUSED) <= {MASKED_SSN}
        shipping.bundles.server.start()
        assert sees_until(support, MASKED_SSN) <= {REFUSED}
