"""End users one after the other on one session: nobody becomes another, or stays one, by what the last one left."""

from collections.abc import Iterator

import psycopg
import pytest

from tests.policies.people import MASKED_SSN, SEALED, SSN, People, ssn


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[People]:
    running = People(tmp_path_factory.mktemp("policies"))
    yield running
    running.stack.stop()


@pytest.mark.parametrize("scope", ["LOCAL", "SESSION"])
def test_word_of_the_last_user_makes_nobody_him(people: People, scope: str) -> None:
    with people.connect() as app, people.connect() as other:
        app.execute("BEGIN")
        app.execute(f"SET {scope} fieldveil.token = '{people.token('support')}'")
        seen = other.execute("SELECT query FROM pg_stat_activity WHERE query LIKE 'SET %fieldveil-%'").fetchone()
        word = seen[0].split("'")[1]
        assert ssn(app) == SSN
        app.execute("COMMIT")
        app.execute("DISCARD ALL")
        app.execute("BEGIN")
        app.execute(f"SET LOCAL fieldveil.token = '{people.token('clerk', subject='bob')}'")
        assert ssn(app) == MASKED_SSN
        app.execute(f"SELECT set_config('field' || 'veil.token', 'field' || '{word[5:]}', true)")
        with pytest.raises(psycopg.errors.InvalidAuthorizationSpecification):
            ssn(app)


def test_prepared_text_says_the_token_each_time(people: People) -> None:
    text = f"SELECT set_config('fieldveil.token', '{people.token('support')}', true)"
    with people.connect() as app:
        for _ in range(3):
            with app.transaction():
                app.execute(text, prepare=True)
                assert ssn(app) == SSN
            assert ssn(app) == SEALED


@pytest.mark.parametrize("database", ["people", "plain"])
@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_no_encoding_brings_the_token_to_the_server(people: People, database: str, encoding: str) -> None:
    token = people.token("support", subject="canary")
    told = []
    people.stack.relay.forget()
    with people.stack.connect("app", database, client_encoding=encoding) as app:
        for text in (
            f'SET "fieldveil"."token" = \'{token}\'',
            f"SET fieldveil . token = '{token}'",
            f"SET fieldveil.token = '{token}' -- \\",
            f"SELECT 1 /*fieldveil%2etoken='{token}'*/",
        ):
            for behind in (b"", " -- \u00e9".encode("latin1")):
                try:
                    app.execute(text.encode() + behind)
                except psycopg.errors.CharacterNotInRepertoire as refused:
                    told.append(str(refused))
    # In LATIN1 every byte is a character.
    assert bool(told) == (encoding == "SQL_ASCII")
    assert not any(token in text for text in told)
    assert token.split(".")[1].encode() not in people.stack.relay.to_server()


def test_transaction_ends_while_policy_has_no_answer(people: People) -> None:
    with people.connect() as app:
        app.execute("BEGIN")
        assert ssn(app) == SEALED
        people.stack.opa.stop()
        try:
            app.execute(f"SET LOCAL fieldveil.token = '{people.token('clerk', subject='new')}'")
            with pytest.raises(psycopg.errors.CannotConnectNow):
                ssn(app)
            app.execute("ROLLBACK")
            assert app.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
            app.execute(f"SET fieldveil.token = '{people.token('clerk', subject='other')}'")
            app.execute("RESET fieldveil.token")
            app.execute("DISCARD ALL")
            assert ssn(app) == SEALED
        finally:
            people.stack.opa.start()
