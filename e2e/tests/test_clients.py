"""Other clients than psycopg: psql as people use it, and pgx in each of its query modes."""

import json
import subprocess

import psycopg
import pytest

from dev.layout import PGX_CLIENT
from harness import Stack
from harness import shop as example
from harness.waiting import patience
from tests.cancelling import SLEEPS, cancelling
from tests.rows import ADA, INSERT


def psql(stack: Stack, user: str, *words: str, tcp: bool = False) -> subprocess.CompletedProcess:
    command = [stack.postgres.program("psql"), "--no-psqlrc", "--quiet", "--tuples-only", "--no-align"]
    return subprocess.run(
        [*command, "--dbname", stack.dsn(user, tcp=tcp), *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=patience(),
    )


@pytest.mark.parametrize("tcp", [False, True], ids=["unix", "tcp"])
def test_psql_writes_and_reads(shop: Stack, tcp: bool) -> None:
    written = psql(shop, "app", "-c", "INSERT INTO customer (id, ssn) VALUES (5, '555-55-5555')", tcp=tcp)
    assert (written.returncode, written.stderr) == (0, "")
    read = psql(shop, "billing", "-c", "SELECT id, ssn FROM customer WHERE ssn = '555-55-5555'", tcp=tcp)
    assert (read.stdout, read.stderr) == ("5|555-55-5555\n", "")


def test_psql_shows_a_refusal_with_its_hint(shop: Stack) -> None:
    refused = psql(shop, "app", "-v", "VERBOSITY=verbose", "-c", "SELECT upper(ssn) FROM customer")
    assert refused.returncode == 1
    assert "0A000" in refused.stderr
    assert "customer.ssn" in refused.stderr
    assert "HINT:" in refused.stderr


def test_psql_describes_the_table(shop: Stack) -> None:
    described = psql(shop, "app", "-c", "\\d customer")
    assert described.returncode == 0, described.stderr
    assert "ssn|text" in described.stdout


def test_psql_binds_parameters_and_pipelines(shop: Stack) -> None:
    script = "INSERT INTO customer (id, card) VALUES ($1, $2) \\bind 6 'by bind' \\g\nSELECT card FROM customer;"
    done = psql(shop, "app", "-c", "\\echo begin", "-f", "-")
    assert done.returncode == 0
    command = [shop.postgres.program("psql"), "-XqAt", "--dbname", shop.dsn("app")]
    done = subprocess.run(command, input=script, capture_output=True, text=True, check=False, timeout=patience())
    assert (done.stdout, done.stderr) == ("by bind\n", "")


@pytest.mark.parametrize("tcp", [False, True], ids=["unix", "tcp"])
def test_pgx_in_every_query_mode(shop: Stack, tcp: bool) -> None:
    done = subprocess.run(
        [PGX_CLIENT, shop.dsn("app", tcp=tcp)], capture_output=True, text=True, check=False, timeout=patience(90)
    )
    assert done.returncode == 0, done.stderr
    modes = [json.loads(line) for line in done.stdout.splitlines()]
    assert [mode["mode"] for mode in modes] == [
        "cache statement",
        "cache describe",
        "describe exec",
        "exec",
        "simple protocol",
    ]
    for number, seen in enumerate(modes, start=1):
        row = number * 100
        assert seen == {
            "mode": seen["mode"],
            "inserted": ["mail", "phone"],
            "found": row,
            "selected": ["name", f"ssn-{row}", f"card-{row}"],
            "batch": [f"ssn-{other}" for other in range(row + 1, row + 11)],
            "null_notes": True,
            "refused": "0A000",
            "after_refusal": 42,
        }
    with shop.direct() as direct:
        assert direct.execute("SELECT count(*) FROM customer WHERE ssn NOT LIKE 'fv1.%'").fetchone() == (0,)


def test_wrong_password_is_the_servers_refusal(shop: Stack) -> None:
    dsn = shop.dsn("app").replace(example.PASSWORD, "wrong")
    command = [shop.postgres.program("psql"), "-Xqc", "SELECT 1", dsn]
    refused = subprocess.run(command, capture_output=True, text=True, check=False, timeout=patience())
    assert "password authentication failed" in refused.stderr


def test_cancel_reaches_the_server(shop: Stack) -> None:
    with shop.connect("app") as app:
        app.execute(INSERT, ADA)
        with (
            shop.direct() as direct,
            cancelling(direct, app.cancel_safe),
            pytest.raises(psycopg.errors.QueryCanceled, match="user request"),
        ):
            app.execute(SLEEPS)
