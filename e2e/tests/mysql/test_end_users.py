"""End users behind one user of MySQL's protocol: who they are decides what they read, statement by statement."""

import contextlib
import struct
from collections.abc import Iterator

import pymysql
import pytest
from pymysql.constants import CLIENT

from harness import shop
from harness.mysql_builds import MYSQL, OLDER, Build
from harness.waiting import patience, until
from tests.mysql.asking import ask, change, refusal
from tests.mysql.people import MySqlPeople, identify, read, ssn
from tests.mysql.test_connecting import connector
from tests.policies.people import CARD, DATABASE, MASKED_SSN, NOTES, SEALED, SSN, shown

NO_TOKEN = 1045
NOT_SUPPORTED = 1235


@pytest.fixture(scope="module", params=(OLDER, MYSQL), ids=lambda build: build.name)
def people(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MySqlPeople]:
    build: Build = request.param
    if not build.is_there:
        pytest.skip(f"no {build.name} for this machine: see dev/setup/servers.py")
    running = MySqlPeople(tmp_path_factory.mktemp("policies"), build)
    yield running
    running.stack.stop()


def test_tokens_decide_on_one_session(people: MySqlPeople) -> None:
    with people.connect() as app:
        assert ssn(app) == SEALED
        identify(app, people.token("support"))
        assert ssn(app) == SSN
        identify(app, people.token("clerk", subject="bob"))
        assert ssn(app) == MASKED_SSN
        identify(app, people.token("nobody", subject="eve"))
        assert ssn(app) == SEALED
        identify(app, people.token("support"))
        change(app, "SET @fieldveil_token = NULL")
        assert ssn(app) == SEALED


def test_end_of_a_transaction_leaves_the_token(people: MySqlPeople) -> None:
    """As every variable of a session: MySQL has none of a transaction's own."""
    with people.connect() as app:
        app.begin()
        identify(app, people.token("clerk"))
        app.rollback()
        assert ssn(app) == MASKED_SSN


def test_token_of_one_session_is_no_other_sessions(people: MySqlPeople) -> None:
    with people.connect() as one, people.connect() as other:
        identify(one, people.token("support"))
        assert (ssn(one), ssn(other)) == (SSN, SEALED)


@pytest.mark.parametrize("prepared", [False, True], ids=["text", "prepared"])
def test_statement_that_was_prepared_for_one_is_executed_for_the_next(people: MySqlPeople, prepared: bool) -> None:
    app = connector(people.stack, database=DATABASE)
    with app.cursor() as says, app.cursor(prepared=prepared) as cursor:
        for roles, expected in (("support", SSN), ("clerk", MASKED_SSN), ("support", SSN)):
            says.execute(f"SET @fieldveil_token = '{people.token(roles)}'")
            cursor.execute("SELECT ssn FROM person WHERE id = %s", (1,))
            assert cursor.fetchall() == [(expected,)]
    app.close()


def test_session_that_is_reset_is_nobodys(people: MySqlPeople) -> None:
    app = connector(people.stack, database=DATABASE)
    for clear in (app.cmd_reset_connection, lambda: app.cmd_change_user("app", shop.PASSWORD, DATABASE)):
        with app.cursor() as cursor:
            cursor.execute(f"SET @fieldveil_token = '{people.token('support')}', @fieldveil_purpose = 'refund'")
            cursor.execute("SELECT ssn, card FROM person")
            assert cursor.fetchall() == [(SSN, CARD)]
        clear()
        with app.cursor() as cursor:
            cursor.execute(f"SELECT ssn, card FROM {DATABASE}.person")
            (row,) = cursor.fetchall()
            assert all(value.startswith("fv1.") for value in row)
    app.close()


def test_token_expires_on_the_open_session(people: MySqlPeople) -> None:
    with people.connect() as app:
        identify(app, people.token("support", lasts=patience(4)))
        assert ssn(app) == SSN
        told = []

        def refused() -> bool:
            try:
                assert ssn(app) == SSN
            except pymysql.MySQLError as error:
                told.append(error.args)
            return bool(told)

        until(refused)
        number, text = told[0]
        assert (number, "token" in text) == (NO_TOKEN, True)
        assert ask(app, "SELECT id FROM person") == [(1,)]
        identify(app, people.token("clerk"))
        assert ssn(app) == MASKED_SSN


