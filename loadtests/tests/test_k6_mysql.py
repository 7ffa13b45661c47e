"""The script and the extension, against a real MariaDB: what `test_k6` holds PostgreSQL's drivers to."""

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.mysql_builds import OLDER
from harness.mysqld import MySqld
from harness.workdir import WorkDir
from loadtests import values
from loadtests.tests.test_k6 import ROWS, Done, fixed, k6, told

pytestmark = pytest.mark.skipif(not OLDER.is_there, reason="there is no MariaDB for this machine")
DATABASE = "loadtest"
COLUMNS = "id, name, email, ssn, phone"
TABLES = (
    "CREATE TABLE people (id bigint PRIMARY KEY, name text, email text, ssn text, phone text)",
    "CREATE TABLE added LIKE people",
    "CREATE TABLE changed (id bigint PRIMARY KEY, name text, email text, ssn text, phone text, generation int)",
    # Its first row is sent, then the server fails.
    "CREATE VIEW broken AS SELECT id, name, email, ssn, IF(id = 1, phone, (SELECT phone FROM people AS other "
    "WHERE other.id <> people.id)) AS phone FROM people",
)
MODES = ("prepared", "text")


def row(number: int, generation: int = 0) -> tuple:
    return number, f"name {number}", *values.contact(number, generation)


@pytest.fixture(scope="module")
def mariadb() -> Iterator[MySqld]:
    work = WorkDir()
    server = MySqld(work)
    server.start()
    try:
        with server.connect() as connection, connection.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {DATABASE}")
            cursor.execute(f"USE {DATABASE}")
            for table in TABLES:
                cursor.execute(table)
            places = "%s, %s, %s, %s, %s"
            cursor.executemany(f"INSERT INTO people VALUES ({places})", [row(n) for n in range(1, ROWS + 1)])
        yield server
    finally:
        server.stop()
        work.remove()


@pytest.fixture
def work(mariadb: MySqld, tmp_path: Path) -> Callable[..., dict]:
    def document(**changes: object) -> dict:
        return {
            "script": "point-read",
            "driver": "mysql",
            "mode": "prepared",
            "dsn": f"root@unix({mariadb.socket})/{DATABASE}",
            "data": {"rows": ROWS, "table": "people"},
            "workload": fixed(1, 10),
            "warm_up_seconds": 0.05,
            "processes": {"server": [f"pid:{mariadb.process.pid}"], "client": ["self"]},
            "result": str(tmp_path / "result.json"),
            **changes,
        }

    return document


@pytest.fixture
def run(tmp_path: Path) -> Callable[[dict], Done]:
    def run(document: dict) -> Done:
        done = k6(tmp_path, "run", "--quiet", "--address", "", document=document)
        result = Path(document["result"])
        return Done(done.returncode, done.stdout, json.loads(result.read_text()) if result.exists() else {})

    return run


def read(server: MySqld, query: str) -> list[tuple]:
    with server.connect(DATABASE) as connection, connection.cursor() as cursor:
        cursor.execute(query)
        return list(cursor.fetchall())


def write(server: MySqld, *statements: str) -> None:
    with server.connect(DATABASE) as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def prepared(server: MySqld) -> int:
    """How many statements the server was ever told to prepare."""
    return int(read(server, "SHOW GLOBAL STATUS LIKE 'Com_stmt_prepare'")[0][1])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("script", ["point-read", "equality", "insert", "update"])
def test_each_script_in_each_way(run: Callable, work: Callable, mariadb: MySqld, script: str, mode: str) -> None:
    write(mariadb, "TRUNCATE added", "TRUNCATE changed", f"INSERT INTO changed SELECT {COLUMNS}, 0 FROM people")
    table = {"insert": "added", "update": "changed"}.get(script, "people")
    before = prepared(mariadb)
    done = run(work(script=script, mode=mode, data={"rows": ROWS, "table": table}, workload=fixed(2, 40)))
    assert done.status == 0, done.output
    assert (done.result["operations"], done.result["answers"]) == (40, 40)
    # Each client prepares its statement once and keeps it, as it does the one before it begins.
    assert prepared(mariadb) - before == (4 if mode == "prepared" else 0)
    if script == "insert":
        assert read(mariadb, f"SELECT {COLUMNS} FROM added ORDER BY id") == [row(n) for n in range(1, 41)]
    if script == "update":
        found = read(mariadb, f"SELECT {COLUMNS}, generation FROM changed ORDER BY id")
        assert found == [(*row(one[0], one[-1]), one[-1]) for one in found]
        assert sum(one[-1] for one in found) == 40


