"""Tables on which sealing could lose or pass over values, or never end: triggers, odd keys, checkpoints."""

import json

import pytest

from tests.keys.tables import TRAP, Tables, trap

TRIGGERS = """
CREATE TABLE trap (id int PRIMARY KEY, touched int, ssn text, note text);
INSERT INTO trap SELECT i, 0, 'A' || i FROM generate_series(1, 100) i;
CREATE OR REPLACE FUNCTION lowered() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN IF OLD.id > 50 THEN NEW.ssn := {change}; END IF; RETURN NEW; END $$;
CREATE TRIGGER lowered BEFORE UPDATE {of} ON trap FOR EACH ROW EXECUTE FUNCTION lowered();"""
PLAIN = "SELECT count(*) FROM trap WHERE ssn = 'A' || id"


def plain(tables: Tables) -> int:
    with tables.direct() as direct:
        return direct.execute(PLAIN).fetchone()[0]


def test_trigger_that_may_change_what_is_written_is_refused(tables: Tables) -> None:
    for of in ("", "OF ssn"):
        trap(tables, TRIGGERS.format(change="lower(NEW.ssn)", of=of))
        done = tables.run("seal", TRAP)
        assert (done.status, "by its trigger lowered" in done.errors, plain(tables)) == (2, True, 100), done
    still = tables.direct_url.replace("user=", "options='-c session_replication_role=replica' user=")
    tables.ok("seal", TRAP, "--allow-triggers", "--to", "50")
    assert "trigger lowered" in tables.run("unseal", TRAP).errors
    tables.ok("unseal", TRAP, direct=still)
    trap(tables, TRIGGERS.format(change="NEW.ssn", of="OF touched"))
    tables.ok("seal", TRAP)
    trap(tables, TRIGGERS.format(change="NEW.ssn", of="") + "ALTER TABLE trap DISABLE TRIGGER lowered")
    tables.ok("seal", TRAP)


def test_trigger_of_a_partition_is_refused(tables: Tables) -> None:
    trap(tables, """CREATE TABLE trap (id int PRIMARY KEY, ssn text, note text) PARTITION BY HASH (id);
        CREATE TABLE trap_0 PARTITION OF trap FOR VALUES WITH (MODULUS 1, REMAINDER 0);
        CREATE TRIGGER sparing BEFORE UPDATE ON trap_0
          FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()
        """)  # fmt: skip
    done = tables.run("seal", TRAP)
    assert (done.status, "by its trigger sparing" in done.errors) == (2, True), done


def test_rule_in_place_of_update_is_refused(tables: Tables) -> None:
    trap(tables, "CREATE TABLE trap (id int PRIMARY KEY, ssn text, note text); "
         "CREATE RULE kept AS ON UPDATE TO trap DO INSTEAD NOTHING")  # fmt: skip
    done = tables.run("seal", TRAP)
    assert (done.status, "by its rule kept" in done.errors) == (2, True), done


@pytest.mark.parametrize("change", ["lower(NEW.ssn)", "NULL", "'x'"])
def test_trigger_that_changes_envelopes_all_the_same_ends_the_work_at_the_first_row(
    tables: Tables, change: str
) -> None:
    trap(tables, TRIGGERS.format(change=change, of=""))
    done = tables.run("seal", TRAP, "--allow-triggers", "--from", "50")
    assert done.status == 1, done
    assert "not stored as it was written" in done.errors or "still plaintext" in done.errors
    assert plain(tables) == 99
    # Rows of which the first are as they should be: a batch at most.
    done = tables.run("seal", TRAP, "--allow-triggers", "--batch", "10")
    assert done.status == 1, done
    assert plain(tables) == 40


# A type whose operators lie in a schema that is not searched; by name one would find those of text.
FOLDED = """
DROP SCHEMA IF EXISTS ext CASCADE; CREATE SCHEMA ext; GRANT USAGE ON SCHEMA ext TO PUBLIC;
CREATE TYPE ext.folded;
CREATE FUNCTION ext.folded_in(cstring) RETURNS ext.folded AS 'textin' LANGUAGE internal IMMUTABLE STRICT;
CREATE FUNCTION ext.folded_out(ext.folded) RETURNS cstring AS 'textout' LANGUAGE internal IMMUTABLE STRICT;
CREATE TYPE ext.folded (INPUT = ext.folded_in, OUTPUT = ext.folded_out, INTERNALLENGTH = VARIABLE, COLLATABLE = true);
CREATE CAST (ext.folded AS text) WITHOUT FUNCTION AS IMPLICIT;
CREATE CAST (text AS ext.folded) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE FUNCTION ext.compared(ext.folded, ext.folded) RETURNS int IMMUTABLE STRICT LANGUAGE sql AS
  $$ SELECT pg_catalog.bttextcmp(pg_catalog.lower($1::text), pg_catalog.lower($2::text)) $$;
"""
for name, sign in (("lt", "<"), ("le", "<="), ("eq", "="), ("ge", ">="), ("gt", ">")):
    FOLDED += f"""
CREATE FUNCTION ext.{name}(ext.folded, ext.folded) RETURNS bool IMMUTABLE STRICT LANGUAGE sql AS
  $$ SELECT pg_catalog.lower($1::text) {sign} pg_catalog.lower($2::text) $$;
CREATE OPERATOR ext.{sign} (LEFTARG = ext.folded, RIGHTARG = ext.folded, PROCEDURE = ext.{name});"""
FOLDED += """
CREATE OPERATOR CLASS ext.folded_ops DEFAULT FOR TYPE ext.folded USING btree AS OPERATOR 1 ext.<, OPERATOR 2 ext.<=,
  OPERATOR 3 ext.=, OPERATOR 4 ext.>=, OPERATOR 5 ext.>, FUNCTION 1 ext.compared(ext.folded, ext.folded);"""
