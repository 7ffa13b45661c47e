"""End users behind one database user: who they are decides what they read, from one statement to the next."""

import json
import subprocess
from collections.abc import Iterator

import psycopg
import pytest

from dev.layout import PGX_CLIENT
from harness.waiting import patience, until
from tests.policies.people import CARD, MASKED_SSN, NOTES, SEALED, SSN, People, read, ssn


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[People]:
    running = People(tmp_path_factory.mktemp("policies"))
    yield running
    running.stack.stop()


def identify(connection: psycopg.Connection, token: str, scope: str = "SESSION") -> None:
    connection.execute(f"SET {scope} fieldveil.token = '{token}'")


def test_tokens_decide_on_one_session(people: People) -> None:
    with people.connect() as app:
        assert ssn(app) == SEALED
        identify(app, people.token("support"))
        assert ssn(app) == SSN
        identify(app, people.token("clerk"))
        assert ssn(app) == MASKED_SSN
        app.execute("RESET fieldveil.token")
        assert ssn(app) == SEALED


@pytest.mark.parametrize("prepare", [True, False], ids=["prepared", "unprepared"])
def test_token_by_set_config_in_a_parameter(people: People, prepare: bool) -> None:
    with people.connect() as app:
        for roles, expected in (("support", SSN), ("clerk", MASKED_SSN), ("nobody", SEALED), ("support", SSN)):
            app.execute("SELECT set_config('fieldveil.token', %s, false)", [people.token(roles)], prepare=prepare)
            assert ssn(app, prepare=prepare) == expected


def test_end_of_a_transaction_takes_the_token_back(people: People) -> None:
    with people.connect() as app:
        for end in ("COMMIT", "ROLLBACK"):
            app.execute("BEGIN")
            identify(app, people.token("support"), "LOCAL")
            assert ssn(app) == SSN
            app.execute(end)
            assert ssn(app) == SEALED
        app.execute("BEGIN")
        identify(app, people.token("clerk"))
        app.execute("ROLLBACK")
        assert ssn(app) == SEALED
        app.execute("BEGIN")
        identify(app, people.token("clerk"))
        app.execute("COMMIT")
        assert ssn(app) == MASKED_SSN


def test_savepoints_take_the_token_back(people: People) -> None:
    with people.connect() as app, app.transaction():
        identify(app, people.token("clerk"), "LOCAL")
        with app.transaction() as inner:
            identify(app, people.token("support"), "LOCAL")
            assert ssn(app) == SSN
            raise psycopg.Rollback(inner)
        assert ssn(app) == MASKED_SSN


def test_token_that_fails_with_its_transaction_is_gone(people: People) -> None:
    with people.connect() as app:
        app.execute("BEGIN")
        identify(app, people.token("support"))
        with pytest.raises(psycopg.errors.DivisionByZero):
            app.execute("SELECT 1/0")
        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            ssn(app)
        app.execute("ROLLBACK")
        assert ssn(app) == SEALED


def test_function_that_sets_for_itself_alone_leaves_the_session(people: People) -> None:
    with people.stack.direct(database="people") as direct:
        direct.execute(
            "CREATE OR REPLACE FUNCTION with_purpose() RETURNS text LANGUAGE sql SET fieldveil.purpose = 'refund' "
            "AS $$ SELECT current_setting('fieldveil.purpose') $$"
        )
    with people.connect() as app:
        assert app.execute("SELECT with_purpose()").fetchone() == ("refund",)
        assert read(app)[1] == SEALED


def test_pipeline_changes_the_token_between_its_statements(people: People) -> None:
    with people.connect() as app, app.pipeline():
        seen = []
        for roles in ("support", "clerk", "nobody"):
            app.execute("SELECT set_config('fieldveil.token', %s, false)", [people.token(roles)])
            seen.append(app.execute("SELECT ssn FROM person"))
        values = [cursor.fetchone()[0] for cursor in seen]
    assert values[:2] == [SSN, MASKED_SSN]
    assert values[2].startswith("fv1.")


