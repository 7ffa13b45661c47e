"""The key agent under the filter: what happens to statements when its KMS is away or says no, and when files change."""

import base64
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator

import psycopg
import pytest

from harness import Options, Stack, unixhttp
from harness import shop as example
from harness.waiting import patience, until
from tests import wire
from tests.rows import ADA, ALAN, INSERT

CANNOT_CONNECT_NOW = "57P03"
# What is said of a statement whose keyset the agent serves no more, and at a login.
NOT_SERVED = re.compile(
    "fieldveil: a keyset that the policy names is unavailable: keyset (pii|payments) is not served by the key agent"
)
REMEDY = (
    "See that the key agent serves it (its log and /readyz say why not), or mend the policy; "
    "the sidecar need not restart."
)
# How long the agent serves without its KMS: long enough for what a test does meanwhile.
MAX_OFFLINE_SECONDS = patience(4)
SHORT = (
    "--refresh", "200ms", "--kms-check", "500ms", "--max-offline", f"{MAX_OFFLINE_SECONDS}s", "--max-refused", "2s",
)  # fmt: skip


@pytest.fixture(scope="module")
def parts() -> Iterator[Stack]:
    """All parts but the agent."""
    options = Options(relay=True, filter_config={"keys": {"refresh_seconds": 1}}, envoy_log_level="debug")
    with Stack(options).start(without=("agent",)) as stack:
        shutil.copytree(stack.agent.keysets, stack.work.path / "pristine")
        yield stack


@pytest.fixture
def made(parts: Stack) -> Iterator[Callable[..., Stack]]:
    """Starts the agent with these options; the keysets and the table are as at first."""

    def start(*options: str) -> Stack:
        parts.agent.start(*options)
        until(lambda: reads(parts) == [])
        parts.relay.forget()
        return parts

    with parts.direct() as direct:
        direct.execute("TRUNCATE customer")
    yield start
    parts.agent.stop()
    Kms(parts).comes_back()
    shutil.rmtree(parts.agent.keysets)
    shutil.copytree(parts.work.path / "pristine", parts.agent.keysets)


class Kms:
    """The development key's file as a KMS that can be away, or say no."""

    def __init__(self, stack: Stack) -> None:
        self._file = stack.agent.kek
        self._kept = self._file.with_suffix(".kept")

    def goes_away(self) -> None:
        """A link that leads round can not be read: a failure of the machine, and no answer about the key."""
        self._file.rename(self._kept)
        self._file.symlink_to(self._file)

    def says_no(self) -> None:
        """There is no such key."""
        self._file.rename(self._kept)

    def comes_back(self) -> None:
        """Harmless when it is there."""
        if self._kept.exists():
            self._kept.replace(self._file)


def refused(connection: psycopg.Connection, statement: str, *values: object) -> psycopg.Error | None:
    try:
        connection.execute(statement, *values)
    except psycopg.Error as error:
        return error
    return None


def is_refused_as_not_served(connection: psycopg.Connection, statement: str, *values: object) -> bool:
    error = refused(connection, statement, *values)
    if error is None:
        return False
    assert error.sqlstate == CANNOT_CONNECT_NOW
    assert NOT_SERVED.fullmatch(error.diag.message_primary), error.diag.message_primary
    assert error.diag.message_hint == REMEDY
    return True


def login_error(stack: Stack) -> dict[str, str]:
    """The one error that a login is answered with now."""
    with wire.open_socket(stack.envoy_socket) as raw:
        raw.sendall(wire.startup("app", example.DATABASE))
        (error,) = wire.errors(wire.read_to_end(raw))
    return error


def reads(stack: Stack) -> list[tuple] | None:
    """The rows, over a connection of their own; nothing if it is refused."""
    try:
        with stack.connect("app") as connection:
            return connection.execute("SELECT ssn FROM customer ORDER BY id").fetchall()
    except psycopg.OperationalError:
        return None


def leaks_nothing(stack: Stack, *values: str) -> None:
    for value in values:
        assert value.encode() not in stack.relay.to_server()
        for log in (stack.work.path / "logs").iterdir():
            assert value.encode() not in log.read_bytes(), log


def primary(stack: Stack) -> int:
    """The key that the agent serves for new values of randomized columns."""
    return stack.agent.readiness()[1]["keysets"]["pii"]["purposes"]["aead"]["primary_key_id"]


def key_id(stack: Stack, row: int) -> int:
    """The key that sealed what is stored of a row."""
    with stack.direct() as direct:
        (stored,) = direct.execute("SELECT phone FROM customer WHERE id = %s", (row,)).fetchone()
    text = stored.removeprefix("fv1.")
    envelope = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    # Magic, version, label tag; then Tink's prefix byte and the key id.
    return int.from_bytes(envelope[7:11], "big")


def test_changed_file_is_taken_up_without_a_restart(made) -> None:
    stack = made()
    pid = stack.agent.process.pid
    with stack.connect("app") as app:
        app.execute(INSERT, ADA)
        before = key_id(stack, 1)
        stack.agent.keys("rotate", "pii")
        until(lambda: primary(stack) != before)

        def sealed_anew() -> bool:
            app.execute("DELETE FROM customer WHERE id = 2")
            app.execute(INSERT, ALAN)
            return key_id(stack, 2) != before

        until(sealed_anew)
        assert key_id(stack, 2) == primary(stack)
        assert app.execute("SELECT phone FROM customer ORDER BY id").fetchall() == [(ADA[4],), (ALAN[4],)]
    assert stack.agent.process.pid == pid


