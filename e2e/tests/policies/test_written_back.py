"""An object mapper that reads a row, changes one column and writes all of them: a mask is not stored over the value."""

import json
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from harness import Options, Stack
from tests.rows import ADA, INSERT, SELECT

UPDATE = "UPDATE customer SET name = %s, email = %s, ssn = %s, phone = %s, card = %s, notes = %s WHERE id = %s"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The auditor, whom the example has no rule for, reads masks here and writes."""
    folder = tmp_path_factory.mktemp("rules")
    rule = {
        "name": "auditors correct customers",
        "who": {"session": {"user": ["auditor"]}},
        "labels": ["customer.*"],
        "read": {"treatment": "mask", "format": "last4"},
        "write": "seal",
    }
    path: Path = folder / "rules" / "written-back" / "data.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"rules": [rule]}))
    stack = Stack(Options(policies=(folder,)))
    stack.start()
    with stack.connect("app") as app:
        app.execute(INSERT, ADA)
    yield stack
    stack.stop()


@pytest.mark.parametrize("binary", [False, True], ids=["text", "binary"])
def test_row_that_is_written_as_it_was_read_is_refused_and_keeps_its_values(stack: Stack, binary: bool) -> None:
    with stack.connect("auditor") as auditor:
        row = auditor.cursor(binary=binary).execute(SELECT, [1]).fetchone()
        assert row != ADA
        with pytest.raises(psycopg.errors.InsufficientPrivilege) as refused:
            auditor.execute(UPDATE, ("Ada King", *row[2:], row[0]))
        assert "is shown in a value's place" in refused.value.diag.message_primary
        assert "update only what changed" in refused.value.diag.message_hint
        # As psycopg2 and Django send it: in the text.
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            psycopg.ClientCursor(auditor).execute("UPDATE customer SET ssn = %s WHERE id = 1", [row[3]])
        auditor.execute("UPDATE customer SET phone = %s WHERE id = 1", [ADA[4]])
    with stack.connect("billing") as billing:
        assert billing.execute(SELECT, [1]).fetchone() == ADA
