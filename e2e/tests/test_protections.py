"""Blind indexes, values in their own format, half-sealed columns and narrow ones, against the real server."""

import datetime
import re
import uuid

import psycopg
import pytest

from harness import Stack
from harness.waiting import until
from tests import forms


@pytest.fixture
def vault(stack: Stack):
    with stack.direct(database=forms.DATABASE) as direct:
        direct.execute("TRUNCATE vault")
        stack.relay.forget()
        with stack.connect("app", forms.DATABASE) as app:
            yield app, direct


def test_indexed_column_is_searched_by_its_index_and_stored_with_another_ciphertext_each_time(vault) -> None:
    app, direct = vault
    for number, token in enumerate(["a", "b", "a", None]):
        app.execute("INSERT INTO vault (id, token, code) VALUES (%s, %s, %s)", [number, token, number % 2])
    find = "SELECT id, token FROM vault WHERE token {} ORDER BY id"
    assert app.execute(find.format("= %s"), ["a"]).fetchall() == [(0, "a"), (2, "a")]
    assert app.execute(find.format("IN ('a', 'c')")).fetchall() == [(0, "a"), (2, "a")]
    assert app.execute(find.format("<> %s"), ["a"]).fetchall() == [(1, "b")]
    assert app.execute(find.format("= ANY(%s)"), [["b", "c"]]).fetchall() == [(1, "b")]
    assert app.execute(find.format("IS NOT DISTINCT FROM NULL")).fetchall() == [(3, None)]
    assert app.execute("SELECT id FROM vault WHERE code = %s ORDER BY id", [1]).fetchall() == [(1,), (3,)]
    joined = "SELECT a.id, b.id FROM vault a JOIN vault b ON a.token = b.token AND a.id < b.id"
    assert app.execute(joined).fetchall() == [(0, 2)]
    found = "SELECT id FROM vault WHERE token IN (SELECT v.token FROM vault v WHERE v.id = 2) ORDER BY id"
    assert app.execute(found).fetchall() == [(0,), (2,)]
    stored = direct.execute("SELECT count(DISTINCT token), count(DISTINCT left(token, 33)) FROM vault").fetchone()
    assert stored == (3, 2)
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="blind index"):
        app.execute("SELECT DISTINCT token FROM vault")


def test_index_of_another_value_is_an_error_where_the_row_is_read(vault) -> None:
    app, direct = vault
    app.execute("INSERT INTO vault (id, token) VALUES (1, 'a'), (2, 'b')")
    swapped = "left(a.token, 33) || substr(vault.token, 34)"
    direct.execute(f"UPDATE vault SET token = {swapped} FROM vault a WHERE a.id = 1 AND vault.id = 2")
    with pytest.raises(psycopg.errors.DataCorrupted, match=r"vault\.token"):
        app.execute("SELECT token FROM vault WHERE token = 'a'")


def test_search_by_an_index_uses_the_index_on_its_part(vault) -> None:
    app, _ = vault
    app.execute("INSERT INTO vault (id, token) VALUES (1, 'a')")
    app.execute("SET enable_seqscan = off")
    plan = app.execute("EXPLAIN SELECT id FROM vault WHERE token = 'a'").fetchall()
    assert any("vault_token" in line for (line,) in plan)


def test_value_in_its_own_format_is_stored_as_long_and_of_the_same_characters(vault) -> None:
    app, direct = vault
    app.execute("INSERT INTO vault (id, phone, badge) VALUES (1, '02079460958', 'AB12')")
    app.execute("INSERT INTO vault (id, phone, badge) VALUES (2, %s, %s)", ["123456", "ZZZZ9999"])
    phone, badge = direct.execute("SELECT phone, badge FROM vault WHERE id = 1").fetchone()
    assert re.fullmatch(r"\d{11}", phone)
    assert phone != "02079460958"
    assert re.fullmatch(r"[0-9A-Z]{4} {4}", badge)
    read = "SELECT phone, badge FROM vault WHERE phone = %s"
    assert app.execute(read, ["02079460958"]).fetchall() == [("02079460958", "AB12    ")]
    assert app.execute("SELECT id FROM vault WHERE badge = 'ZZZZ9999'").fetchall() == [(2,)]
    for wrong in ("12345", "020 7946 0958", "x"):
        with pytest.raises(psycopg.DataError, match=r"vault\.phone"):
            app.execute("INSERT INTO vault (id, phone) VALUES (3, %s)", [wrong])