@pytest.mark.parametrize("token", ["not a token", "eyJhbGciOiJub25lIn0.e30.", "expired", "other key"])
def test_token_that_is_not_valid_refuses_what_is_protected(people: MySqlPeople, token: str) -> None:
    tokens = {
        "expired": people.token("support", lasts=-10),
        "other key": type(people.issuer)().token("ada", roles=["support"]),
    }
    with people.connect() as app:
        identify(app, tokens.get(token, token))
        number, text = refusal(app, "SELECT ssn FROM person")
        assert (number, "@fieldveil_token" in text) == (NO_TOKEN, True)
        assert tokens.get(token, token) not in text
        assert ask(app, "SELECT id FROM person") == [(1,)]
        change(app, "SET @fieldveil_token = NULL")
        assert ssn(app) == SEALED


def test_word_of_another_session_is_refused(people: MySqlPeople) -> None:
    with people.connect() as other, people.connect() as app:
        identify(other, people.token("support"))
        ((word,),) = ask(other, "SELECT @fieldveil_token")
        assert word.startswith("fieldveil-")
        identify(app, word)
        assert refusal(app, "SELECT ssn FROM person")[0] == NO_TOKEN


def test_purpose_decides(people: MySqlPeople) -> None:
    with people.connect() as app:
        assert read(app)[1] == SEALED
        change(app, "SET @fieldveil_purpose = 'refund'")
        assert read(app)[1] == CARD
        change(app, "SET @fieldveil_purpose = 'marketing'")
        assert read(app)[1] == SEALED
    with people.connect(program_name="orders;fieldveil.purpose=refund") as app:
        assert read(app)[1] == CARD


def test_comment_speaks_for_its_statement_alone(people: MySqlPeople) -> None:
    comment = f" /*fieldveil.purpose='refund',fieldveil.token='{people.token('support')}'*/"
    with people.connect() as app:
        for _ in range(2):
            assert read(app, comment) == (SSN, CARD, SEALED)
            assert read(app) == (SEALED, SEALED, SEALED)
        assert refusal(app, "SELECT ssn FROM person /*fieldveil.purpose=refund*/")[0] == NOT_SUPPORTED


def test_role_is_seen(people: MySqlPeople) -> None:
    with people.connect() as app:
        assert read(app)[2] == SEALED
        change(app, "SET ROLE reporting")
        assert read(app)[2] == NOTES
        change(app, "SET ROLE NONE")
        assert read(app)[2] == SEALED


def test_text_that_sets_the_token_and_reads_is_refused(people: MySqlPeople) -> None:
    with people.connect(client_flag=CLIENT.MULTI_STATEMENTS) as app:
        text = f"SET @fieldveil_token = '{people.token('support')}'; SELECT ssn FROM person"
        assert refusal(app, text)[0] == NOT_SUPPORTED
        assert ssn(app) == SEALED


