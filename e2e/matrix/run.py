"""Runs one client and looks at what it left behind: past the sidecar, on the wire, and through another driver."""

import json
import os
import signal
import subprocess

import psycopg

from harness import Stack, shop
from harness.envoy import LOOPBACK
from harness.stack import PLAIN, SEALED
from harness.waiting import patience
from matrix import database
from matrix.clients import Client
from matrix.database import COLUMNS, DATABASE, PLAIN_DATABASE, ROW, TABLE, USER
from matrix.result import Result, Step

# A hang is a failure with a name, before the tests' own limit; a JVM on a busy machine takes its time.
LIMIT_SECONDS = 100

# The ids that a step leaves behind when it worked.
ROWS = {
    "write": range(10, 11),
    "update": range(2, 3),
    "upsert": range(3, 4),
    "batch": range(100, 120),
    "prepared": range(200, 210),
    "binary": range(300, 301),
    "transaction": range(401, 402),
    "null": range(500, 501),
    "copy_in": range(600, 603),
}
NULL_ROW = 500
# In whatever statement they stand, these may never reach the server.
SECRETS = (ROW["ssn"], ROW["email"], "1980-05-17", "new@example.com", "two@example.com", "first@example.com", "ssn-")
ENVELOPE_TEXT, ENVELOPE_BYTES = "fv1.", b"\xf7\x01"


def run(stack: Stack, client: Client) -> Result:
    database.start_over(stack, DATABASE)
    stack.relay.forget()
    result = Result(client.name)
    start(client, result, _through(stack, SEALED, DATABASE))
    look_sent(stack.relay.to_server(), result)
    look_stored(stack, result)
    look_through(stack, result)
    return result


def run_plain(stack: Stack, client: Client) -> Result:
    """The same without Fieldveil, so that what does not work is known to be of it, and not of the program."""
    database.start_over(stack, PLAIN_DATABASE)
    stack.relay.forget()
    result = Result(client.name)
    start(client, result, _through(stack, PLAIN, PLAIN_DATABASE))
    expect_no_refusal(result)
    return result


def expect_no_refusal(result: Result) -> None:
    refusal = result.steps.get("refusal")
    if refusal is None or refusal.ok is not False:
        result.faults.append("the step refusal passes where nothing is refused")
    result.steps["refusal"] = Step(True)


def _through(stack: Stack, listener: str, database: str) -> dict[str, str]:
    return where(stack, LOOPBACK, stack.envoy.port(listener), database)


def where(stack: Stack, host: str, port: int, database: str) -> dict[str, str]:
    """The environment that tells a client where to connect to, without TLS."""
    return {
        "PGHOST": host,
        "PGPORT": str(port),
        "PGUSER": USER,
        "PGPASSWORD": shop.PASSWORD,
        "PGDATABASE": database,
        "PGSSLMODE": "disable",
        "PSQL": str(stack.postgres.program("psql")),
    }


def start(client: Client, result: Result, where: dict[str, str]) -> None:
    """Runs the program to its end and takes down what it says of its steps."""
    process = subprocess.Popen(
        [str(word) for word in client.command],
        env={**os.environ, **where},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    limit = patience(LIMIT_SECONDS)
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        result.faults.append(f"did not end within {limit:.0f} s")
    except BaseException:
        # Ctrl-C does not reach its group.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    if process.returncode != 0:
        lines = err.splitlines()
        why = [line for line in lines if "rror" in line or "Caused by" in line]
        result.faults.append(f"ended with {process.returncode}: {' / '.join([*why[-2:], *lines[-5:]])}")
    for line in out.splitlines():
        try:
            said = json.loads(line)
            result.steps[said["step"]] = Step(said["ok"], said["code"], said["detail"])
        except (ValueError, TypeError, KeyError):
            result.faults.append(f"said what is no step: {line}")


def look_stored(stack: Stack, result: Result) -> None:
    """What the server really has: the rows of each step that worked, and in no sealed column a value."""
    with stack.direct(database=DATABASE) as direct:
        cursor = direct.execute(f"SELECT id, {', '.join(COLUMNS)} FROM {TABLE}")
        rows = {row[0]: dict(zip(COLUMNS, row[1:], strict=True)) for row in cursor}
    look_rows(rows, result)


def look_sent(to_server: bytes, result: Result) -> None:
    result.faults += [f"{secret!r} went to the server" for secret in SECRETS if secret.encode() in to_server]


def look_rows(rows: dict[int, dict], result: Result) -> None:
    """Whether the rows of each step that worked are there, and all of them sealed."""
    wanted = {number for step, ids in ROWS.items() if worked(result, step) for number in ids}
    if missing := wanted - rows.keys():
        result.faults.append(f"rows that are not stored: {sorted(missing)}")
    for number, row in rows.items():
        clear = [name for name, value in row.items() if value is not None and not _is_envelope(value)]
        if clear:
            result.faults.append(f"row {number} stores {', '.join(clear)} in clear")
        if (row["ssn"] is None) != (number == NULL_ROW):
            result.faults.append(f"row {number}: ssn is {'' if row['ssn'] is None else 'not '}NULL")


def look_through(stack: Stack, result: Result) -> None:
    """What another driver reads through the sidecar: a client that writes and reads wrong alike is found out."""
    with stack.connect(USER, DATABASE) as other:
        for step, number in (("write", 10), ("binary", 300)):
            if worked(result, step):
                wanted = database.row(number)
                got = _select(other, number)
                differ = [name for name in ROW if got is None or got[name] != wanted[name]]
                if differ:
                    result.faults.append(f"row {number} reads otherwise through psycopg: {', '.join(differ)}")
        rows = other.execute(f"SELECT id, ssn FROM {TABLE} WHERE id <> 1 AND ssn IS NOT NULL").fetchall()
        wrong = [number for number, ssn in rows if ssn != f"ssn-{number}"]
        if wrong:
            result.faults.append(f"rows with another ssn than was written: {wrong}")


def worked(result: Result, step: str) -> bool:
    return step in result.steps and result.steps[step].ok is True


def _is_envelope(value: str | bytes) -> bool:
    return value.startswith(ENVELOPE_TEXT) if isinstance(value, str) else bytes(value).startswith(ENVELOPE_BYTES)


def _select(connection: psycopg.Connection, number: int) -> dict | None:
    found = connection.execute(f"SELECT {', '.join(ROW)} FROM {TABLE} WHERE id = %s", [number]).fetchone()
    return found and dict(zip(ROW, found, strict=True))
