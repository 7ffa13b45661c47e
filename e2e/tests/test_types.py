"""Each declared type behaves as the server's own type does: the twin table is the judge."""

import psycopg
import pytest
from psycopg import generators, pq, waiting

from harness import Stack
from tests import unblocked
from tests.sample import DATABASE, SAMPLES, SEALED, TWIN, Sample

TEXT, BINARY = pq.Format.TEXT, pq.Format.BINARY
CASES = [
    pytest.param(sample, value, id=f"{sample.column}-{number}")
    for sample in SAMPLES
    for number, value in enumerate(sample.values)
]


def run(
    connection: psycopg.Connection, text: str, values: list, *, type_oid: int = 0, sent: int = TEXT, wanted: int = TEXT
) -> pq.PGresult:
    """One statement by the extended protocol, nothing converted by the driver."""
    result = connection.pgconn.exec_params(
        text.encode(), values, [type_oid] * len(values), [sent] * len(values), wanted
    )
    assert result.status in (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK), result.error_message.decode()
    return result


def describe(connection: psycopg.Connection, name: bytes) -> pq.PGresult:
    """Describes a prepared statement."""
    connection.pgconn.send_describe_prepared(name)
    (result,) = unblocked.results(connection.pgconn)
    return result


def described(result: pq.PGresult) -> tuple:
    return result.ftype(0), result.fsize(0), result.fmod(0), result.fformat(0)


@pytest.fixture(scope="module")
def sealed(stack: Stack):
    with stack.connect("app", DATABASE) as connection:
        yield connection


@pytest.fixture(scope="module")
def twin(stack: Stack):
    with stack.direct("postgres", DATABASE) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


def insert(connection: psycopg.Connection, table: str, sample: Sample, value: bytes, **how: int) -> bytes:
    return run(connection, f"INSERT INTO {table} ({sample.column}) VALUES ($1) RETURNING id", [value], **how).get_value(
        0, 0
    )


@pytest.mark.parametrize(("sample", "value"), CASES)
def test_text_value_comes_back_as_the_server_would_give_it(sealed, twin, sample: Sample, value: str) -> None:
    ids = [insert(connection, table, sample, value.encode()) for connection, table in ((sealed, SEALED), (twin, TWIN))]
    for wanted in (TEXT, BINARY):
        got, expected = (
            run(connection, f"SELECT {sample.column} FROM {table} WHERE id = $1", [row], wanted=wanted)
            for connection, table, row in ((sealed, SEALED, ids[0]), (twin, TWIN, ids[1]))
        )
        assert got.get_value(0, 0) == expected.get_value(0, 0)
        assert described(got) == described(expected)


@pytest.mark.parametrize(("sample", "value"), CASES)
def test_binary_value_comes_back(sealed, twin, sample: Sample, value: str) -> None:
    row = insert(twin, TWIN, sample, value.encode())
    expected = run(twin, f"SELECT {sample.column} FROM {TWIN} WHERE id = $1", [row], wanted=BINARY)
    binary, oid = expected.get_value(0, 0), expected.ftype(0)
    sealed_row = insert(sealed, SEALED, sample, binary, type_oid=oid, sent=BINARY)
    got = run(sealed, f"SELECT {sample.column} FROM {SEALED} WHERE id = $1", [sealed_row], wanted=BINARY)
    assert got.get_value(0, 0) == binary


@pytest.mark.parametrize(("sample", "value"), [(sample, sample.values[0]) for sample in SAMPLES if sample.values[0]])
def test_literal_in_a_simple_query_comes_back(sealed, twin, sample: Sample, value: str) -> None:
    literal = psycopg.sql.Literal(value).as_string(sealed)
    ids = []
    for connection, table in ((sealed, SEALED), (twin, TWIN)):
        text = f"INSERT INTO {table} ({sample.column}) VALUES ({literal}) RETURNING id, {sample.column}"
        result = connection.pgconn.exec_(text.encode())
        assert result.status == pq.ExecStatus.TUPLES_OK, result.error_message.decode()
        ids.append(result.get_value(0, 1))
    assert ids[0] == ids[1]


def test_parameters_are_described_by_their_declared_types(sealed, twin) -> None:
    columns = [sample.column for sample in SAMPLES]
    numbers = ", ".join(f"${number}" for number in range(1, len(columns) + 1))
    kinds = []
    for connection, table in ((sealed, SEALED), (twin, TWIN)):
        text = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({numbers})"
        assert connection.pgconn.prepare(b"described", text.encode()).status == pq.ExecStatus.COMMAND_OK
        # Waiting in Python: libpq's own waiting would hold up the relay, which is a thread of this process.
        connection.pgconn.send_describe_prepared(b"described")
        [result] = waiting.wait(generators.execute(connection.pgconn), connection.pgconn.socket)
        kinds.append([result.param_type(number) for number in range(result.nparams)])
    assert kinds[0] == kinds[1]


def test_deterministic_values_are_found_however_they_are_written(sealed) -> None:
    by_type = {sample.type: sample.column for sample in SAMPLES if sample.protection == "deterministic"}
    sealed.execute(f"INSERT INTO {SEALED} ({by_type['int4']}) VALUES (1234567)")
    uuid = "c56a4180-65aa-42ec-a945-5fd21dec0538"
    sealed.execute(f"INSERT INTO {SEALED} ({by_type['uuid']}) VALUES (%s)", [uuid])
    int4 = by_type["int4"]
    assert sealed.execute(f"SELECT {int4} FROM {SEALED} WHERE {int4} = 1234567").fetchone() == (1234567,)
    assert sealed.execute(f"SELECT {int4} FROM {SEALED} WHERE {int4} = %b", [1234567]).fetchone() == (1234567,)
    found = sealed.execute(f"SELECT id FROM {SEALED} WHERE {by_type['uuid']} = '{uuid.upper()}'").fetchall()
    assert len(found) == 1


@pytest.mark.parametrize(
    ("type_", "value"),
    [("int2", "32768"), ("date", "02/03/2024"), ("uuid", "not one"), ("varchar(10)", "eleven chars")],
)
def test_value_that_is_not_of_the_declared_type_is_refused(sealed, type_: str, value: str) -> None:
    column = next(sample.column for sample in SAMPLES if sample.type == type_)
    with pytest.raises(psycopg.DataError) as refused:
        sealed.execute(f"INSERT INTO {SEALED} ({column}) VALUES (%s)", [value])
    assert f"public.{SEALED}.{column}" in str(refused.value)
    assert value not in str(refused.value)


def test_year_mask_gives_dates(stack: Stack, sealed) -> None:
    column = next(sample.column for sample in SAMPLES if sample.type == "date")
    row = sealed.execute(f"INSERT INTO {SEALED} ({column}) VALUES ('1980-05-17') RETURNING id").fetchone()[0]
    with stack.connect("support", DATABASE) as support:
        got = support.execute(f"SELECT {column} FROM {SEALED} WHERE id = %s", [row]).fetchone()[0]
    assert got.isoformat() == "1980-01-01"
