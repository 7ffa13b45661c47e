"""One session that is somebody else at every statement: the others keep what carries them over an outage of OPA."""

from collections.abc import Iterator

import psycopg
import pytest

from tests.policies.people import MASKED_SSN, SEALED, SSN, People, ssn

# More than a worker keeps of plans that no session is under.
FLOOD = 1100
SPARE = 1024


@pytest.fixture
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[People]:
    folder = tmp_path_factory.mktemp("policies")
    running = People(folder, relay=False, postgres_settings={}, envoy_log_level="info")
    yield running
    running.stack.stop()


def flood(connection: psycopg.Connection) -> None:
    for number in range(FLOOD):
        connection.execute(f"SET application_name = 'flood {number}'")
        assert ssn(connection) == SEALED


def plans_held(people: People) -> int:
    return sum(people.stack.envoy.stats("wasmcustom.fieldveil.plans.held.").values())


def test_sessions_keep_their_plans_through_anothers_flood_and_an_outage_of_opa(people: People) -> None:
    with people.connect() as plain, people.connect() as support, people.connect() as named:
        support.execute(f"SET fieldveil.token = '{people.token('support')}'")
        named.execute(f"SET application_name = 'reports'; SET fieldveil.token = '{people.token('clerk')}'")
        seen = [ssn(plain), ssn(support), ssn(named)]
        assert seen == [SEALED, SSN, MASKED_SSN]
        with people.connect(autocommit=True) as flooding:
            flood(flooding)
            # The flood's last one is its session's.
            assert plans_held(people) <= SPARE + 4
            people.stack.opa.stop()
            assert [ssn(plain), ssn(support), ssn(named)] == seen
            # Who floods is under the last one as well.
            assert ssn(flooding) == SEALED
            flooding.execute("SET application_name = 'one more'")
            with pytest.raises(psycopg.errors.CannotConnectNow):
                ssn(flooding)
