"""What the server stores is envelopes, and a plaintext is nowhere but with its owner."""

import pymysql
import pytest

from harness.mysql_stack import MySqlStack
from tests.mysql.asking import ask, change
from tests.rows import ADA, COLUMNS, INSERT

SEALED = COLUMNS[2:]
CANARY = "CANARY-4d1f0a"


def test_stored_values_are_envelopes(shop: MySqlStack) -> None:
    with shop.connect("app") as app:
        change(app, INSERT, ADA)
    (row,) = shop.stored(f"SELECT {', '.join(SEALED)} FROM customer")
    assert all(value.startswith("fv1.") for value in row)
    assert not set(row) & set(ADA)


def test_deterministic_values_are_equal_and_randomized_ones_are_not(shop: MySqlStack) -> None:
    with shop.connect("app") as app:
        for number in (1, 2):
            change(app, INSERT, (number, *ADA[1:]))
    (counts,) = shop.stored(f"SELECT {', '.join(f'count(DISTINCT {column})' for column in SEALED)} FROM customer")
    assert dict(zip(SEALED, counts, strict=True)) == {"email": 1, "ssn": 1, "phone": 2, "card": 2, "notes": 2}


def test_plaintext_is_in_no_file_and_no_log(shop: MySqlStack) -> None:
    values = {column: f"{CANARY}-{column}" for column in SEALED}
    names = ", ".join(values)
    with shop.connect("app") as app:
        change(app, f"INSERT INTO customer (id, {names}) VALUES (1, %s, %s, %s, %s, %s)", list(values.values()))
        change(app, "UPDATE customer SET notes = %s WHERE ssn = %s", [values["notes"], values["ssn"]])
        change(app, "REPLACE INTO customer SET id = 2, ssn = %s", [values["ssn"]])
        assert len(ask(app, "SELECT id FROM customer WHERE ssn = %s", [values["ssn"]])) == 2
        assert CANARY in str(ask(app, "SELECT * FROM customer"))
        # Refused and failing statements are where texts like to end up.
        for statement in (
            f"SELECT id FROM customer WHERE card = '{values['card']}'",
            f"SELECT id FROM customer WHERE ssn LIKE '{CANARY}%'",
            f"INSERT INTO customer (id, ssn) VALUES (1, '{values['ssn']}')",
            f"INSERT INTO customer (id, ssn) VALUES ('no number', '{values['ssn']}')",
            f"SELEC ssn FROM customer WHERE ssn = '{values['ssn']}'",
        ):
            with pytest.raises(pymysql.MySQLError) as refused:
                ask(app, statement)
            assert CANARY not in str(refused.value)
    assert CANARY.encode() not in shop.relay.to_server()
    assert CANARY.encode() not in shop.server.general_log.read_bytes()
    assert [path for path in (shop.work.path / "logs").iterdir() if CANARY.encode() in path.read_bytes()] == []
    # What it keeps is whole on disk only when it has ended.
    shop.server.stop()
    kept = shop.server.files("shop")
    shop.server.start()
    assert len(kept) > 1 << 20
    assert CANARY.encode() not in kept


def test_logs_are_there_and_loud(shop: MySqlStack) -> None:
    """So that the test above looks at something."""
    with shop.connect("app") as app:
        ask(app, "SELECT 'a word of no secret'")
    assert b"a word of no secret" in shop.server.general_log.read_bytes()
    assert b"a word of no secret" in shop.relay.to_server()
    assert "[debug]" in shop.envoy.process.log.read_text()
    assert "orders-mysql" in shop.opa.process.log.read_text()
