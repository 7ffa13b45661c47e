"""What bit projects that do a like job, a test for each, told by its name."""

import subprocess
from collections.abc import Iterator

import psycopg
import pytest

from canary.client import Client, Outcome
from canary.steps import PREPARED, UNNAMED, Parameter, Script, Step
from harness import Stack
from harness.waiting import patience
from tests import sample
from tests.rows import ADA, ALAN, COLUMNS, INSERT, LIST, SELECT

NOT_SUPPORTED = "0A000"
SECRET = "987-65-4320"


@pytest.fixture
def app(shop: Stack) -> Iterator[psycopg.Connection]:
    with shop.connect("app") as connection:
        connection.execute(INSERT, ADA)
        yield connection


@pytest.fixture
def client(app: psycopg.Connection) -> Client:
    """The same session, nothing converted."""
    return Client(app)


def stored(stack: Stack, columns: str = LIST) -> list[tuple]:
    with stack.direct() as direct:
        return direct.execute(f"SELECT {columns} FROM customer ORDER BY id").fetchall()


def refused(outcomes: list[Outcome]) -> bool:
    return outcomes[-1].refused and outcomes[-1].code == NOT_SUPPORTED


def text(*values: str) -> list[Parameter]:
    return [Parameter(value.encode()) for value in values]


@pytest.mark.parametrize(
    "statement",
    [
        f"INSERT INTO customer VALUES (9, 'n', 'e@x', '{SECRET}', 'p', 'c', 'n', 'one too many')",
        f"INSERT INTO customer (id, ssn, nothing) VALUES (9, '{SECRET}', 'x')",
        f"INSERT INTO customer (id, ssn, ssn) VALUES (9, '{SECRET}', '{SECRET}')",
        f"INSERT INTO customer (id, name) VALUES (9, 'n', '{SECRET}')",
    ],
)
def test_lesson_01_an_insert_whose_columns_are_not_understood_is_not_forwarded(shop, client, statement) -> None:
    assert client.execute(statement)[-1].kind == "error"
    assert SECRET.encode() not in shop.relay.to_server()
    assert len(stored(shop)) == 1


def test_lesson_01_columns_in_another_order_are_the_catalogs(shop: Stack, app: psycopg.Connection) -> None:
    app.execute("INSERT INTO customer (notes, ssn, name, id) VALUES ('n', %s, 'plain', 9)", [SECRET])
    assert app.execute("SELECT ssn, notes, name FROM customer WHERE id = 9").fetchone() == (SECRET, "n", "plain")
    name, *sealed = stored(shop, "name, ssn, notes")[-1]
    assert (name, [value[:4] for value in sealed]) == ("plain", ["fv1.", "fv1."])


@pytest.mark.parametrize(
    "broken", ["INSERT INTO customer (id, ssn) VALUEZ (9, '{}')", "UPDATE customer SET ssn == '{}'"]
)
def test_lesson_02_a_text_that_does_not_parse_is_refused(shop: Stack, client: Client, broken: str) -> None:
    statement = broken.format(SECRET)
    assert refused(client.execute(statement))
    assert refused(client.run(Step("broken", statement, UNNAMED)))
    assert SECRET.encode() not in shop.relay.to_server()


def test_lesson_03_a_batch_of_many_executions_before_one_sync_is_stored_whole(shop: Stack, app, client) -> None:
    statement = "INSERT INTO customer (id, ssn) VALUES ($1, $2) RETURNING ssn"
    steps = [Step("batch", statement, UNNAMED, text(str(number), f"ssn-{number}")) for number in range(100, 400)]
    pid = shop.envoy.process.pid
    answers = client.run_pipelined(Script(steps, pipelined=True))
    assert [rows.rows[0][0] for [rows] in answers] == [f"ssn-{number}".encode() for number in range(100, 400)]
    assert (shop.envoy.process.running, shop.envoy.process.pid) == (True, pid)
    assert app.execute("SELECT count(*) FROM customer WHERE ssn = 'ssn-399'").fetchone() == (1,)


