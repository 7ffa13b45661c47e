"""Signed bundles, polled by OPA: what a good one brings to open sessions, and what a bad one does not."""

import io
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from harness import bundles
from harness.bundles import SigningKey
from harness.process import PartFailed
from harness.waiting import patience, until, until_equal
from tests.policies.shipping import ASKED, MASKED, REVEALED, Shipping
from tests.rows import ADA, INSERT

SSN = "SELECT ssn FROM customer"
MASKED_SSN, PLAIN_SSN = "***-**-1120", ADA[3]
CANNOT_CONNECT_NOW = "57P03"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shipping]:
    """All parts, with a bundle in force and a row to read. Plans serve for a while without OPA's word."""
    shipping = Shipping(tmp_path_factory.mktemp("shipping"), max_stale_seconds=round(patience(10)))
    shipping.publish("first")
    with shipping.stack as stack:
        with stack.connect("app") as app:
            app.execute(INSERT, ADA)
        yield shipping


@pytest.fixture
def shipping(shared: Shipping) -> Iterator[Shipping]:
    """With a good bundle in force that masks; whatever the test stops is started again."""
    shared.support = MASKED
    shared.catalog["databases"][0]["columns"]["public.customer"]["ssn"] = "customer.ssn"
    shared.activate("good")
    until_equal(lambda: reads(shared), MASKED_SSN)
    yield shared
    shared.bundles.server.start()
    if not shared.stack.opa.process.running:
        shared.stack.opa.start()


def reads(shipping: Shipping, user: str = "support") -> str:
    """In a session of its shipping."""
    with shipping.stack.connect(user) as connection:
        return ssn(connection)


def ssn(connection: psycopg.Connection) -> str:
    (value,) = connection.execute(SSN).fetchone()
    return value


def test_a_new_revision_reaches_an_open_session_without_an_error(shipping: Shipping) -> None:
    with shipping.stack.connect("support") as support:
        assert ssn(support) == MASKED_SSN
        shipping.support = REVEALED
        shipping.publish("revealing")
        seen = [ssn(support)]

        def revealed() -> bool:
            seen.append(ssn(support))
            return seen[-1] == PLAIN_SSN

        until(revealed)
    # Nothing but the old and the new, and no way back.
    assert set(seen[:-1]) == {MASKED_SSN}


def test_an_unchanged_bundle_is_not_sent_again(shipping: Shipping) -> None:
    served = shipping.bundles.server.served
    whole, unchanged = served.whole, served.unchanged
    until(lambda: served.unchanged >= unchanged + 2)
    assert served.whole == whole


def unsigned(shipping: Shipping, _: Path) -> bytes:
    return shipping.pack("bad", key=None)


def signed_by_another_key(shipping: Shipping, folder: Path) -> bytes:
    return shipping.pack("bad", key=SigningKey(folder, "strangers"))


def names_an_unknown_key(shipping: Shipping, folder: Path) -> bytes:
    return shipping.pack("bad", key=SigningKey(folder, "strangers"), key_id="strangers")


def signed_for_another_scope(shipping: Shipping, _: Path) -> bytes:
    return shipping.pack("bad", scope="staging")


def truncated(shipping: Shipping, _: Path) -> bytes:
    good = shipping.pack("bad")
    return good[: len(good) // 2]


def changed_after_signing(shipping: Shipping, _: Path) -> bytes:
    return rewritten(shipping.pack("bad"), lambda text: text.replace(b"last4", b"first1"))


def with_a_file_that_nobody_signed(shipping: Shipping, _: Path) -> bytes:
    return rewritten(shipping.pack("bad"), lambda text: text, more={"fieldveil/more.rego": b"package fieldveil\n"})


def with_an_error_in_rego(shipping: Shipping, _: Path) -> bytes:
    wrong = shipping.policies / "fieldveil" / "wrong.rego"
    wrong.write_text("package fieldveil\n\nwrong := nowhere(1)\n")
    try:
        return shipping.pack("bad")
    finally:
        wrong.unlink()


def no_bundle_at_all(_: Shipping, __: Path) -> bytes:
    return b"<html>please log in</html>"


def rewritten(bundle: bytes, change: Callable[[bytes], bytes], more: dict[str, bytes] | None = None) -> bytes:
    """The same archive with other files, and the signature as it was."""
    with tarfile.open(fileobj=io.BytesIO(bundle)) as old:
        files = {member.name: old.extractfile(member).read() for member in old}
    signature = files.pop(".signatures.json")
    files = {name: change(text) for name, text in files.items()} | (more or {})
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as new:
        for name, text in {**files, ".signatures.json": signature}.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            new.addfile(member, io.BytesIO(text))
    return out.getvalue()


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (unsigned, "bundle missing .signatures.json file"),
        (signed_by_another_key, "verify"),
        (names_an_unknown_key, "verification key corresponding to ID strangers not found"),
        (signed_for_another_scope, "scope mismatch"),
        (changed_after_signing, "digest mismatch"),
        (with_a_file_that_nobody_signed, "not included in bundle signature"),
        (truncated, "EOF"),
        (with_an_error_in_rego, "undefined function"),
        (no_bundle_at_all, "gzip"),
    ],
)
def test_a_bad_bundle_leaves_the_old_policy_in_force_and_is_told_of(
    shipping: Shipping, tmp_path: Path, bad, says: str
) -> None:
    failures = shipping.failures()
    lines = len(shipping.stack.opa.log())
    with shipping.stack.connect("support") as support:
        shipping.bundles.publish(bad(shipping, tmp_path))
        until(lambda: shipping.failures() >= failures + 2)
        assert shipping.active() == "good"
        assert ssn(support) == MASKED_SSN
        assert reads(shipping) == MASKED_SSN
        errors = [line["msg"] for line in shipping.stack.opa.log()[lines:] if line["level"] == "error"]
        assert any(says in error for error in errors), errors
        # What is good again is taken, with nothing restarted.
        shipping.support = REVEALED
        shipping.publish("mended")
        until_equal(lambda: ssn(support), PLAIN_SSN)


