"""Tenants in one database, each with keys of its own: none opens another's values, and a destroyed one's are gone."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psycopg
import pytest

from harness import Options, Stack, unixhttp
from harness import shop as example
from harness.waiting import until, until_equal

DATABASE, TWIN = "saas", "saas_twin"
# The users' tenants; an auditor has none.
TENANTS = {"app": "acme", "billing": "globex", "support": "initech"}
KEY_USES = 3
STATISTICS = "wasmcustom.fieldveil."


def write_policies(folder: Path) -> Path:
    """Catalog and rules: the user chooses the tenant of one column, the database that of another."""

    def of(protection: str, **more: object) -> dict:
        return {"protection": protection, "keyset": "pii", "type": "text", **more}

    columns = {
        "ssn": of("deterministic", tenant={"from": "session.user", "names": TENANTS}),
        "phone": of("randomized", tenant={"from": "session.user", "names": TENANTS}),
        "memo": of("randomized", tenant={"from": "session.database", "names": {DATABASE: "acme", TWIN: "globex"}}),
        "note": of("randomized"),
    }
    names = {f"account.{column}": label for column, label in columns.items()}
    table = {"public.account": {column: f"account.{column}" for column in columns}}
    databases = [{"protocol": "postgres", "database": name, "columns": table} for name in (DATABASE, TWIN)]
    rule = {
        "name": "all work with everything, each with its own tenant's",
        "who": {"session": {"user": [*TENANTS, "auditor"]}},
        "labels": ["account.*"],
        "read": {"treatment": "reveal"},
        "write": "seal",
    }
    for name, data in (("catalog", {"labels": names, "databases": databases}), ("rules", {"rules": [rule]})):
        path = folder / name / "saas" / "data.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(data))
    return folder


@pytest.fixture(scope="module")
def saas(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    options = Options(
        keysets=("pii", "payments", *(f"pii/{tenant}" for tenant in TENANTS.values())),
        policies=(write_policies(tmp_path_factory.mktemp("policies")),),
        concurrency=2,
        filter_config={"keys": {"refresh_seconds": 1}, "limits": {"key_uses": KEY_USES}},
    )
    with Stack(options).start() as stack:
        with stack.postgres.connect() as superuser:
            for database in (DATABASE, TWIN):
                superuser.execute(f"CREATE DATABASE {database}")
        for database in (DATABASE, TWIN):
            with stack.direct(database=database) as direct:
                direct.execute("CREATE TABLE account (id int PRIMARY KEY, ssn text, phone text, memo text, note text)")
                example.allow_all(direct, "account")
        yield stack


@pytest.fixture
def accounts(saas: Stack) -> Stack:
    for database in (DATABASE, TWIN):
        with saas.direct(database=database) as direct:
            direct.execute("TRUNCATE account")
    return saas


def refused(connection: psycopg.Connection, statement: str, *values: object, **how: bool) -> psycopg.Error:
    with pytest.raises(psycopg.Error) as error:
        connection.execute(statement, values, **how).fetchall()
    return error.value


def gone(connection: psycopg.Connection, statement: str) -> bool:
    try:
        connection.execute(statement, prepare=True).fetchall()
    except psycopg.errors.CannotConnectNow as error:
        return "keyset pii/initech is not served by the key agent" in str(error)
    return False


def test_no_tenant_opens_or_finds_the_values_of_another(accounts: Stack) -> None:
    with accounts.connect("app", DATABASE) as acme, accounts.connect("billing", DATABASE) as globex:
        for number, tenant in ((1, acme), (2, globex)):
            tenant.execute("INSERT INTO account (id, ssn, phone) VALUES (%s, '078-05-1120', '555')", [number])
        for own, others, tenant in ((1, 2, acme), (2, 1, globex)):
            read = "SELECT ssn, phone FROM account WHERE id = %s"
            assert tenant.execute(read, [own]).fetchone() == ("078-05-1120", "555")
            for column in ("ssn", "phone"):
                error = refused(tenant, f"SELECT {column} FROM account WHERE id = {others}")
                assert error.sqlstate == "XX001"
                assert f"account.{column}" in str(error)
            found = tenant.execute("SELECT id FROM account WHERE ssn = %s", ["078-05-1120"]).fetchall()
            assert found == [(own,)]


def test_value_that_is_moved_to_another_tenant_does_not_open(accounts: Stack) -> None:
    with accounts.connect("app", DATABASE) as acme, accounts.connect("billing", DATABASE) as globex:
        acme.execute("INSERT INTO account (id, ssn) VALUES (1, 'acme')")
        globex.execute("INSERT INTO account (id, ssn) VALUES (2, 'globex')")
        with accounts.direct(database=DATABASE) as direct:
            direct.execute("UPDATE account SET ssn = (SELECT ssn FROM account WHERE id = 1) WHERE id = 2")
        assert refused(globex, "SELECT ssn FROM account WHERE id = 2").sqlstate == "XX001"


def test_the_database_chooses_the_tenant_too(accounts: Stack) -> None:
    with accounts.connect("app", DATABASE) as one, accounts.connect("app", TWIN) as twin:
        for connection in (one, twin):
            connection.execute("INSERT INTO account (id, memo) VALUES (1, 'remember')")
            assert connection.execute("SELECT memo FROM account").fetchone() == ("remember",)
        with accounts.direct(database=DATABASE) as direct:
            (stored,) = direct.execute("SELECT memo FROM account").fetchone()
        with accounts.direct(database=TWIN) as direct:
            direct.execute("UPDATE account SET memo = %s", [stored])
        assert one.execute("SELECT memo FROM account").fetchone() == ("remember",)
        assert refused(twin, "SELECT memo FROM account").sqlstate == "XX001"


def test_principal_without_a_tenant_sees_what_is_stored_and_writes_nothing(accounts: Stack) -> None:
    with accounts.connect("app", DATABASE) as acme:
        acme.execute("INSERT INTO account (id, ssn, note) VALUES (1, '078-05-1120', 'for all')")
    with accounts.connect("auditor", DATABASE) as auditor:
        ssn, note = auditor.execute("SELECT ssn, note FROM account").fetchone()
        assert ssn.startswith("fv1.")
        assert note == "for all"
        assert refused(auditor, "UPDATE account SET ssn = 'x'").sqlstate == "42501"
        assert refused(auditor, "SELECT id FROM account WHERE ssn = 'x'").sqlstate == "42501"


def test_destroyed_keyset_makes_its_tenants_values_unreadable_and_no_others(accounts: Stack) -> None:
    insert = "INSERT INTO account (id, ssn, note) VALUES (%s, '078-05-1120', 'for all')"
    read = "SELECT ssn FROM account WHERE id = 1"
    with accounts.connect("support", DATABASE) as initech, accounts.connect("app", DATABASE) as acme:
        initech.execute(insert, [1])
        acme.execute(insert, [2])
        assert initech.execute(read, prepare=True).fetchone() == ("078-05-1120",)
        accounts.agent.keys("destroy", "pii/initech", "--yes")
        with accounts.connect("support", DATABASE) as again:
            for connection in (initech, again):
                until(partial(gone, connection, read))
                for statement in (
                    read,
                    "SELECT * FROM account",
                    "UPDATE account SET ssn = 'x'",
                    "COPY account TO STDOUT",
                ):
                    error = refused(connection, statement)
                    assert (error.sqlstate, "pii/initech" in str(error)) == ("57P03", True)
                assert connection.execute("SELECT note FROM account WHERE id = 1").fetchone() == ("for all",)
        assert acme.execute("SELECT ssn FROM account WHERE id = 2").fetchone() == ("078-05-1120",)
        # Another keyset of that name opens nothing of the old one.
        accounts.agent.create_keyset("pii/initech")
        until(lambda: refused(initech, read).sqlstate == "XX001")
        initech.execute("UPDATE account SET ssn = 'new' WHERE id = 1")
        assert initech.execute(read).fetchone() == ("new",)


def test_uses_of_each_key_are_counted_and_a_key_that_is_used_up_is_told(accounts: Stack) -> None:
    def uses() -> dict[str, int]:
        found = accounts.envoy.stats(STATISTICS + "key_uses.pii/globex.")
        return {name.split(".")[4]: count for name, count in found.items()}

    before = uses()
    with accounts.connect("billing", DATABASE) as globex:
        for number in range(KEY_USES):
            globex.execute("INSERT INTO account (id, ssn, phone) VALUES (%s, '078-05-1120', '555')", [number])
    expected = {purpose: before.get(purpose, 0) + KEY_USES for purpose in ("aead", "deterministic")}
    until_equal(uses, expected)
    body = unixhttp.request(accounts.envoy.admin, "GET", "/stats/prometheus")[2].decode()
    assert 'fieldveil_key_uses{keyset="pii/globex",purpose="deterministic",key="' in body
    until(lambda: "of keyset pii/globex (aead) has sealed" in accounts.envoy.process.log.read_text())
    (used_up,) = until(lambda: accounts.envoy.stats(STATISTICS + "key_used_up.pii/globex."))
    assert used_up.split(".")[4] == "aead"


def test_ages_of_plans_and_keysets_are_shown(accounts: Stack) -> None:
    def age(what: str) -> int:
        return accounts.envoy.stats(STATISTICS + what).get(f"{STATISTICS}{what}.age_seconds", 0)

    with accounts.connect("app", DATABASE) as acme:
        acme.execute("SELECT 1")
        until(lambda: age("plans") > 0)
        until(lambda: age("keysets") < 3)
        accounts.agent.stop()
        until(lambda: age("keysets") >= 3)
        accounts.agent.start()
        until(lambda: age("keysets") < 3)