def test_masks_apply_to_values_in_their_own_format(stack: Stack, vault) -> None:
    app, _ = vault
    app.execute("INSERT INTO vault (id, phone) VALUES (1, '02079460958')")
    with stack.connect("support", forms.DATABASE) as support:
        (masked,) = support.execute("SELECT phone FROM vault").fetchone()
    assert masked.endswith("0958")
    assert "0207" not in masked


def test_plaintext_in_a_sealed_column_gets_what_the_policy_says(stack: Stack, vault) -> None:
    app, direct = vault
    direct.execute("INSERT INTO vault (id, half, quiet, strict) VALUES (1, '2024-02-29', 'seen', 'seen')")
    app.execute("INSERT INTO vault (id, half, quiet) VALUES (2, %s, 'sealed')", [datetime.date(2024, 3, 1)])
    rows = app.execute("SELECT half, quiet FROM vault ORDER BY id").fetchall()
    assert rows == [(datetime.date(2024, 2, 29), None), (datetime.date(2024, 3, 1), "sealed")]
    with pytest.raises(psycopg.errors.DataCorrupted, match=r"vault\.strict"):
        app.execute("SELECT strict FROM vault WHERE id = 1")
    app.close()
    until(lambda: any("plaintext.public.vault.half" in name for name in stack.envoy.stats()))


def test_who_sees_envelopes_sees_no_plaintext_among_them(stack: Stack, shop: Stack) -> None:
    with shop.direct() as direct:
        direct.execute("INSERT INTO customer (id, ssn) VALUES (1, '078-05-1120')")
    with shop.connect("auditor") as auditor:
        for statement in (
            "SELECT ssn FROM customer",
            "SELECT * FROM customer",
            "SELECT ssn FROM customer UNION SELECT NULL",
        ):
            with pytest.raises(psycopg.errors.DataCorrupted, match=r"customer\.ssn"):
                auditor.execute(statement).fetchall()
        with (
            pytest.raises(psycopg.errors.DataCorrupted),
            auditor.cursor().copy("COPY customer (ssn) TO STDOUT") as copy,
        ):
            list(copy)


def test_column_too_narrow_for_its_envelope_is_refused_with_the_width_it_needs(stack: Stack, vault) -> None:
    app, _ = vault
    with pytest.raises(psycopg.errors.FeatureNotSupported, match=r"narrow\.short holds 40 characters.*up to \d+"):
        app.execute("INSERT INTO narrow VALUES (1, 'x')")
    value = uuid.uuid4()
    app.execute("INSERT INTO vault (id, fitting) VALUES (1, %s)", [value])
    assert app.execute("SELECT fitting FROM vault").fetchone() == (value,)


def test_value_longer_than_the_limit_is_refused_and_nothing_is_stored(vault) -> None:
    app, direct = vault
    long = "x" * (1 << 20)
    app.execute("INSERT INTO vault (id, strict) VALUES (1, %s)", [long])
    assert app.execute("SELECT strict FROM vault").fetchone() == (long,)
    with pytest.raises(psycopg.errors.ProgramLimitExceeded, match=r"vault\.strict is longer than the 1048576 bytes"):
        app.execute("INSERT INTO vault (id, strict) VALUES (2, %s)", [long + "x"])
    assert direct.execute("SELECT count(*) FROM vault").fetchone() == (1,)
