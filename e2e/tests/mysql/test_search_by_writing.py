"""The same of MySQL and MariaDB as of PostgreSQL: a guess that is written is not compared for who may not search."""

from collections.abc import Iterator

import pymysql
import pytest

from harness.mysql_builds import MYSQL, OLDER, Build
from harness.mysql_stack import MySqlOptions, MySqlStack
from tests import guessing
from tests.guessing import GUESS, ORDINARY, REFUSED, SEARCHES
from tests.mysql.asking import ask, change, refusal

UPSERTS = (
    "INSERT IGNORE INTO guess (id, ssn) VALUES (2, '078-05-1120')",
    "INSERT INTO guess (id, ssn) VALUES (2, '078-05-1120') ON DUPLICATE KEY UPDATE id = 3",
    "REPLACE INTO guess (id, ssn) VALUES (2, '078-05-1120')",
    "UPDATE customer t JOIN guess u ON t.ssn = u.ssn SET t.name = 'found'",
)


@pytest.fixture(scope="module", params=(OLDER, MYSQL), ids=lambda build: build.name)
def stack(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MySqlStack]:
    build: Build = request.param
    if not build.is_there:
        pytest.skip(f"no {build.name} for this machine: see dev/setup/servers.py")
    policies = guessing.write(tmp_path_factory.mktemp("policies"), "mysql", "shop.guess")
    with MySqlStack(MySqlOptions(build=build, policies=(policies,))).start() as running:
        running.stored("CREATE TABLE guess (id bigint PRIMARY KEY, ssn text)")
        with running.connect("app") as app:
            change(app, "INSERT INTO customer (id, name, ssn) VALUES (3, 'Ada', %s), (4, 'Eve', %s)", (GUESS, GUESS))
        yield running


@pytest.fixture
def auditor(stack: MySqlStack) -> Iterator[pymysql.Connection]:
    with stack.connect("auditor") as auditor:
        change(auditor, "DELETE FROM guess")
        change(auditor, "INSERT INTO guess (id, ssn) VALUES (1, %s)", (GUESS,))
        yield auditor


@pytest.mark.parametrize("search", [*SEARCHES, *UPSERTS])
def test_guess_that_is_written_is_not_compared(auditor: pymysql.Connection, search: str) -> None:
    _, told = refusal(auditor, search)
    assert REFUSED in told
    assert GUESS not in told


def test_ordinary_statements_of_the_writer_go_on(stack: MySqlStack, auditor: pymysql.Connection) -> None:
    for statement in ORDINARY:
        ask(auditor, statement)
    assert ask(auditor, "SELECT ssn FROM customer") == [(None,), (None,)]
    with stack.connect("app") as app:
        change(app, "UPDATE customer SET ssn = %s", (GUESS,))
        assert sorted(ask(app, SEARCHES[0])) == [(3,), (4,)]


def test_what_a_unique_index_tells_is_its_name_and_never_the_value(
    stack: MySqlStack, auditor: pymysql.Connection
) -> None:
    stack.stored("CREATE UNIQUE INDEX one_ssn ON guess (ssn(200))")
    try:
        number, told = refusal(auditor, "INSERT INTO guess (id, ssn) VALUES (2, %s)", (GUESS,))
        assert number == pymysql.constants.ER.DUP_ENTRY
        assert "one_ssn" in told
        assert GUESS not in told
    finally:
        stack.stored("DROP INDEX one_ssn ON guess")