def test_a_broken_catalog_that_nobody_checked_keeps_plans_until_they_are_too_old(shipping: Shipping) -> None:
    """The build refuses it. Whoever ships it all the same stops everybody, late and loudly."""
    failed = failed_renewals(shipping)
    with shipping.stack.connect("support") as support:
        assert ssn(support) == MASKED_SSN
        shipping.catalog["databases"][0]["columns"]["public.customer"]["ssn"] = "customer.snn"
        with pytest.raises(PartFailed, match=r"customer\.snn"):
            shipping.publish("broken")
        shipping.bundles.publish(shipping.pack("broken"))
        shipping.wait_for("broken")
        assert shipping.stack.opa.data("fieldveil/plan", ASKED) is None
        assert "customer.snn" in str(shipping.stack.opa.data("fieldveil/problems/found"))
        refused(shipping, "intern")
        until(lambda: failed_renewals(shipping) > failed)
        until(lambda: is_refused(support))
        shipping.catalog["databases"][0]["columns"]["public.customer"]["ssn"] = "customer.ssn"
        shipping.publish("mended")
        until(lambda: not is_refused(support))
        assert ssn(support) == MASKED_SSN


def test_policy_goes_on_without_its_server_and_through_a_restart_of_opa(shipping: Shipping) -> None:
    shipping.bundles.server.stop()
    failures = shipping.failures()
    with shipping.stack.connect("support") as support:
        until(lambda: shipping.failures() > failures)
        shipping.stack.opa.stop()
        # From the last good bundle on its disk.
        shipping.stack.opa.start()
        assert shipping.active() == "good"
        assert ssn(support) == MASKED_SSN
        # A principal that nobody has a plan of.
        assert reads(shipping, "auditor").startswith("fv1.")
        shipping.support = REVEALED
        shipping.publish("second")
        shipping.bundles.server.start()
        until_equal(lambda: ssn(support), PLAIN_SSN)


# Users whom no other test gets a plan for.
@pytest.mark.parametrize(("kept", "user"), [("nothing", "billing"), ("a bundle that nobody signed", "intern")])
def test_opa_that_starts_without_server_and_good_bundle_refuses_everybody(
    shipping: Shipping, kept: str, user: str
) -> None:
    shipping.bundles.server.stop()
    shipping.stack.opa.stop()
    persisted = shipping.stack.opa.state / "bundles" / bundles.NAME / "bundle.tar.gz"
    if kept == "nothing":
        persisted.unlink()
    else:
        shipping.support = REVEALED
        persisted.write_bytes(shipping.pack("planted", key=None))
    shipping.stack.opa.start(until="/health")
    assert shipping.stack.opa.data("fieldveil/plan", ASKED) is None
    refused(shipping, user)
    shipping.support = MASKED
    shipping.publish("second")
    shipping.bundles.server.start()
    until_equal(shipping.active, "second")
    assert reads(shipping) == MASKED_SSN


def refused(shipping: Shipping, user: str) -> None:
    with pytest.raises(psycopg.OperationalError, match=r"policy|OPA"):
        shipping.stack.connect(user)


def is_refused(connection: psycopg.Connection) -> bool:
    try:
        ssn(connection)
    except psycopg.errors.CannotConnectNow:
        return True
    return False


def failed_renewals(shipping: Shipping) -> int:
    return sum(shipping.stack.envoy.stats("wasmcustom.fieldveil.renewals.failed").values())