def test_token_expires_on_the_open_session(people: People) -> None:
    with people.connect() as app:
        identify(app, people.token("support", lasts=patience(4)))
        assert ssn(app) == SSN
        app.execute("DECLARE c CURSOR WITH HOLD FOR SELECT ssn FROM person")

        refusals = []

        def refused() -> bool:
            try:
                assert ssn(app) == SSN
            except psycopg.errors.InvalidAuthorizationSpecification as error:
                refusals.append(error.diag.message_primary)
            return bool(refusals)

        until(refused)
        assert "token" in refusals[0]
        with pytest.raises(psycopg.errors.InvalidAuthorizationSpecification):
            app.execute("FETCH ALL FROM c")
        assert app.execute("SELECT id FROM person").fetchone() == (1,)
        identify(app, people.token("clerk"))
        assert ssn(app) == MASKED_SSN


@pytest.mark.parametrize("token", ["not a token", "eyJhbGciOiJub25lIn0.e30.", "expired", "other key"])
def test_token_that_is_not_valid_refuses_what_is_protected(people: People, token: str) -> None:
    tokens = {
        "expired": people.token("support", lasts=-10),
        "other key": type(people.issuer)().token("ada", roles=["support"]),
    }
    with people.connect() as app:
        identify(app, tokens.get(token, token))
        with pytest.raises(psycopg.errors.InvalidAuthorizationSpecification) as refused:
            ssn(app)
        assert "fieldveil.token" in refused.value.diag.message_hint
        assert tokens.get(token, token) not in str(refused.value)
        assert app.execute("SELECT id FROM person").fetchone() == (1,)
        app.execute("RESET fieldveil.token")
        assert ssn(app) == SEALED


def test_forged_word_is_refused(people: People) -> None:
    with people.connect() as other, people.connect() as app:
        identify(other, people.token("support"))
        word = other.execute("SHOW fieldveil.token").fetchone()[0]
        assert word.startswith("fieldveil-")
        identify(app, word)
        with pytest.raises(psycopg.errors.InvalidAuthorizationSpecification):
            ssn(app)


def test_purpose_decides(people: People) -> None:
    with people.connect() as app:
        assert read(app)[1] == SEALED
        app.execute("SET fieldveil.purpose = 'refund'")
        assert read(app)[1] == CARD
        app.execute("SET fieldveil.purpose = 'marketing'")
        assert read(app)[1] == SEALED
        app.execute("SET application_name = 'orders fieldveil.purpose=refund'")
        app.execute("RESET fieldveil.purpose")
        assert read(app)[1] == CARD
        app.execute("SET application_name = 'orders'")
        assert read(app)[1] == SEALED
    with people.connect(application_name="orders;fieldveil.purpose=refund") as app:
        assert read(app)[1] == CARD


def test_startup_parameters_and_role_settings_decide(people: People) -> None:
    with people.connect(options="-c fieldveil.purpose=refund") as app:
        assert read(app)[1] == CARD
    with pytest.raises(psycopg.OperationalError, match="options"):
        people.connect(options=f"-c fieldveil.token={people.token('support')}")
    with people.stack.direct() as direct:
        direct.execute("ALTER ROLE app SET fieldveil.purpose = 'refund'")
    try:
        with people.connect() as app:
            assert read(app)[1] == CARD
    finally:
        with people.stack.direct() as direct:
            direct.execute("ALTER ROLE app RESET fieldveil.purpose")


@pytest.mark.parametrize("prepare", [True, False], ids=["prepared", "simple"])
def test_comment_speaks_for_its_statement_alone(people: People, prepare: bool) -> None:
    comment = f" /*fieldveil.purpose='refund',fieldveil.token='{people.token('support')}'*/"
    with people.connect() as app:
        for _ in range(2):
            assert read(app, comment, prepare=prepare) == (SSN, CARD, SEALED)
            assert read(app, prepare=prepare) == (SEALED, SEALED, SEALED)
        with pytest.raises(psycopg.errors.FeatureNotSupported):
            read(app, " /*fieldveil.purpose=refund*/")


