"""What the server stores is envelopes, and a plaintext is nowhere but with its owner."""

from pathlib import Path

from harness import Stack
from harness.waiting import until
from tests.rows import ADA, COLUMNS, INSERT

SEALED = COLUMNS[2:]


def test_stored_values_are_envelopes(shop: Stack) -> None:
    with shop.connect("app") as app:
        app.execute(INSERT, ADA)
    with shop.direct() as direct:
        row = direct.execute(f"SELECT {', '.join(SEALED)} FROM customer").fetchone()
    assert all(value.startswith("fv1.") for value in row)
    assert not set(row) & set(ADA)


def test_deterministic_values_are_equal_and_randomized_ones_are_not(shop: Stack) -> None:
    with shop.connect("app") as app:
        for number in (1, 2):
            app.execute(INSERT, (number, *ADA[1:]))
    with shop.direct() as direct:
        counts = direct.execute(
            f"SELECT {', '.join(f'count(DISTINCT {column})' for column in SEALED)} FROM customer"
        ).fetchone()
    assert dict(zip(SEALED, counts, strict=True)) == {"email": 1, "ssn": 1, "phone": 2, "card": 2, "notes": 2}


def test_plaintext_is_in_no_file_and_no_log(shop: Stack) -> None:
    canary = "CANARY-4d1f0a"
    values = {column: f"{canary}-{column}" for column in SEALED}
    names = ", ".join(values)
    with shop.connect("app") as app:
        app.execute(f"INSERT INTO customer (id, {names}) VALUES (1, %s, %s, %s, %s, %s)", list(values.values()))
        literals = ", ".join(f"'{value}'" for value in values.values())
        app.execute(f"INSERT INTO customer (id, {names}) VALUES (2, {literals})")
        app.execute("UPDATE customer SET notes = %s WHERE ssn = %s", [values["notes"], values["ssn"]])
        assert len(app.execute(f"SELECT id FROM customer WHERE email = '{values['email']}'").fetchall()) == 2
        assert canary in str(app.execute("SELECT * FROM customer").fetchall())
        # Refused and failing statements are where texts like to end up.
        for statement in (
            f"SELECT id FROM customer WHERE card = '{values['card']}'",
            f"SELECT id FROM customer WHERE ssn LIKE '{canary}%'",
            f"INSERT INTO customer (id, ssn) VALUES (1, '{values['ssn']}')",
            f"INSERT INTO customer (id, ssn) VALUES ('no number', '{values['ssn']}')",
            f"SELEC ssn FROM customer WHERE ssn = '{values['ssn']}'",
        ):
            result = app.pgconn.exec_(statement.encode())
            assert result.error_message
            assert canary not in result.error_message.decode()
    with shop.direct() as direct:
        direct.execute("CHECKPOINT")
    # Envoy writes its log in its own time, and in order: what it says of a later session stands behind all of this one.
    shop.connect("app", application_name="later").close()
    until(lambda: any("ended" in line for line in shop.envoy.audit() if line["application_name"] == "later"))
    places = [shop.postgres.data, shop.work.path / "logs"]
    leaks = [path for place in places for path in files(place) if canary.encode() in path.read_bytes()]
    assert leaks == []
    assert canary.encode() not in shop.relay.to_server()


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_logs_are_there_and_loud(shop: Stack) -> None:
    """So that the test above looks at something."""
    with shop.connect("app") as app:
        app.execute("SELECT 'a word of no secret'")
    assert b"a word of no secret" in shop.postgres.process.log.read_bytes()
    assert "[debug]" in shop.envoy.process.log.read_text()
    assert "orders-db" in shop.opa.process.log.read_text()
    assert shop.agent.process.log.read_text()