def test_lesson_04_parameters_returning_and_casts_are_sealed_and_opened(shop: Stack, app: psycopg.Connection) -> None:
    query = "INSERT INTO customer (id, ssn, email) VALUES (%s, %s::text, CAST(%s AS text)) RETURNING ssn, email AS mail"
    for number, binary in enumerate((False, True), 50):
        cursor = app.cursor(binary=binary)
        assert cursor.execute(query, [number, SECRET, "a@b"]).fetchone() == (SECRET, "a@b")
    assert SECRET.encode() not in shop.relay.to_server()


def test_lesson_05_a_refusal_keeps_its_place_among_answers_in_flight(client: Client) -> None:
    texts = ("SELECT ssn, pg_sleep(0.3) FROM customer", "SELECT upper(ssn) FROM customer", "SELECT ssn FROM customer")
    steps = [Step("in flight", statement, UNNAMED) for statement in texts]
    [slow], [refusal], [quick] = client.run_pipelined(Script(steps, pipelined=True), sync_each=True)
    assert (slow.kind, len(slow.rows[0]), slow.rows[0][0]) == ("rows", 2, ADA[3].encode())
    assert refused([refusal])
    assert quick.rows == ((ADA[3].encode(),),)


@pytest.mark.parametrize("new", ["EXCLUDED.ssn", f"'{SECRET}'", "$1"])
def test_lesson_06_an_upsert_stores_no_plaintext(shop: Stack, app, client: Client, new: str) -> None:
    statement = f"INSERT INTO customer (id, ssn) VALUES (1, '{SECRET}') ON CONFLICT (id) DO UPDATE SET ssn = {new}"
    answer = client.run(Step("upsert", statement, UNNAMED, text(SECRET) if new == "$1" else []))
    assert answer[-1].tag == "INSERT 0 1"
    assert app.execute("SELECT ssn FROM customer").fetchall() == [(SECRET,)]
    assert SECRET.encode() not in shop.relay.to_server()
    assert stored(shop, "ssn")[0][0].startswith("fv1.")


def test_lesson_07_a_table_of_the_same_name_in_another_schema_keeps_its_own_rules(shop: Stack, app) -> None:
    with shop.direct() as direct:
        direct.execute("DROP SCHEMA IF EXISTS lesson CASCADE")
        direct.execute("CREATE SCHEMA lesson CREATE TABLE customer (id bigint, ssn text)")
        direct.execute("GRANT ALL ON SCHEMA lesson TO app; GRANT ALL ON lesson.customer TO app")
        try:
            app.execute("INSERT INTO lesson.customer VALUES (1, 'open')")
            app.execute("SET search_path = lesson, public")
            app.execute("INSERT INTO customer VALUES (2, 'open too')")
            app.execute("INSERT INTO public.customer (id, ssn) VALUES (3, %s)", [SECRET])
            assert app.execute("SELECT ssn FROM customer ORDER BY id").fetchall() == [("open",), ("open too",)]
            assert direct.execute("SELECT left(ssn, 4) FROM public.customer WHERE id = 3").fetchone() == ("fv1.",)
        finally:
            direct.execute("DROP SCHEMA lesson CASCADE")


def test_lesson_08_the_unnamed_statement_takes_its_new_texts_rules(shop: Stack, app, client: Client) -> None:
    for number, (column, value) in enumerate(
        [("name", "open"), ("ssn", SECRET), ("name", "open"), ("card", SECRET)], 60
    ):
        statement = f"INSERT INTO customer (id, {column}) VALUES ($1, $2) RETURNING {column}"
        assert client.run(Step("again", statement, UNNAMED, text(str(number), value)))[-1].rows == ((value.encode(),),)
    assert [row[0] for row in stored(shop, "name") if row[0]] == [ADA[1], "open", "open"]
    assert SECRET.encode() not in shop.relay.to_server()


