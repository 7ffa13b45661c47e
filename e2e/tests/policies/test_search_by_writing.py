"""Who may write a label and not search by it inserts a guess and has the server compare it: that is refused."""

from collections.abc import Iterator

import psycopg
import pytest

from harness import Options, Stack
from tests import guessing
from tests.guessing import GUESS, ORDINARY, REFUSED, SEARCHES

MERGE = "MERGE INTO customer t USING guess u ON t.ssn = u.ssn WHEN MATCHED THEN UPDATE SET name = 'found'"
UPSERTS = (
    "INSERT INTO guess (id, ssn) VALUES (2, '078-05-1120') ON CONFLICT DO NOTHING",
    "INSERT INTO guess (id, ssn) VALUES (2, '078-05-1120') ON CONFLICT (ssn) DO UPDATE SET id = 3 RETURNING id",
)
BY_KEY = "INSERT INTO guess (id, ssn) VALUES (1, '219-09-9999') ON CONFLICT (id) DO NOTHING"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    policies = guessing.write(tmp_path_factory.mktemp("policies"), "postgres", "public.guess")
    stack = Stack(Options(policies=(policies,)))
    stack.start()
    with stack.direct() as owner:
        owner.execute("CREATE TABLE guess (id bigint PRIMARY KEY, ssn text)")
        owner.execute("GRANT ALL ON guess TO PUBLIC")
    with stack.connect("app") as app:
        app.execute("INSERT INTO customer (id, name, ssn) VALUES (3, 'Ada', %s), (4, 'Eve', %s)", [GUESS, GUESS])
    yield stack
    stack.stop()


@pytest.fixture
def auditor(stack: Stack) -> Iterator[psycopg.Connection]:
    with stack.connect("auditor") as auditor:
        auditor.execute("DELETE FROM guess")
        auditor.execute("INSERT INTO guess (id, ssn) VALUES (1, %s)", [GUESS])
        yield auditor


@pytest.mark.parametrize("prepare", [False, True], ids=["unprepared", "prepared"])
@pytest.mark.parametrize("search", [*SEARCHES, MERGE, *UPSERTS])
def test_guess_that_is_written_is_not_compared(auditor: psycopg.Connection, search: str, prepare: bool) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege) as refused:
        auditor.execute(search, prepare=prepare)
    assert REFUSED in refused.value.diag.message_primary
    assert "primary key" in refused.value.diag.message_hint
    assert GUESS not in str(refused.value)


def test_ordinary_statements_of_the_writer_go_on(auditor: psycopg.Connection) -> None:
    for statement in (*ORDINARY, BY_KEY):
        auditor.execute(statement)
    assert auditor.execute("SELECT ssn FROM customer").fetchall() == [(None,), (None,)]


def test_who_may_search_compares(stack: Stack, auditor: psycopg.Connection) -> None:
    with stack.connect("app") as app:
        app.execute("UPDATE customer SET ssn = %s", [GUESS])
        assert sorted(app.execute(SEARCHES[0]).fetchall()) == [(3,), (4,)]
        app.execute(MERGE)
        assert app.execute("SELECT DISTINCT name FROM customer").fetchall() == [("found",)]


def test_what_a_unique_index_tells_is_its_name_and_never_the_value(stack: Stack, auditor: psycopg.Connection) -> None:
    """The threat model says so: an insert can not be told to have worked that has not."""
    with stack.direct() as owner:
        owner.execute("CREATE UNIQUE INDEX one_ssn ON guess (ssn)")
    try:
        with pytest.raises(psycopg.errors.UniqueViolation) as told:
            auditor.execute("INSERT INTO guess (id, ssn) VALUES (2, %s)", [GUESS])
        assert told.value.diag.constraint_name == "one_ssn"
        assert GUESS not in str(told.value)
    finally:
        with stack.direct() as owner:
            owner.execute("DROP INDEX one_ssn")
