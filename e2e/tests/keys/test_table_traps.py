"""Tables on which sealing could lose or pass over values, or never end: triggers, odd keys, checkpoints."""

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
