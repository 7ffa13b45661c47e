"""One row at a time in real databases: what must be noticed of what is stored, by triggers that store other things."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from loadtests.results import Measurement
from loadtests.rig import PLAIN, SEALED, Databases, LiveDatabase, NotSealed, Rig, WrongRows
from loadtests.runner import Runner
from loadtests.scenario import Closed, Suite
from loadtests.suites import mysql, oltp, present, rows

SCALE = 0.001
# What triggers store in place of what is written, in both languages.
INSERTS = {
    "null": ("NEW.phone := NULL; RETURN NEW;", "SET NEW.phone = NULL"),
    # Each opens: it is of the right column.
    "another row's": (
        f"NEW.phone := coalesce((SELECT phone FROM {oltp.NEW} LIMIT 1), NEW.phone); RETURN NEW;",
        f"SET NEW.phone = coalesce((SELECT phone FROM {oltp.NEW} LIMIT 1), NEW.phone)",
    ),
    # Sealed for another column, it does not open.
    "another column's": ("NEW.phone := NEW.email; RETURN NEW;", "SET NEW.phone = NEW.email"),
}
UPDATES = {
    "nothing": (
        "RETURN OLD;",
        "SET NEW.email = OLD.email, NEW.ssn = OLD.ssn, NEW.phone = OLD.phone, NEW.generation = OLD.generation",
    ),
    "all but one column": ("NEW.email := OLD.email; RETURN NEW;", "SET NEW.email = OLD.email"),
    "another row's": (
        f"NEW.phone := (SELECT phone FROM saved.{oltp.CHANGED} WHERE id = 1); RETURN NEW;",
        f"SET NEW.phone = (SELECT phone FROM saved_{oltp.CHANGED} WHERE id = 1)",
    ),
}


@dataclass
class Server:
    """One of the two, with what a suite is given of it."""

    rig: Rig
    suite: Suite
    databases: Databases

    def live(self, target: str) -> LiveDatabase:
        return self.databases.live[target]

    def measure(self, scenario: str, target: str, folder: Path, number: int = 1, **changes: object) -> Measurement:
        """One scenario at one target, with its looks before and after."""
        (found,) = [one for one in self.suite.scenarios(SCALE) if one.name == scenario]
        runner = Runner([], SCALE, 1, folder, calls=40)
        return runner.measure(self.rig, self.suite, replace(found, **changes), self.live(target), number)

    @contextmanager
    def trigger(self, target: str, event: str, bodies: tuple[str, str]) -> Iterator[None]:
        """In place of the row that a statement writes, another is stored."""
        table = {"INSERT": oltp.NEW, "UPDATE": oltp.CHANGED}[event]
        postgres = (
            f"CREATE FUNCTION other() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN {bodies[0]} END $$",
            f"CREATE TRIGGER other BEFORE {event} ON {table} FOR EACH ROW EXECUTE FUNCTION other()",
        )
        mariadb = (f"CREATE TRIGGER other BEFORE {event} ON {table} FOR EACH ROW {bodies[1]}",)
        is_mariadb = self.suite is mysql.SUITE
        database = self.live(target).database
        self.databases.run(database, *(mariadb if is_mariadb else postgres))
        try:
            yield
        finally:
            self.databases.run(database, "DROP TRIGGER other" if is_mariadb else "DROP FUNCTION other CASCADE")


needs_mariadb = pytest.mark.skipif(mysql.SUITE not in present(), reason="there is no MariaDB for this machine")


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    suites = [suite for suite in (oltp.SUITE, mysql.SUITE) if suite in present()]
    with Rig(suites) as rig:
        for suite in suites:
            oltp.prepare(rig.mysql if suite is mysql.SUITE else rig, SCALE)
        yield rig


@pytest.fixture(params=[oltp.SUITE, pytest.param(mysql.SUITE, marks=needs_mariadb)], ids=["postgres", "mariadb"])
def server(request: pytest.FixtureRequest, rig: Rig) -> Server:
    return Server(rig, request.param, rig.mysql if request.param is mysql.SUITE else rig)


@pytest.mark.parametrize("target", ["direct", "fieldveil"])
@pytest.mark.parametrize("scenario", ["insert-prepared-8", "update-prepared-8", "insert-500-a-second"])
def test_writes_that_are_stored_are_right(server: Server, tmp_path: Path, scenario: str, target: str) -> None:
    measurement = server.measure(scenario, target, tmp_path)
    assert (measurement.answers, measurement.wrong_answers, measurement.errors) == (40, 0, 0)


@pytest.mark.parametrize("target", ["direct", "fieldveil"])
@pytest.mark.parametrize("stored", INSERTS)
def test_insert_that_stores_something_else_is_noticed(server: Server, tmp_path: Path, target: str, stored: str) -> None:
    with (
        server.trigger(target, "INSERT", INSERTS[stored]),
        pytest.raises((WrongRows, NotSealed), match=oltp.NEW),
    ):
        # One client: MariaDB locks what a trigger reads, and several would lock each other out.
        server.measure("insert-prepared-8", target, tmp_path, workload=Closed(1, 1.0))


@pytest.mark.parametrize("target", ["direct", "fieldveil"])
@pytest.mark.parametrize("stored", UPDATES)
def test_update_that_stores_something_else_is_noticed(server: Server, tmp_path: Path, target: str, stored: str) -> None:
    with (
        server.trigger(target, "UPDATE", UPDATES[stored]),
        pytest.raises(WrongRows, match=f"{oltp.CHANGED} through {target}"),
    ):
        server.measure("update-prepared-8", target, tmp_path)


@pytest.mark.parametrize(("operation", "table"), [("insert", oltp.NEW), ("update", oltp.CHANGED)])
def test_write_that_was_acknowledged_and_is_not_there_is_noticed(server: Server, operation: str, table: str) -> None:
    live = server.live("fieldveil")
    oltp.BEFORE[operation](server.databases, live)
    with live.connect() as connection, connection.cursor() as cursor:
        row = oltp._row(1, 1 if operation == "update" else 0)
        if operation == "update":
            cursor.execute(f"DELETE FROM {table} WHERE id = 1")
        cursor.execute(f"INSERT INTO {table} VALUES (%s, %s, %s, %s, %s, %s)", row)
    oltp.STORED[operation](server.databases, live, 1)
    with pytest.raises(WrongRows):
        oltp.STORED[operation](server.databases, live, 2)


@pytest.mark.parametrize("stored", ["NULL", "'078-05-1120'", "'FV1.Zm9yZ2Vk'"])
def test_value_that_is_no_envelope_among_sealed_ones_is_noticed(server: Server, stored: str) -> None:
    oltp.unchanged(server.databases, server.live("fieldveil"))
    server.databases.run(SEALED, f"UPDATE {oltp.CHANGED} SET ssn = {stored} WHERE id = 7")
    with pytest.raises(NotSealed, match=f"{oltp.CHANGED}.ssn: 1 of"):
        server.databases.assert_sealed(oltp.CHANGED, "ssn")


def test_nothing_is_read_through_a_target_that_refuses(server: Server) -> None:
    with pytest.raises(WrongRows, match=r"other through fieldveil can't be read: (SQLSTATE 42P01|error 1146)$"):
        server.live("fieldveil").rows("other", "SELECT id FROM other")


def test_rows_straight_from_the_server_are_what_is_stored(server: Server) -> None:
    query = f"SELECT ssn FROM {oltp.READ} WHERE id = 1"
    assert server.databases.rows(PLAIN, query) == [(oltp._row(1, 0)[3],)]
    ((sealed,),) = server.databases.rows(SEALED, query)
    assert sealed.startswith("fv1.")


@pytest.mark.parametrize("target", ["direct", "envoy-tcp", "envoy-noop", "fieldveil"])
def test_each_way_reads_of_its_processes(server: Server, tmp_path: Path, target: str) -> None:
    usage = server.measure("point-read-prepared-8", target, tmp_path).usage
    proxy = set() if target == "direct" else {"proxy"}
    beside = {"opa", "agent"} if target in ("envoy-noop", "fieldveil") else set()
    assert usage.keys() == {"server", "client", *proxy, *beside}


@needs_mariadb
@pytest.mark.parametrize("operation", oltp.OPERATIONS)
def test_text_is_answered_as_prepared_statements_are(rig: Rig, tmp_path: Path, operation: str) -> None:
    measurement = Server(rig, mysql.SUITE, rig.mysql).measure(f"{operation}-text-8", "fieldveil", tmp_path)
    assert (measurement.answers, measurement.wrong_answers, measurement.errors) == (40, 0, 0)


def test_policy_of_both_servers_has_no_problems(rig: Rig) -> None:
    assert rig.opa.data("fieldveil/problems/found") == []


@needs_mariadb
def test_plan_where_nothing_is_protected_has_no_field(rig: Rig) -> None:
    asked = {"protocol": "mysql", "listener": "orders-mysql", "session": {"user": "app", "database": PLAIN}}
    plans = [rig.opa.data(f"{package}/plan", asked) for package in ("fieldveil", "loadtests/nothing")]
    assert plans[0]["fields"]
    assert plans[1] == {**plans[0], "fields": []}


def test_concealed_row_is_the_one_that_is_stored(rig: Rig, tmp_path: Path) -> None:
    server = Server(rig, oltp.SUITE, rig)
    assert server.measure("point-read-auditor-8", "fieldveil", tmp_path).wrong_answers == 0

    def another(databases: Databases, live: LiveDatabase) -> dict:
        stored = oltp.envelopes(databases, live)["stored"]
        return {"stored": stored[1:] + stored[:1]}

    measurement = server.measure("point-read-auditor-8", "fieldveil", tmp_path, 2, before=another)
    assert measurement.wrong_answers == measurement.answers == 40


def test_those_who_are_not_sealed_are_told_no_envelopes(rig: Rig) -> None:
    live = rig.live["direct"]
    assert live.database == PLAIN
    assert oltp.envelopes(rig, live) == {}


@pytest.mark.parametrize("suite", [oltp.SUITE, mysql.SUITE], ids=lambda suite: suite.name)
def test_eight_clients_come_before_one(suite: Suite) -> None:
    """The first of a suite leads its chapter; what one client costs is mostly that the machine falls asleep between."""
    assert suite.scenarios(1)[0].name == "point-read-prepared-8"


def test_both_databases_are_asked_the_same_of_one_row_at_a_time() -> None:
    def asked(suite: Suite) -> dict:
        return {
            one.name: replace(one, stored=None, before=None)
            for one in suite.scenarios(1)
            if one.mode == "prepared" and one.user == "app"
        }

    ours, theirs = asked(mysql.SUITE), {**asked(oltp.SUITE), **asked(rows.SUITE)}
    assert ours == theirs
