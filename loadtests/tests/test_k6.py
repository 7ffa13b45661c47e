"""The script and the extension, against a real PostgreSQL."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from dev.layout import K6, K6_MODULE
from harness.postgres import Postgres
from harness.waiting import patience
from harness.workdir import WorkDir
from loadtests import values
from loadtests.results import PERCENTILES, Measurement

MAIN = K6_MODULE / "main.js"
ROWS = 100
STALL_SECONDS = 0.3
TABLES = f"""
CREATE TABLE people (id bigint PRIMARY KEY, name text, email text, ssn text, phone text);
INSERT INTO people SELECT n, 'name ' || n, email(n), ssn(n), phone(n) FROM generate_series(1, {ROWS}) AS n;
CREATE TABLE added (LIKE people INCLUDING ALL);
CREATE TABLE changed (LIKE people INCLUDING ALL, generation int NOT NULL DEFAULT 0);
-- Its first row is sent, then the server fails.
CREATE VIEW broken AS SELECT * FROM people UNION ALL SELECT id, (1 / (id - id))::text, email, ssn, phone FROM people;
-- Each twentieth row is slow.
CREATE VIEW stalls AS SELECT * FROM people
WHERE CASE WHEN id % 20 = 0 THEN pg_sleep({STALL_SECONDS})::text IS NOT NULL ELSE true END;
"""
WAYS = (("pgx", "prepared"), ("pgx", "extended"), ("pgx", "simple"), ("postgres", "extended"))


@dataclass
class Done:
    status: int
    output: str
    result: dict


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    work = WorkDir()
    server = Postgres(work)
    server.start()
    try:
        with server.connect() as connection:
            connection.execute(values.SQL)
            connection.execute(TABLES)
        yield server
    finally:
        server.stop()
        work.remove()


@pytest.fixture
def work(postgres: Postgres, tmp_path: Path) -> Callable[..., dict]:
    def document(**changes: object) -> dict:
        host = f"host='{postgres.socket_dir}' port={postgres.port} user=postgres dbname=postgres sslmode=disable"
        return {
            "script": "point-read",
            "driver": "pgx",
            "mode": "prepared",
            "dsn": host,
            "data": {"rows": ROWS, "table": "people"},
            "workload": fixed(1, 10),
            "warm_up_seconds": 0.05,
            "processes": {"server": [f"tree:{postgres.process.pid}"], "client": ["self"]},
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


def k6(folder: Path, *words: str, document: dict, script: Path = MAIN) -> subprocess.CompletedProcess[str]:
    path = folder / "work.json"
    path.write_text(json.dumps(document))
    command = [K6, *words, "--env", f"WORK={path}", script]
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=patience(),
    )


def fixed(clients: int, operations: int) -> dict:
    return {"kind": "fixed", "clients": clients, "operations": operations, "seconds": 0, "rate": 0}


def timed(kind: str, clients: int, rate: float = 0) -> dict:
    return {"kind": kind, "clients": clients, "seconds": 1, "rate": rate, "operations": 0}


@pytest.mark.parametrize(
    "workload", [fixed(2, 20), timed("closed", 2), timed("arrival", 2, 100)], ids=lambda it: it["kind"]
)
def test_result_is_a_measurement(run: Callable, work: Callable, workload: dict) -> None:
    done = run(work(workload=workload))
    assert done.status == 0, done.output
    measured = msgspec.convert({**done.result, "target": "direct", "round": 1}, Measurement)
    assert set(measured.latency_us) == set(measured.sql_us) == {"min", *PERCENTILES, "max"}
    # Each call is one statement, and what the script does about it.
    for name in measured.sql_us:
        assert 0 < measured.sql_us[name] <= measured.latency_us[name] * 1.000001, name
    assert measured.operations > 0
    assert measured.seconds > 0
    assert measured.answers >= measured.operations
    assert (measured.wrong_answers, measured.errors, done.result["failures"]) == (0, 0, [])
    assert measured.usage["server"].cpu_seconds > 0
    assert measured.usage["client"].resident_bytes > 0
    assert done.result["began"] < done.result["ended"]
    calls, statements = (done.result[name]["counts"].values() for name in ("histogram", "sql_histogram"))
    assert sum(calls) == sum(statements) > 0


@pytest.mark.parametrize("way", WAYS, ids="-".join)
@pytest.mark.parametrize("script", ["point-read", "equality", "insert", "update"])
def test_each_script_in_each_way(
    run: Callable, work: Callable, postgres: Postgres, script: str, way: tuple[str, str]
) -> None:
    with postgres.connect() as connection:
        connection.execute("TRUNCATE added, changed; INSERT INTO changed TABLE people")
    table = {"insert": "added", "update": "changed"}.get(script, "people")
    driver, mode = way
    data = {"rows": ROWS, "table": table}
    done = run(work(script=script, driver=driver, mode=mode, data=data, workload=fixed(2, 40)))
    assert done.status == 0, done.output
    assert (done.result["operations"], done.result["answers"]) == (40, 40)
    with postgres.connect() as connection:
        if script == "insert":
            wanted = "SELECT n, 'name ' || n, email(n), ssn(n), phone(n) FROM generate_series(1, 40) AS n"
            assert connection.execute(f"TABLE added EXCEPT {wanted}").fetchall() == []
            assert connection.execute("SELECT count(*) FROM added").fetchone() == (40,)
        if script == "update":
            assert connection.execute("SELECT sum(generation) FROM changed").fetchone() == (40,)
            state = f"id + generation * {values.VERSION}"
            wrong = f"(email, ssn, phone) <> (email({state}), ssn({state}), phone({state}))"
            assert connection.execute(f"SELECT count(*) FROM changed WHERE {wrong}").fetchone() == (0,)


def test_one_wrong_value_fails_the_run_and_is_not_told(run: Callable, work: Callable, postgres: Postgres) -> None:
    with postgres.connect() as connection:
        connection.execute("UPDATE people SET phone = 'wrong-4711' WHERE id = 7")
        try:
            done = run(work(workload=fixed(1, ROWS)))
        finally:
            connection.execute("UPDATE people SET phone = phone(id) WHERE id = 7")
    assert done.status != 0
    assert (done.result["answers"], done.result["wrong_answers"], done.result["errors"]) == (ROWS, 1, 0)
    assert done.result["failures"] == ["wrong answer: the row by its key"]
    assert "4711" not in done.output


def test_answer_that_breaks_off_is_an_error(run: Callable, work: Callable) -> None:
    for driver, mode in WAYS:
        done = run(work(driver=driver, mode=mode, data={"rows": ROWS, "table": "broken"}))
        assert done.status != 0
        assert (done.result["errors"], done.result["answers"]) == (1, 0), done.output
        assert done.result["failures"] == ["SQLSTATE 22012: division by zero"]


def test_server_that_is_not_there_is_an_error_without_the_password(run: Callable, work: Callable) -> None:
    done = run(work(dsn="host=/no/such/folder user=app password=hunter2"))
    assert done.status != 0
    assert done.result["errors"] == 1
    assert "connect" in done.result["failures"][0]
    assert "hunter2" not in done.output + str(done.result)


def test_script_that_fails_is_an_error(run: Callable, work: Callable) -> None:
    done = run(work(data=None))
    assert done.status != 0
    assert done.result["errors"] == 1
    assert "the script: TypeError" in done.result["failures"][0]


def test_process_that_is_not_there_fails_the_run(run: Callable, work: Callable) -> None:
    done = run(work(processes={"proxy": ["pid:2147483647"]}))
    assert done.status != 0
    assert done.result == {}
    assert "pid:2147483647" in done.output


def test_result_can_go_to_standard_output(work: Callable, tmp_path: Path) -> None:
    done = k6(tmp_path, "run", "--quiet", "--log-output", "none", "--address", "", document=work(result="stdout"))
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    assert len(lines) == 1
    assert json.loads(lines[0])["operations"] == 10


def test_instances_share_the_work(work: Callable, postgres: Postgres, tmp_path: Path) -> None:
    with postgres.connect() as connection:
        connection.execute("TRUNCATE added")
    data = {"rows": ROWS, "table": "added"}
    found = []
    for part in ("0:1/3", "1/3:1"):
        document = work(script="insert", data=data, workload=fixed(3, 20))
        segment = ("--execution-segment", part, "--execution-segment-sequence", "0,1/3,1")
        done = k6(tmp_path, "run", "--quiet", "--address", "", *segment, document=document)
        assert done.returncode == 0, done.stdout
        found.append(json.loads(Path(document["result"]).read_text())["operations"])
    assert (sum(found), len(found)) == (20, 2)
    assert min(found) > 0
    with postgres.connect() as connection:
        assert connection.execute("SELECT count(*), max(id) FROM added").fetchone() == (20, 20)


def test_arrivals_are_shared_too(work: Callable, tmp_path: Path) -> None:
    document = work(workload=timed("arrival", 2, 200))
    segment = ("--execution-segment", "0:1/2", "--execution-segment-sequence", "0,1/2,1")
    done = k6(tmp_path, "run", "--quiet", "--address", "", *segment, document=document)
    assert done.returncode == 0, done.stdout
    result = json.loads(Path(document["result"]).read_text())
    # Each that was due in the window's second, done or dropped.
    assert sum(result["histogram"]["counts"].values()) + result["dropped"] == 100


def test_stall_is_in_the_latency_of_what_was_due_meanwhile(run: Callable, work: Callable) -> None:
    done = run(work(workload=timed("arrival", 1, 100), data={"rows": ROWS, "table": "stalls"}))
    assert done.status == 0, done.output
    # Five calls of a hundred take as long as thirty arrivals, so all after the first of them waited in line, the last
    # for longer than one such call takes; none was left out.
    assert done.result["latency_us"]["90"] > STALL_SECONDS * 1e6
    assert done.result["dropped"] == 0
    assert sum(done.result["histogram"]["counts"].values()) == 100


def test_session_is_no_statement(run: Callable, work: Callable) -> None:
    done = run(work(script="session", workload=fixed(1, 3)))
    assert done.status == 0, done.output
    assert (done.result["operations"], done.result["sql_us"]) == (3, {})


def test_archive_runs_as_the_script_does(work: Callable, tmp_path: Path) -> None:
    archive = tmp_path / "archive.tar"
    document = work()
    done = k6(tmp_path, "archive", "--archive-out", str(archive), document=document)
    assert done.returncode == 0, done.stdout
    done = k6(tmp_path, "run", "--quiet", "--address", "", document=document, script=archive)
    assert done.returncode == 0, done.stdout
    assert json.loads(Path(document["result"]).read_text())["operations"] == 10


def test_script_is_inspected_without_a_server(work: Callable, tmp_path: Path) -> None:
    done = k6(tmp_path, "inspect", document=work(dsn="host=/no/such/folder", workload=timed("closed", 5)))
    assert done.returncode == 0, done.stdout
    assert json.loads(done.stdout)["scenarios"]["work"]["vus"] == 5


def told(tmp_path: Path, document: dict, body: str) -> object:
    """What a script of one iteration returns. It has the work, and the connection `db`."""
    out, script = tmp_path / "out.json", tmp_path / "script.js"
    script.write_text(
        f"""
        import fieldveil from "k6/x/fieldveil";
        import sql from "k6/x/sql";
        import pgx from "k6/x/sql/driver/pgx";
        import * as values from "{K6_MODULE / "lib" / "values.js"}";
        const work = JSON.parse(open(__ENV.WORK));
        export function setup() {{ const db = fieldveil.open(work); {body} }}
        export default function () {{}}
        export function handleSummary(data) {{ return {{ "{out}": JSON.stringify(data.setup_data) }} }}
        """
    )
    done = k6(tmp_path, "run", "--quiet", "--address", "", document=document, script=script)
    assert done.returncode == 0, done.stdout
    return json.loads(out.read_text())


def test_statements_of_a_transaction_go_to_one_connection(work: Callable, tmp_path: Path) -> None:
    counts = told(
        tmp_path,
        work(),
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


@pytest.mark.parametrize("way", WAYS, ids="-".join)
def test_cells_are_the_same_in_each_way(work: Callable, tmp_path: Path, way: tuple[str, str]) -> None:
    driver, mode = way
    row = told(
        tmp_path,
        work(driver=driver, mode=mode),
        """
        return db.query(`SELECT 7 AS number, 9007199254740993 AS great, 1.50::numeric AS exact, 0.25::float8 AS float,
            'text' AS text, true AS yes, NULL AS none, date '2024-02-29' AS day, time '13:14:15.5' AS hour,
            timestamp '2024-02-29 13:14:15.5' AS moment, timestamptz '2024-02-29 13:14:15+01' AS instant,
            decode('0aff', 'hex') AS bytes, '{"a": 1}'::jsonb AS json,
            'b5b1b8a0-2a4e-4e34-8a6a-1d5f8d0f2a11'::uuid AS uuid`);
        """,
    )
    assert row == [
        {
            "number": 7, "great": "9007199254740993", "exact": "1.50", "float": 0.25, "text": "text", "yes": True,
            "none": None, "day": "2024-02-29", "hour": "13:14:15.5",
            "moment": "2024-02-29 13:14:15.5", "instant": "2024-02-29 12:14:15+00",
            "bytes": "\\x0aff", "json": '{"a": 1}', "uuid": "b5b1b8a0-2a4e-4e34-8a6a-1d5f8d0f2a11",
        }
    ]  # fmt: skip


@pytest.mark.parametrize("way", WAYS, ids="-".join)
def test_digest_is_of_text_in_order(work: Callable, tmp_path: Path, way: tuple[str, str]) -> None:
    driver, mode = way
    statement = "SELECT name, id, NULLIF(id, 2) AS odd FROM people WHERE id <= $1 ORDER BY id"
    document = work(driver=driver, mode=mode)
    found = told(tmp_path, document, f"return db.digest('{statement}', ['id', 'name', 'odd'], 3);")
    text = "1\x1fname 1\x1f1\x1f\n2\x1fname 2\x1f\0\x1f\n3\x1fname 3\x1f3\x1f\n"
    assert found == {"rows": 3, "digest": hashlib.sha256(text.encode()).hexdigest()}


def test_copy_out_and_in_again(work: Callable, tmp_path: Path) -> None:
    path = tmp_path / "rows"
    out, back, rows = told(
        tmp_path,
        work(),
        f"""
        db.exec("CREATE TEMPORARY TABLE copied (LIKE people)");
        const out = db.copyOut("COPY (SELECT * FROM people ORDER BY id) TO STDOUT", "{path}");
        const back = db.copyIn("COPY copied FROM STDIN", "{path}");
        return [out, back, db.query("SELECT count(*) AS n FROM (TABLE copied INTERSECT TABLE people) AS same")[0].n];
        """,
    )
    content = path.read_bytes()
    assert out == {"rows": ROWS, "bytes": len(content), "digest": hashlib.sha256(content).hexdigest()}
    assert (back, rows) == ({"rows": ROWS, "bytes": len(content)}, ROWS)


def test_session_command_and_xk6_sql(work: Callable, tmp_path: Path) -> None:
    micros, command, rows = told(
        tmp_path,
        work(),
        f"""
        const command = fieldveil.command(["{sys.executable}", "-c", "print(6 * 7)"]);
        return [fieldveil.session(work), command, sql.open(pgx, work.dsn).query("SELECT 7 AS n")];
        """,
    )
    assert micros > 0
    assert command["stdout"] == "42\n"
    assert rows == [{"n": 7}]


def test_values_are_the_same_in_all_languages(work: Callable, tmp_path: Path, postgres: Postgres) -> None:
    numbers = [0, 1, 7, 1234, 99_999, 1_000_000, 123_456_789, 999_999_999_999]
    calls = "values.digits(n, 4), values.ssn(n), values.email(n), values.phone(n), values.text(n, 27)"
    script = told(tmp_path, work(), f"return {numbers}.map((n) => [{calls}]);")
    python = [
        [values.digits(n, 4), values.ssn(n), values.email(n), values.phone(n), values.text(n, 27)] for n in numbers
    ]
    with postgres.connect() as connection:
        select = "SELECT digits(n, 4), ssn(n), email(n), phone(n), text_of(n, 27) FROM unnest(%s::bigint[]) AS n"
        database = [list(row) for row in connection.execute(select, [numbers])]
    assert script == python == database
