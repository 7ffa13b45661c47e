"""Whole tables sealed in place: every command, every type, what it refuses, what it finds."""

import base64
import json
from pathlib import Path

import pytest

from dev.layout import POLICIES
from harness.waiting import until
from tests.keys.tables import DATABASE, EVERYTHING, ITEMS, PERSON, ROWS, Tables, seen, stored
from tests.sample import SAMPLES


def test_table_is_sealed_verified_sealed_anew_and_unsealed(person: Tables) -> None:
    before, shown = stored(person), seen(person)
    assert person.run("verify", PERSON).status == 1
    done = person.ok("seal", PERSON)
    assert done.report["written"] == ROWS
    assert done.found("note") == {"null": ROWS // 5, "plaintext": ROWS - ROWS // 5}
    assert person.ok("verify", PERSON).found("ssn") == {"wanted_key": ROWS}
    sealed = stored(person)
    assert all(value is None or value.startswith("fv1.") for row in sealed for value in row[2:])
    assert [[value is None for value in row] for row in sealed] == [[value is None for value in row] for row in before]
    assert seen(person) == shown
    with person.direct() as direct:
        direct.execute("UPDATE person SET note = 'plain' WHERE id <= 10")
    assert person.run("reseal", PERSON).status == 1
    person.rotate("deterministic")
    # What is sealed under the earlier key stays as it is.
    assert person.ok("seal", PERSON).report["written"] == 10
    sealed = stored(person)
    shown = seen(person)
    assert [row[3] for row in shown[:10]] == ["plain"] * 10
    again = person.ok("seal", PERSON)
    assert again.report["written"] == 0
    assert stored(person) == sealed

    person.rotate("aead", "deterministic")
    assert person.run("verify", PERSON).status == 1
    person.ok("reseal", PERSON)
    assert person.ok("verify", PERSON).found("ssn") == {"wanted_key": ROWS}
    assert not set(stored(person)) & set(sealed)
    assert seen(person) == shown

    person.ok("unseal", PERSON)
    assert stored(person) == [(*row[:3], "plain", *row[4:]) for row in before[:10]] + before[10:]
    person.ok("verify", PERSON, "--unsealed")


def test_every_type_is_the_same_before_while_and_after_it_is_sealed(tables: Tables) -> None:
    columns = ", ".join(s.column for s in SAMPLES)
    with tables.direct() as direct:
        direct.execute("TRUNCATE everything")
        for number in range(1 + max(len(s.values) for s in SAMPLES)):
            values = [s.values[number] if number < len(s.values) else None for s in SAMPLES]
            places = ", ".join(
                "convert_to(%s, 'UTF8')" if s.stored_as == "bytea" and s.type != "bytea" else "%s" for s in SAMPLES
            )
            direct.execute(f"INSERT INTO everything ({columns}) VALUES ({places})", values)
    rows = number + 1

    def shown(chosen: str) -> list[list[bytes | None]]:
        with tables.app() as app:
            result = app.pgconn.exec_(f"SELECT {chosen} FROM everything ORDER BY id".encode())
            assert result.ntuples == rows, result.error_message
            return [[result.get_value(row, n) for n in range(result.nfields)] for row in range(rows)]

    before = shown(columns)
    tables.ok("seal", EVERYTHING, "--dry-run")
    tables.ok("seal", EVERYTHING)
    assert tables.ok("verify", EVERYTHING).report["rows"] == rows
    canonical = shown(columns)
    assert canonical == before
    assert [row[-2] for row in canonical if row[-2]] == [b"\\x00ff10", b"\\x"]
    tables.rotate("aead")
    tables.ok("reseal", EVERYTHING)
    assert shown(columns) == canonical
    tables.ok("unseal", EVERYTHING)
    tables.ok("verify", EVERYTHING, "--unsealed")
    with tables.direct() as direct:
        after = direct.execute(f"SELECT {columns} FROM everything ORDER BY id").fetchall()
    for row, expected in zip(after, canonical, strict=True):
        for sample, value, wanted in zip(SAMPLES, row, expected, strict=True):
            text = value.decode() if isinstance(value, bytes) and sample.type != "bytea" else value
            text = "\\x" + text.hex() if isinstance(text, bytes) else text
            assert text == (None if wanted is None else wanted.decode()), sample


def test_partitioned_table_with_a_primary_key_of_several_columns_and_names_in_quotes(tables: Tables) -> None:
    names = ["acme", 'with "quotes"', "back\\slash, {comma}", "ünï", "O'Brien", ""]
    with tables.direct() as direct:
        direct.execute('TRUNCATE "Order Items"')
        for name in names:
            direct.execute(
                """INSERT INTO "Order Items" SELECT %s, i, convert_to('gift ' || i, 'UTF8'), '2024-02-29'
                FROM generate_series(1, 40) i""", [name]
            )  # fmt: skip
    rows = 40 * len(names)
    ranges = tables.ok("ranges", ITEMS, "--count", 5).report["ranges"]
    assert ranges[0]["from"] is None
    assert ranges[-1]["to"] is None
    counted = 0
    for part in ranges:
        bounds = {name: json.dumps(key) for name, key in part.items() if key}
        counted += tables.ok("seal", ITEMS, "--batch", 7, **bounds).report["written"]
    assert counted == rows
    assert tables.ok("verify", ITEMS).found("Gift") == {"wanted_key": rows}
    with tables.direct() as direct:
        (raw,) = direct.execute('SELECT "Gift" FROM "Order Items" LIMIT 1').fetchone()
        assert raw[:2] == b"\xf7\x01"
    tables.ok("unseal", ITEMS)
    with tables.direct() as direct:
        gifts = direct.execute('SELECT DISTINCT "Gift", "Born", n FROM "Order Items" ORDER BY n').fetchall()
    assert gifts == [(f"gift {n}".encode(), "2024-02-29", n) for n in range(1, 41)]


def test_workers_of_one_file_of_ranges_leave_no_row_to_nobody(tables: Tables, tmp_path: Path) -> None:
    with tables.direct() as direct:
        direct.execute('TRUNCATE "Order Items"')
        direct.execute(
            """INSERT INTO "Order Items" SELECT name, i, convert_to('gift ' || i, 'UTF8'), '2024-02-29'
            FROM generate_series(1, 30) i, unnest('{acme,globex}'::text[]) name"""
        )
    file = tmp_path / "ranges.json"
    file.write_text(tables.ok("ranges", ITEMS, "--count", 4).out)
    ranges = json.loads(file.read_text())["ranges"]
    done = [tables.ok("seal", ITEMS, ranges=file, **{"range-index": n}).report for n in range(len(ranges))]
    assert [one["range"] for one in done] == ranges
    assert sum(one["written"] for one in done) == 60
    assert tables.ok("verify", ITEMS).found("Gift") == {"wanted_key": 60}

    beyond = tables.run("verify", ITEMS, ranges=file, **{"range-index": len(ranges)})
    assert (beyond.status, beyond.out) == (2, "")
    assert f"holds {len(ranges)} ranges" in beyond.errors
    other = tables.run("verify", PERSON, ranges=file, **{"range-index": 0})
    assert (other.status, other.out) == (2, "")
    assert "the primary key is id" in other.errors
    tables.ok("unseal", ITEMS)


def test_dry_run_changes_nothing_and_finds_what_can_not_be_sealed(person: Tables) -> None:
    with person.direct() as direct:
        direct.execute("UPDATE person SET born = 'no date' WHERE id IN (3, 700)")
        versions = "SELECT id, xmin::text, ctid::text FROM person ORDER BY id"
        before = direct.execute(versions).fetchall()
        done = person.run("seal", PERSON, "--dry-run")
        assert done.status == 1
        assert [problem["key"] for problem in done.report["problems"]] == [["3"], ["700"]]
        assert "no date" not in done.out + done.errors
        assert direct.execute(versions).fetchall() == before
        # The others are sealed, and these told.
        done = person.run("seal", PERSON)
        assert (done.status, done.report["written"], done.report["faulty"]) == (1, ROWS - 2, 7)
        before = direct.execute(versions).fetchall()
        person.rotate("aead")
        person.run("reseal", PERSON, "--dry-run")
        person.run("unseal", PERSON, "--dry-run")
        assert direct.execute(versions).fetchall() == before


def test_verify_names_rows_that_are_not_as_they_should_be_and_no_value(person: Tables) -> None:
    person.ok("seal", PERSON)
    person.ok("verify", PERSON)
    with person.direct() as direct:
        direct.execute("UPDATE person SET ssn = 'secret word' WHERE id = 1")
        direct.execute("UPDATE person SET ssn = (SELECT note FROM person WHERE id = 4) WHERE id = 2")
        direct.execute("UPDATE person SET ssn = left(ssn, 24) WHERE id = 3")
        direct.execute("UPDATE person SET token = (SELECT token FROM person WHERE id = 5) || '!' WHERE id = 5")
        (other,) = direct.execute("SELECT ssn FROM person WHERE id = 6").fetchone()
        envelope = bytearray(base64.urlsafe_b64decode(other[4:] + "=" * (-len(other[4:]) % 4)))
        envelope[7:11] = bytes.fromhex("00000007")
        changed = "fv1." + base64.urlsafe_b64encode(envelope).decode().rstrip("=")
        direct.execute("UPDATE person SET ssn = %s WHERE id = 6", [changed])
    done = person.run("verify", PERSON)
    assert (done.status, done.report["faulty"]) == (1, 5)
    reasons = {problem["key"][0]: problem["reason"] for problem in done.report["problems"]}
    expected = {"1": "plaintext", "2": "under another label", "3": "broken", "5": "broken", "6": "under key 7, not"}
    assert all(word in reasons[key] for key, word in expected.items()), reasons
    assert "secret word" not in done.out + done.errors
    # A key that is not there: the row is told, and all others are done.
    person.rotate("deterministic")
    done = person.run("reseal", PERSON, "--column", "ssn")
    assert done.status == 1
    assert {problem["key"][0] for problem in done.report["problems"]} == {"1", "2", "3", "6"}
    assert done.report["written"] == ROWS - 4


def test_many_faulty_rows_are_counted_and_twenty_named(person: Tables) -> None:
    done = person.run("verify", PERSON, "--column", "ssn")
    assert (done.status, done.report["faulty"], len(done.report["problems"])) == (1, ROWS, 20)


BAD = {
    "no such table": (("seal", "public.nowhere"), {}, "there is no such table"),
    "not a name": (("seal", "person"), {}, "not the name of a table"),
    "not protected": (("seal", "public.person"), {"catalog": POLICIES / "catalog"}, "no column of public.person"),
    "no primary key": (("seal", "public.keyless"), {}, "it has no primary key"),
    "protected primary key": (("seal", "public.keyed"), {}, "it is protected and part of the primary key"),
    "a view": (("seal", "public.shown"), {}, "it is no table"),
    "stored as a number": (
        ("seal", "public.numbers"),
        {},
        'ALTER TABLE "public"."numbers" ALTER COLUMN "amount" TYPE text USING "amount"::text',
    ),
    "too narrow": (("seal", "public.narrow"), {}, "holds 40 characters"),
    "too narrow, what to do": (("seal", "public.narrow", "--dry-run"), {}, 'ALTER COLUMN "short" TYPE text'),
    "format-preserving": (("seal", "public.cards"), {}, "nothing tells such a value from plaintext"),
    "no such column": (("seal", PERSON, "--column", "visits"), {}, "no such column"),
    "no such key": (("verify", PERSON, "--key-id", "x"), {}, "not a key id"),
    "a key of another shape": (("seal", ITEMS, "--from", "7"), {}, "not a key"),
    "a key of another type": (("seal", PERSON, "--from", "abc"), {}, "key is id bigint"),
    "a key of another type, to": (("verify", PERSON, "--to", "[1"), {}, '--to ["[1"]: not a key'),
    "a tenant of the principal's": (
        ("seal", "public.tenants"),
        {},
        "--column own=public.tenants.own:pii/TENANT:determ",
    ),
    "no wanted key": (("reseal", PERSON), {"keysets": None}, "the wanted key"),
    "no connection through the sidecar": (("seal", PERSON), {"through": None}, "--through: not given"),
    "another database": (("seal", PERSON), {"through": "OTHER"}, "two servers or databases"),
    "straight through the sidecar": (("verify", PERSON), {"direct": "SIDECAR"}, "--direct: it leads through a sidecar"),
    "sealing straight through the sidecar": (
        ("seal", PERSON),
        {"direct": "SIDECAR"},
        "--direct: it leads through a sidecar",
    ),
    "a key that the keyset has not": (
        ("seal", PERSON, "--key-id", "ssn=5"),
        {},
        "keyset pii of column ssn has no such key",
    ),
    "nobody may write": (("seal", PERSON), {"user": "auditor"}, "42501"),
    "no catalog": (("seal", PERSON), {"catalog": None}, "--catalog: not given"),
    "a checkpoint that is none": (("seal", PERSON, "--checkpoint", "NONE"), {}, "not a checkpoint"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line_status_two_and_nothing_is_changed(tables: Tables, tmp_path, name: str) -> None:
    words, more, reason = BAD[name]
    (tmp_path / "none").write_text("{}")
    words = [str(tmp_path / "none") if word == "NONE" else word for word in words]
    if more.get("through") == "OTHER":
        more = {"through": tables.stack.dsn("app", "plain")}
    if more.get("direct") == "SIDECAR":
        more = {"direct": tables.stack.dsn("app", DATABASE)}
    before = stored(tables)
    done = tables.run(*words, **more)
    assert (done.status, done.out) == (2, ""), done
    assert reason in done.errors
    assert len(done.errors.splitlines()) == 1
    assert stored(tables) == before


def test_user_who_does_not_see_values_as_they_are_can_not_reseal_or_unseal(person: Tables) -> None:
    person.ok("seal", PERSON)
    before = stored(person)
    person.rotate("aead", "deterministic")
    for command in ("reseal", "unseal"):
        for column in ("ssn", "note", "token", "born"):
            done = person.run(command, PERSON, "--column", column, user="support")
            assert done.status == 2, done
            assert f"does not see the values of public.person.{column} as they are" in done.errors
    assert stored(person) == before


@pytest.mark.parametrize("command", ["seal", "reseal", "unseal"])
def test_connection_past_the_sidecar_is_noticed(person: Tables, command: str) -> None:
    if command != "seal":
        person.ok("seal", PERSON)
        person.rotate("aead", "deterministic")
    before = stored(person)
    done = person.run(command, PERSON, through=person.direct_url)
    assert done.status != 0
    assert "--through leads through a sidecar" in done.errors
    assert stored(person) == before


def test_columns_can_be_told_without_a_catalog(person: Tables) -> None:
    column = ("--column", "token=public.person.token:pii:indexed")
    person.ok("seal", PERSON, *column, catalog=None)
    key = person.ok("verify", PERSON, *column, catalog=None).report["columns"][0]["wanted_key_id"]
    person.ok("verify", PERSON, *column, "--key-id", f"token={key}", catalog=None, keysets=None)
    wrong = person.run("verify", PERSON, *column, "--key-id", "7", catalog=None, keysets=None)
    assert (wrong.status, wrong.report["faulty"]) == (1, ROWS)
    mistaken = person.run("verify", PERSON, "--column", "token=other.label:pii:indexed", catalog=None)
    assert "sealed under another label than other.label" in mistaken.report["problems"][0]["reason"]


def test_column_of_one_tenant_is_sealed_when_the_tenant_is_named(tables: Tables) -> None:
    tables.stack.agent.keys("create", "pii/acme")
    own = ("--column", "own=public.tenants.own:pii/acme:deterministic")
    until(lambda: tables.run("seal", "public.tenants", *own, "--dry-run", catalog=None).status == 0)
    for command in ("seal", "verify", "unseal"):
        tables.ok(command, "public.tenants", "--column", "ours")
        tables.ok(command, "public.tenants", *own, catalog=None)
    with tables.direct() as direct:
        assert direct.execute("SELECT DISTINCT own, ours FROM tenants").fetchall() == [("own", "ours")]


def test_checkpoint_that_ends_at_no_key_is_refused(person: Tables, tmp_path) -> None:
    path = tmp_path / "checkpoint"
    person.ok("seal", PERSON, "--checkpoint", path)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"done": False, "after": ["x"]}))
    done = person.run("seal", PERSON, "--checkpoint", path)
    assert (done.status, "not a key" in done.errors, len(done.errors.splitlines())) == (2, True, 1), done