def test_lesson_09_memory_stays_bounded_while_statements_pass(shop: Stack, app: psycopg.Connection) -> None:
    def pass_statements(start: int, count: int) -> None:
        for batch in range(start, start + count, 500):
            with app.pipeline():
                for number in range(batch, batch + 500):
                    app.execute(f"SELECT ssn AS a_{number} FROM customer WHERE id = {number}", prepare=False)
        shop.relay.forget()

    # The caches fill first: they are bounded by their number of texts.
    pass_statements(0, 3000)
    before = shop.envoy.memory_bytes()
    pass_statements(3000, 12_000)
    # A leak of 1 KiB a statement would be 12 MiB.
    assert shop.envoy.memory_bytes() - before < 6 * 2**20


def test_lesson_10_types_sizes_and_modifiers_are_those_of_the_declared_type(stack: Stack) -> None:
    columns = [each.column for each in sample.SAMPLES]
    numbers = ", ".join(f"${number}" for number in range(1, len(columns) + 1))
    seen = []
    for user, table in (("app", sample.SEALED), ("app", sample.TWIN)):
        with stack.connect(user, sample.DATABASE) as connection:
            statement = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({numbers}) RETURNING {', '.join(columns)}"
            nothing = [Parameter(None)] * len(columns)
            _, described, rows, _ = Client(connection).run(Step("described", statement, PREPARED, nothing))
            seen.append((described.columns, rows.columns))
    assert seen[0] == seen[1]


@pytest.mark.parametrize(
    "test",
    [
        "ssn::text = $1", "CAST(ssn AS text) = $1", "ssn::varchar = $1", "ssn = $1::text", "ssn = $1::varchar",
        "ssn = $1::char(11)", "lower(ssn) = lower($1)", "ssn || '' = $1", "coalesce(ssn, '') = $1", "trim(ssn) = $1",
        "ssn COLLATE \"C\" = $1", "(ssn, id) = ($1, 1)", "ssn = ANY (ARRAY[$1])", "ssn ~~ $1", "ssn IN (SELECT $1)",
    ],
)  # fmt: skip
def test_lesson_11_an_equality_finds_its_row_or_is_refused_and_never_finds_none(client: Client, test: str) -> None:
    outcomes = client.run(Step("search", f"SELECT id FROM customer WHERE {test}", UNNAMED, text(ADA[3])))
    assert refused(outcomes) or outcomes[-1].rows == ((b"1",),)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT x.b FROM (SELECT id AS a, ssn AS b FROM customer) x WHERE x.a = 1",
        "SELECT y.c FROM (SELECT x.b AS c FROM (SELECT ssn AS b FROM customer WHERE id = 1) AS x) AS y",
        "SELECT b.ssn FROM customer a JOIN customer b ON a.email = b.email WHERE a.id = 1",
        "SELECT c.ssn AS name FROM public.customer AS c LEFT JOIN customer d ON d.ssn = c.ssn WHERE c.id = 1",
        "SELECT ssn FROM customer WHERE id IN (SELECT id FROM customer WHERE ssn = '078-05-1120')",
        "SELECT o.ssn FROM customer o WHERE EXISTS (SELECT 1 FROM customer i WHERE i.ssn = o.ssn AND i.id = 1)",
        "SELECT s FROM (SELECT DISTINCT ssn AS s FROM customer WHERE id = 1) AS t",
    ],
)
def test_lesson_12_columns_are_opened_through_subqueries_joins_and_aliases(app: psycopg.Connection, query: str) -> None:
    app.execute(INSERT, ALAN)
    assert app.execute(query).fetchall() == [(ADA[3],)]


