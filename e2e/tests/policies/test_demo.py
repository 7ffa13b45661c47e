"""The demo with policies of a database of one's own: the lines that it prints, and those of the documents, typed."""

import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from dev.layout import POLICIES, ROOT
from harness.process import Process
from harness.waiting import until
from harness.workdir import WorkDir
from tests.policies.typed import blocks, typed

END_USERS = (ROOT / "docs" / "guides" / "end-users.md").read_text()
TABLE = "CREATE TABLE customer (id int, email text, notes text, ssn text, born text, phone text, country text)"


@pytest.fixture
def folder() -> Iterator[Path]:
    """With a blank in its name, and the starter set in it as the documents call it."""
    work = WorkDir()
    folder = work.path / "my work"
    folder.mkdir()
    shutil.copytree(POLICIES / "starter", folder / "my-policies")
    catalog = folder / "my-policies" / "catalog" / "crm" / "data.yaml"
    # A plan of before the issuer is there is not kept for long.
    catalog.write_text(catalog.read_text().replace("database: crm", "database: crm\n    ttl_seconds: 1"))
    yield folder
    work.remove()


@pytest.fixture
def demo(folder: Path) -> Iterator[Process]:
    process = Process("demo", folder / "demo.log", stop_signal=signal.SIGTERM)
    # The tools are there: set-up built them before the tests ran.
    environment = {"MAKEFLAGS": "SETUP=true", "NO_COLOR": "1"}
    process.start(["make", "demo", "KEEP=1", f"POLICIES={folder / 'my-policies'}"], env=environment, cwd=ROOT)
    try:
        process.wait_until(lambda: "Stop it with" in said(process), 180)
        yield process
        typed(last(process, r"or from elsewhere: (kill \d+)"), folder)
        until(lambda: not process.running, "the demo to end")
        assert "nothing is left running" in said(process)
    finally:
        process.stop()


def test_one_gets_to_a_database_of_ones_own_with_tokens_of_ones_own(demo: Process, folder: Path) -> None:
    assert "They speak of crm" in said(demo)
    assert "Ada Lovelace" not in said(demo)  # the story would show values that nobody protected
    issuer, token = blocks(END_USERS, "An issuer to try it with")
    for command in (
        issuer,
        last(demo, r"^  (.* policy build .*)$"),
        *every(demo, r"^  (.* keys create .*)$"),
        last(demo, r"^  (.* -c \"CREATE DATABASE .*)$"),
        last(demo, r"^  (.* -U postgres crm)$") + f" -c '{TABLE}' -c 'GRANT ALL ON customer TO crm'",
    ):
        run(command, folder)
    statements = run(issuer.splitlines()[0] + "\n" + token, folder)
    statements += "INSERT INTO customer (id, email, notes) VALUES (1, 'ada@example.com', 'prefers letters');\n"
    statements += "SELECT email, notes FROM customer;\nRESET fieldveil.token;\nSELECT email, notes FROM customer;\n"
    (folder / "statements.sql").write_text(statements)
    psql = last(demo, r"^  (PGPASSWORD=.* -U crm crm)$") + " -At -v ON_ERROR_STOP=1 -f statements.sql"
    shown = until(lambda: output(psql, folder), "a session, which comes about as OPA has the bundle")
    assert "ada@example.com|prefers letters" in shown
    assert re.search(r"^fv1\.\S+\|fv1\.\S+$", shown, re.MULTILINE), shown


def output(commands: str, folder: Path) -> str:
    """Nothing if they fail."""
    done = typed(commands, folder)
    return done.stdout if done.returncode == 0 else ""


def said(process: Process) -> str:
    return process.log.read_text() if process.log.exists() else ""


def every(process: Process, pattern: str) -> list[str]:
    found = re.findall(pattern, said(process), re.MULTILINE)
    assert found, said(process)
    return found


def last(process: Process, pattern: str) -> str:
    return every(process, pattern)[-1]


def run(commands: str, folder: Path) -> str:
    done = typed(commands, folder)
    assert done.returncode == 0, f"{commands}\n{done.stdout}"
    return done.stdout