@pytest.mark.parametrize("mode", MODES)
def test_one_wrong_value_fails_the_run_and_is_not_told(
    run: Callable, work: Callable, mariadb: MySqld, mode: str
) -> None:
    write(mariadb, "UPDATE people SET phone = 'wrong-4711' WHERE id = 7")
    try:
        done = run(work(mode=mode, workload=fixed(1, ROWS)))
    finally:
        write(mariadb, f"UPDATE people SET phone = '{values.phone(7)}' WHERE id = 7")
    assert done.status != 0
    assert (done.result["answers"], done.result["wrong_answers"], done.result["errors"]) == (ROWS, 1, 0)
    assert done.result["failures"] == ["wrong answer: the row by its key"]
    assert "4711" not in done.output


@pytest.mark.parametrize("mode", MODES)
def test_answer_that_breaks_off_is_an_error(run: Callable, work: Callable, mode: str) -> None:
    data = {"table": "broken", "length": 3, "digests": [""]}
    done = run(work(script="read-rows", mode=mode, data=data))
    assert done.status != 0
    assert (done.result["errors"], done.result["answers"]) == (1, 0), done.output
    assert done.result["failures"] == ["SQLSTATE 21000: Subquery returns more than … row"]


@pytest.mark.parametrize("mode", MODES)
def test_statement_that_is_refused_is_an_error(run: Callable, work: Callable, mode: str) -> None:
    done = run(work(mode=mode, data={"rows": ROWS, "table": "nowhere"}))
    assert done.status != 0
    assert done.result["errors"] == 1
    assert done.result["failures"] == ["SQLSTATE 42S02: Table … doesn't exist"]


@pytest.mark.parametrize("mode", MODES)
def test_cells_are_those_that_a_script_is_told(work: Callable, tmp_path: Path, mode: str) -> None:
    cells = told(
        tmp_path,
        work(mode=mode),
        """
        return db.query(`SELECT id AS number, 9007199254740993 AS great, name AS text, NULL AS none,
            0.25e0 AS \\`float\\`, x'0aff' AS bytes FROM people WHERE id = $1`, 7);
        """,
    )
    assert cells == [
        {"number": 7, "great": "9007199254740993", "text": "name 7", "none": None, "float": 0.25, "bytes": "\\x0aff"}
    ]


@pytest.mark.parametrize("mode", MODES)
def test_arguments_go_where_their_numbers_say(work: Callable, tmp_path: Path, mode: str) -> None:
    found = told(tmp_path, work(mode=mode), "return db.query('SELECT $2 AS a, $1 AS b, $2 AS c', 'o\\'ne', 'two');")
    assert found == [{"a": "two", "b": "o'ne", "c": "two"}]


@pytest.mark.parametrize("mode", MODES)
def test_statements_of_a_transaction_go_to_one_connection(work: Callable, tmp_path: Path, mode: str) -> None:
    counts = told(
        tmp_path,
        work(mode=mode),
        """
        const count = () => db.query("SELECT count(*) AS n FROM people")[0].n;
        const before = count();
        db.exec("BEGIN");
        const deleted = db.exec("DELETE FROM people WHERE id <= $1", 10);
        const within = count();
        db.exec("ROLLBACK");
        return [before, deleted, within, count()];
        """,
    )
    assert counts == [ROWS, 10, ROWS - 10, ROWS]


@pytest.mark.parametrize("mode", MODES)
def test_digest_is_of_text_in_order(work: Callable, tmp_path: Path, mode: str) -> None:
    statement = "SELECT name, id, NULLIF(id, 2) AS odd FROM people WHERE id <= $1 ORDER BY id"
    found = told(tmp_path, work(mode=mode), f"return db.digest('{statement}', ['id', 'name', 'odd'], 3);")
    text = "1\x1fname 1\x1f1\x1f\n2\x1fname 2\x1f\0\x1f\n3\x1fname 3\x1f3\x1f\n"
    assert found == {"rows": 3, "digest": hashlib.sha256(text.encode()).hexdigest()}