def test_lesson_13_parameters_keep_their_numbers_and_their_count(shop: Stack, app, client: Client) -> None:
    statement = "UPDATE customer SET card = $3, name = $1, phone = $5, ssn = $2 WHERE id = $4"
    outcomes = client.run(Step("order", statement, PREPARED, text("open", SECRET, "card", "1", "phone")))
    kinds, _ = outcomes[1].columns
    assert (len(kinds), outcomes[-1].tag) == (5, "UPDATE 1")
    row = app.execute("SELECT name, ssn, card, phone FROM customer WHERE id = 1").fetchone()
    assert row == ("open", SECRET, "card", "phone")
    with shop.direct() as direct:
        assert len(direct.execute("SELECT * FROM customer").description) == len(COLUMNS)


def test_lesson_14_an_insert_without_a_column_list_is_sealed(shop: Stack, app: psycopg.Connection) -> None:
    app.execute("INSERT INTO customer VALUES (%s, %s, %s, %s, %s, %s, %s)", ALAN)
    app.execute(f"INSERT INTO customer VALUES (8, 'short', 'e@x', '{SECRET}')")
    assert app.execute(SELECT, [2]).fetchone() == ALAN
    assert app.execute("SELECT email, ssn, phone FROM customer WHERE id = 8").fetchone() == ("e@x", SECRET, None)
    assert SECRET.encode() not in shop.relay.to_server()


@pytest.mark.parametrize("test", ["ssn LIKE concat('%', $1::text)", "lower(ssn) LIKE lower($1)", "ssn ILIKE $1 || '%'"])
def test_lesson_14_like_with_functions_is_refused(shop: Stack, client: Client, test: str) -> None:
    assert refused(client.run(Step("like", f"SELECT id FROM customer WHERE {test}", UNNAMED, text(SECRET))))
    assert SECRET.encode() not in shop.relay.to_server()


def pg_dump(stack: Stack, user: str) -> str:
    command = [stack.postgres.program("pg_dump"), "--data-only", "--table", "customer", stack.dsn(user)]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=patience()).stdout


def test_lesson_15_pg_dump_gives_what_its_principal_sees_and_can_be_restored(shop: Stack, app) -> None:
    app.execute(INSERT, ALAN)
    assert not any(value in pg_dump(shop, "auditor") for value in (ADA[3], ADA[5], ALAN[2]))
    dumped = pg_dump(shop, "app")
    assert all(value in dumped for value in (ADA[3], ADA[5], ALAN[2]))
    assert "fv1." not in dumped
    with shop.direct() as direct:
        direct.execute("TRUNCATE customer")
    shop.relay.forget()
    subprocess.run(
        [shop.postgres.program("psql"), "--quiet", "--set", "ON_ERROR_STOP=1", "--no-psqlrc", shop.dsn("app")],
        input=dumped,
        capture_output=True,
        text=True,
        check=True,
        timeout=patience(),
    )
    assert app.execute(f"SELECT {LIST} FROM customer ORDER BY id").fetchall() == [ADA, ALAN]
    assert not any(value.encode() in shop.relay.to_server() for value in (ADA[3], ADA[5], ALAN[2]))


def test_lesson_17_an_envelope_longer_than_its_column_is_never_cut(shop: Stack, app: psycopg.Connection) -> None:
    with shop.direct() as direct:
        direct.execute("ALTER TABLE customer ADD COLUMN kept text")
        direct.execute("UPDATE customer SET kept = notes, notes = NULL")
        direct.execute("ALTER TABLE customer ALTER COLUMN notes TYPE varchar(20)")
        try:
            with shop.connect("app") as narrow:
                for statement in (
                    f"INSERT INTO customer (id, notes) VALUES (70, '{SECRET}')",
                    f"INSERT INTO customer (id, notes) VALUES (70, '{SECRET}'::varchar(20))",
                    f"UPDATE customer SET notes = '{SECRET}' WHERE id = 1",
                ):
                    with pytest.raises(psycopg.Error):
                        narrow.execute(statement)
            assert stored(shop, "id, notes") == [(1, None)]
            assert SECRET.encode() not in shop.relay.to_server()
        finally:
            direct.execute("ALTER TABLE customer ALTER COLUMN notes TYPE text")
            direct.execute("ALTER TABLE customer DROP COLUMN kept")