def test_set_role_is_seen(people: People) -> None:
    with people.connect() as app:
        assert read(app)[2] == SEALED
        app.execute("SET ROLE reporting")
        assert read(app)[2] == NOTES
        app.execute("RESET ROLE")
        assert read(app)[2] == SEALED


def test_session_authorization_is_seen_and_gives_nothing_of_itself(people: People) -> None:
    with people.connect("postgres") as superuser:
        assert read(superuser) == (SEALED, SEALED, SEALED)
        superuser.execute("SET SESSION AUTHORIZATION app")
        assert read(superuser) == (SEALED, SEALED, SEALED)
        superuser.execute("SET fieldveil.purpose = 'refund'")
        assert read(superuser)[1] == SEALED, "the login user is another than the rule's"
        superuser.execute("RESET SESSION AUTHORIZATION")
        superuser.execute("SET ROLE reporting")
        assert read(superuser)[2] == NOTES


def test_discard_all_between_two_users_of_a_pool(people: People) -> None:
    with people.connect() as app:
        for roles, expected in (("support", SSN), ("clerk", MASKED_SSN)):
            identify(app, people.token(roles))
            app.execute("SET fieldveil.purpose = 'refund'")
            assert read(app)[:2] == (expected, CARD)
            app.execute("DISCARD ALL")
            assert read(app)[:2] == (SEALED, SEALED)


def test_pgx_says_who_its_users_are_in_every_query_mode(people: People) -> None:
    tokens = [people.token(role) for role in ("support", "clerk", "support")]
    done = subprocess.run(
        [PGX_CLIENT, people.dsn, *tokens], capture_output=True, text=True, check=False, timeout=patience(90)
    )
    assert done.returncode == 0, done.stderr
    modes = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(modes) == 5
    for seen in modes:
        assert seen[:3] == [SSN, MASKED_SSN, SSN]
        assert seen[3].startswith("fv1.")


def test_text_that_sets_the_token_and_reads_is_refused(people: People) -> None:
    with people.connect() as app:
        with pytest.raises(psycopg.errors.FeatureNotSupported):
            app.execute(f"SET fieldveil.token = '{people.token('support')}'; SELECT ssn FROM person")
        app.execute(f"BEGIN; SET LOCAL fieldveil.token = '{people.token('support')}'")
        assert ssn(app) == SSN


def test_token_stands_nowhere(people: People) -> None:
    token = people.token("support", subject="canary")
    people.stack.relay.forget()
    with people.connect() as app:
        for text in (
            f"SET fieldveil.token = '{token}'",
            f"SELECT set_config('fieldveil.token', '{token}', false)",
            f"SELECT 1 /*fieldveil.token='{token}'*/",
        ):
            app.execute(text)
            app.execute(text, prepare=True)
            assert read(app)[0] == SSN
        app.execute("SELECT set_config('fieldveil.token', %s, false)", [token])
        for text in (
            f"ALTER ROLE app SET fieldveil.token = '{token}'",
            f"DO $$ BEGIN SET fieldveil.token = '{token}'; END $$",
            f"SELECT set_config('fieldveil.' || 'token', '{token}', false)",
            f"SELECT 1 -- fieldveil.token='{token}'",
        ):
            with pytest.raises(psycopg.errors.FeatureNotSupported) as refused:
                app.execute(text)
            assert token not in str(refused.value)
        with pytest.raises(psycopg.errors.FeatureNotSupported):
            app.execute("SELECT set_config(%s, %s, false)", ["fieldveil.token", token])
        app.execute("CREATE TABLE IF NOT EXISTS kept AS SELECT current_setting('fieldveil.token') AS word")
    with people.stack.connect("app", "plain") as plain:
        plain.execute(f"SET fieldveil.token = '{token}'")
        plain.execute("SELECT 1")
    with people.stack.direct() as direct:
        direct.execute("CHECKPOINT")
    # A part of it would be too much.
    parts = [part.encode() for part in token.split(".")[1:]]
    assert not any(part in people.stack.relay.to_server() for part in parts)
    folders = people.stack.work.path, people.stack.postgres.data
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file() and "opa" not in path.name:
                content = path.read_bytes()
                assert not any(part in content for part in parts), path