KEYS = {
    "operators of another schema": (
        FOLDED + "CREATE TABLE trap (id ext.folded PRIMARY KEY, ssn text, note text);",
        "(CASE WHEN i % 2 = 0 THEN upper(chr(97 + i % 26)) ELSE chr(97 + i % 26) END || i)::ext.folded",
    ),
    "operators of two schemas": (
        FOLDED + "CREATE TABLE trap (id ext.folded, g int DEFAULT 1, ssn text, note text, PRIMARY KEY (g, id));",
        "(CASE WHEN i % 2 = 0 THEN upper(chr(97 + i % 26)) ELSE chr(97 + i % 26) END || i)::ext.folded",
    ),
    "floating point": (
        "ALTER DATABASE tables SET extra_float_digits = 0; "
        "CREATE TABLE trap (id float8 PRIMARY KEY, ssn text, note text);",
        "i / 7.0::float8",
    ),
    "a column that is included": (
        "CREATE TABLE trap (id int, visits text, ssn text, note text, PRIMARY KEY (id) INCLUDE (visits));",
        "i",
    ),
}


@pytest.mark.parametrize("name", KEYS)
def test_no_row_is_passed_over_whatever_the_primary_key(tables: Tables, name: str) -> None:
    schema, key = KEYS[name]
    fill = f"INSERT INTO trap (id, ssn, note) SELECT {key}, 'ssn', 'note' FROM generate_series(1, 60) i"
    trap(tables, f"{schema} {fill}")
    for command in ("seal", "verify", "unseal"):
        assert tables.ok(command, TRAP, "--batch", "7").report["rows"] == 60
    with tables.direct() as direct:
        assert direct.execute("SELECT count(*) FROM trap WHERE ssn = 'ssn' AND note = 'note'").fetchone() == (60,)
    counted = 0
    for part in tables.ok("ranges", TRAP, "--count", "4").report["ranges"]:
        bounds = {bound: json.dumps(value) for bound, value in part.items() if value}
        counted += tables.ok("seal", TRAP, **bounds).report["rows"]
    assert counted == 60


@pytest.mark.parametrize("kind", ["int[]", "ends"])
def test_primary_key_of_no_single_value_is_refused(tables: Tables, kind: str) -> None:
    trap(tables, "DROP TYPE IF EXISTS ends CASCADE; CREATE TYPE ends AS (a int, b int); "
         f"CREATE TABLE trap (id {kind} PRIMARY KEY, ssn text, note text)")  # fmt: skip
    done = tables.run("seal", TRAP)
    assert (done.status, f"the column id, stored as {kind}" in done.errors.replace("integer", "int")) == (2, True), done


def test_row_level_security_for_the_user_of_the_sidecar_is_refused(tables: Tables) -> None:
    trap(tables, "CREATE TABLE trap (id int PRIMARY KEY, ssn text, note text); "
         "ALTER TABLE trap ENABLE ROW LEVEL SECURITY; CREATE POLICY others ON trap USING (id <> 5)")  # fmt: skip
    done = tables.run("seal", TRAP)
    assert (done.status, "--through: row-level security hides rows" in done.errors) == (2, True), done


def test_row_that_a_trigger_keeps_as_it_is_is_told_and_all_others_are_done(tables: Tables) -> None:
    for command in ("seal", "reseal", "unseal"):
        trap(tables, TRIGGERS.format(change="NEW.ssn", of="") + """
            CREATE OR REPLACE FUNCTION lowered() RETURNS trigger LANGUAGE plpgsql AS
              $$ BEGIN IF OLD.id = 70 THEN RETURN NULL; END IF; RETURN NEW; END $$;""")  # fmt: skip
        words = ("--allow-triggers", "--batch", "60")
        if command != "seal":
            with tables.direct() as direct:
                direct.execute("ALTER TABLE trap DISABLE TRIGGER lowered")
                tables.ok("seal", TRAP)
                direct.execute("ALTER TABLE trap ENABLE TRIGGER lowered")
        if command == "reseal":
            tables.rotate("deterministic")
        done = tables.run(command, TRAP, *words)
        assert (done.status, done.report["written"]) == (1, 99), done
        (problem,) = done.report["problems"]
        assert (problem["key"], "a trigger" in problem["reason"]) == (["70"], True)