def test_broken_file_is_refused_and_the_old_keys_serve_on(made) -> None:
    stack = made(*SHORT)
    with stack.connect("app") as app:
        app.execute(INSERT, ADA)
        file = stack.agent.keysets / "pii.aead.json"
        good = file.read_bytes()
        file.write_bytes(good[: len(good) // 2])
        until(lambda: stack.agent.metric('keyset_files_refused{keyset="pii"}') == 1)
        status, body = stack.agent.readiness()
        assert (status, body["ready"]) == (200, True)
        assert any("pii.aead.json" in problem for problem in body["problems"])
        # For longer than --max-offline: the KMS goes on opening what the file was.
        time.sleep(1.5 * MAX_OFFLINE_SECONDS)
        app.execute(INSERT, ALAN)
        assert app.execute("SELECT ssn FROM customer ORDER BY id").fetchall() == [(ADA[3],), (ALAN[3],)]
        file.write_bytes(good)
        until(lambda: "problems" not in stack.agent.readiness()[1])


def test_after_max_offline_statements_are_refused_until_the_kms_is_back(made) -> None:
    stack = made(*SHORT)
    kms = Kms(stack)
    with stack.connect("app") as app, stack.connect("app") as idle:
        app.execute(INSERT, ADA)
        kms.goes_away()
        until(lambda: stack.agent.metric("kms_offline_seconds") > 0)
        assert stack.agent.readiness()[0] == 200
        assert app.execute("SELECT ssn FROM customer").fetchone() == (ADA[3],)
        app.execute(INSERT, ALAN)

        stack.relay.forget()
        until(lambda: is_refused_as_not_served(app, "SELECT ssn FROM customer"))
        third = (3, "Third", "third@example.com", "457-55-5462", "+44 20 0000", "4000 0000 0000 0002", "a third note")
        # The other session may have ended with it: rows were on their way as the keys went.
        assert is_refused_as_not_served(idle, INSERT, third)
    error = login_error(stack)
    assert (error["S"], error["C"], error["H"]) == ("FATAL", CANNOT_CONNECT_NOW, REMEDY)
    assert NOT_SERVED.fullmatch(error["M"])
    assert stack.agent.readiness()[0] == 503
    leaks_nothing(stack, ADA[3], ALAN[3], third[3], third[6])

    kms.comes_back()
    until(lambda: reads(stack) == [(ADA[3],), (ALAN[3],)])
    assert stack.agent.metric("kms_offline_seconds") == 0
    assert stack.agent.readiness()[0] == 200
    leaks_nothing(stack, ADA[3], ALAN[3], third[3])


def test_kms_that_says_no_ends_serving_sooner(made) -> None:
    stack = made(*SHORT, "--max-offline", "10m")
    kms = Kms(stack)
    with stack.connect("app") as app:
        app.execute(INSERT, ADA)
        kms.says_no()
        until(lambda: is_refused_as_not_served(app, "SELECT ssn FROM customer"))
    assert stack.agent.metric("kms_offline_seconds") == 0
    kms.comes_back()
    until(lambda: reads(stack) == [(ADA[3],)])


def test_removed_keyset_is_refused_by_name_and_a_folder_that_is_gone_is_not(made) -> None:
    stack = made(*SHORT, "--kms-check", "1m", "--max-offline", "1h")
    folder = stack.agent.keysets
    with stack.connect("app") as app:
        app.execute(INSERT, ADA)
        folder.rename(folder.with_name("away"))
        until(lambda: stack.agent.metric("folder_problem") == 1)
        time.sleep(3)
        assert app.execute("SELECT ssn FROM customer").fetchone() == (ADA[3],)
        folder.with_name("away").rename(folder)
        until(lambda: stack.agent.metric("folder_problem") == 0)
        for file in folder.glob("pii.*.json"):
            file.unlink()
        until(lambda: is_refused_as_not_served(app, "SELECT ssn FROM customer"))


def test_agent_that_starts_without_its_kms_serves_nothing_until_it_answers(made) -> None:
    stack = made()
    stack.agent.stop()
    # Envoy anew: the one before has keys yet.
    stack.envoy.stop()
    kms = Kms(stack)
    kms.goes_away()
    stack.agent.start(until="/livez")
    stack.envoy.start()
    until(lambda: stack.agent.metric("kms_offline_seconds") > 0)
    status, _, body = unixhttp.request(stack.agent.socket, "GET", "/v1/keysets")
    assert status == 503
    assert b"keyData" not in body
    assert stack.agent.readiness()[0] == 503
    assert "the key agent is unavailable" in login_error(stack)["M"]
    kms.comes_back()
    until(lambda: stack.agent.readiness()[0] == 200)
    until(lambda: reads(stack) == [])


def test_envoy_as_another_user_than_those_allowed_gets_no_keys(made) -> None:
    stack = made()
    stack.agent.stop()
    stack.envoy.stop()
    # The socket is there, and its mode lets Envoy in: who connects is looked at all the same.
    stack.agent.launch("--allow-uid", str(os.getuid() + 1))
    until(stack.agent.socket.exists)
    stack.envoy.start()
    assert reads(stack) is None
    log = stack.agent.process.log.read_text()
    assert f'"uid":{os.getuid()}' in log
    assert "peer refused" in log
