"""Audit and metrics speak of MySQL's sessions as of PostgreSQL's."""

import json

from harness.mysql_stack import MySqlStack
from harness.waiting import until
from tests.mysql.asking import ask, change, refusal
from tests.policies.test_audit import by_label, invalid
from tests.rows import ADA, INSERT


def test_what_a_session_saw_is_told_and_holds_no_value(shop: MySqlStack) -> None:
    with shop.connect("app") as app:
        change(app, INSERT, ADA)
        assert ask(app, "SELECT ssn FROM customer") == [(ADA[3],)]
        refusal(app, "SELECT id FROM customer WHERE ssn > '0'")
    before = len(shop.envoy.audit())
    with shop.connect("support") as support:
        ask(support, "SELECT ssn, email FROM customer")
    until(lambda: any("ended" in line for line in shop.envoy.audit()[before:]))
    lines = shop.envoy.audit()
    assert invalid(lines) == []
    assert not [value for value in ADA[2:] if value in json.dumps(lines)]
    assert {line["protocol"] for line in lines if "protocol" in line} <= {"mysql"}
    assert by_label(lines[before:], "customer.ssn")


def test_metrics_count_what_was_sealed_revealed_and_refused(shop: MySqlStack) -> None:
    before = shop.envoy.stats("wasmcustom.fieldveil.")
    with shop.connect("app") as app:
        change(app, INSERT, ADA)
        ask(app, "SELECT ssn FROM customer")
        refusal(app, "SELECT id FROM customer WHERE ssn > '0'")

    def counted() -> bool:
        after = shop.envoy.stats("wasmcustom.fieldveil.")
        grown = {name.removeprefix("wasmcustom.fieldveil.") for name in after if after[name] > before.get(name, 0)}
        refused = any(name.startswith("refused.") for name in grown)
        return refused and {"sealed.customer.ssn", "revealed.customer.ssn"} <= grown

    until(counted)