def test_token_stands_nowhere(people: MySqlPeople) -> None:
    token = people.token("support", subject="canary")
    people.stack.relay.forget()
    with people.connect() as app:
        for text in (
            f"SET @fieldveil_token = '{token}'",
            f"SET autocommit = 1, @`fieldveil_token` := '{token}', @x = 1",
            f'SET @fieldveil_token="{token}"',
            f"SELECT 1 /*fieldveil.token='{token}'*/",
            f"SET @'field\\veil_token' = '{token}'",
        ):
            change(app, text)
            change(app, f"SET @fieldveil_token = '{token}'")
            assert ssn(app) == SSN
        change(app, "SET @fieldveil_token = NULL")
        change(app, "SET NAMES latin1")
        identify(app, token)
        change(app, "SET NAMES utf8mb4")
        assert ssn(app) == SSN
        for text in (
            f"SET @fieldveil_token = CONCAT('', '{token}')",
            f"SET GLOBAL init_connect = 'SET @fieldveil_token = \\'{token}\\''",
            f"SELECT @fieldveil_token := '{token}'",
            f"SELECT '{token}' INTO @fieldveil_token",
            f"PREPARE s FROM 'SET @fieldveil_token = ''{token}'''",
            f"SELECT 1 -- fieldveil.token='{token}'",
            f"SET @fïeldveil_token = '{token}'",
            f"SET @`FIELDVEIL_TOKÉN ` = '{token}'",
            f"SET /*!50000 @fieldveil_token */ = '{token}'",
            f"PREPARE s FROM 'SET @fïeldveil_token = ''{token}'''",
            "CREATE TABLE kept AS SELECT @fieldveil_token AS word",
        ):
            assert token not in refusal(app, text)[1]
    prepared = connector(people.stack, database=DATABASE)
    with prepared.cursor(prepared=True) as cursor:
        cursor.execute("SET @fieldveil_token = %s", (token,))
        cursor.execute("SELECT ssn FROM person")
        assert cursor.fetchall() == [(SSN,)]
    prepared.close()
    with people.stack.connect("app", "plain") as plain:
        identify(plain, token)
        ask(plain, "SELECT 1")
    # A part of it would be too much.
    parts = [part.encode() for part in token.split(".")[1:]]
    assert not any(part in people.stack.relay.to_server() for part in parts)
    assert b"fieldveil-" in people.stack.server.general_log.read_bytes(), "the log is there, and has the words"
    for path in people.stack.work.path.rglob("*"):
        if path.is_file() and "opa" not in path.name:
            content = path.read_bytes()
            assert not any(part in content for part in parts), path


@pytest.mark.parametrize(
    ("name", "to_mariadb"),
    [
        ("FIELDVEIL_Token", True),
        ("'field\\veil_token'", True),
        ("fïeldveil_token", False),
        ("`FIELDVEIL_TOKÉN`", False),
    ],
)
def test_name_that_a_server_takes_for_the_tokens_is_known(people: MySqlPeople, name: str, to_mariadb: bool) -> None:
    with people.stack.direct() as direct:
        change(direct, f"SET @{name} = 'canary'")
        ((token, version),) = ask(direct, "SELECT @fieldveil_token, VERSION()")
        assert (token == "canary") is (to_mariadb or "MariaDB" not in version)
    people.stack.relay.forget()
    # Refused, or its value replaced.
    with people.connect() as app, contextlib.suppress(pymysql.MySQLError):
        change(app, f"SET @{name} = 'canary'")
    assert b"canary" not in people.stack.relay.to_server()


def open_cursor(app: pymysql.Connection, statement: str) -> int:
    """A cursor of a prepared statement of one column; its number."""
    app._execute_command(0x16, statement)
    number = int.from_bytes(app._read_packet().get_all_data()[1:5], "little")
    packets_of_one_definition = 2
    for _ in range(packets_of_one_definition):
        app._read_packet()
    app._execute_command(0x17, struct.pack("<IBI", number, 1, 1))
    for _ in range(1 + packets_of_one_definition):
        app._read_packet()
    return number


def fetch(app: pymysql.Connection, number: int) -> str:
    """The next row of its cursor."""
    app._execute_command(0x1C, struct.pack("<II", number, 1))
    row = app._read_packet().get_all_data()
    app._read_packet()
    before_the_value = 3
    return row[before_the_value:].decode()


def test_rows_of_a_cursor_are_for_whom_they_are_fetched(people: MySqlPeople) -> None:
    with people.connect() as app:
        change(app, "INSERT INTO person SELECT id + 1, ssn, card, notes FROM person")
        change(app, "INSERT INTO person SELECT id + 2, ssn, card, notes FROM person")
        try:
            identify(app, people.token("support"))
            cursor = open_cursor(app, "SELECT ssn FROM person ORDER BY id")
            assert fetch(app, cursor) == SSN
            identify(app, people.token("clerk"))
            assert fetch(app, cursor) == MASKED_SSN
            identify(app, people.token("support"))
            assert fetch(app, cursor) == SSN
            change(app, "SET @fieldveil_token = NULL")
            assert shown((fetch(app, cursor),)) == (SEALED,)
        finally:
            change(app, "DELETE FROM person WHERE id > 1")
