"""A database of its own whose deterministic key is rotated, and connections that tell what workers have taken up."""

import json
from base64 import urlsafe_b64decode
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg

from harness import Options, Stack, shop
from harness.policies import write_for_table
from harness.waiting import until
from harness.workers import of_every_worker

DATABASE = "rotation"
KEYSET = "pii"
NOT_SUPPORTED = "0A000"

# Column: its type in the database, its declared type, and a value of it.
COLUMNS: dict[str, tuple[str, str, Callable[[int], object]]] = {
    "login": ("text", "text", lambda n: f"user-{n}"),
    "number": ("bytea", "int8", lambda n: n * 1000),
    "mail": ("varchar(500)", "varchar(80)", lambda n: f"{n}@example.org"),
}
LIST = ", ".join(COLUMNS)
INSERT = f"INSERT INTO account (id, {LIST}) VALUES (%s, %s, %s, %s)"


def values(number: int) -> list[object]:
    return [value(number) for _, _, value in COLUMNS.values()]


@contextmanager
def started(tmp_path: Path) -> Iterator[Stack]:
    """Two workers, and a keyset of its own."""
    protected = {
        column: {"protection": "deterministic", "keyset": KEYSET, "type": declared}
        for column, (_, declared, _) in COLUMNS.items()
    }
    write_for_table(tmp_path, DATABASE, "account", protected, "app")
    options = Options(policies=(tmp_path,), concurrency=2, filter_config={"keys": {"refresh_seconds": 1}})
    with Stack(options).start() as running:
        with running.postgres.connect() as superuser:
            superuser.execute(f"CREATE DATABASE {DATABASE}")
        with running.direct(database=DATABASE) as direct:
            columns = ", ".join(f"{column} {stored}" for column, (stored, _, _) in COLUMNS.items())
            direct.execute(f"CREATE TABLE account (id bigint PRIMARY KEY, {columns})")
            for column in COLUMNS:
                direct.execute(f"CREATE INDEX account_{column} ON account ({column})")
            shop.allow_all(direct, "account")
        yield running


def connect(stack: Stack, **options: object) -> psycopg.Connection:
    return stack.connect("app", DATABASE, **options)


def keys(stack: Stack) -> tuple[int, set[int]]:
    """The primary key, and the enabled ones, as the keyset's file says in clear."""
    info = json.loads((stack.agent.keysets / f"{KEYSET}.deterministic.json").read_text())["keysetInfo"]
    enabled = {key["keyId"] for key in info["keyInfo"] if key["status"] == "ENABLED"}
    return info["primaryKeyId"], enabled


def rotate(stack: Stack, *words: str) -> None:
    stack.agent.keys("rotate", KEYSET, "--purpose", "deterministic", *words)


def disable(stack: Stack, key: int) -> None:
    stack.agent.keys("disable", KEYSET, "--purpose", "deterministic", "--key-id", str(key))


def key_of(stored: str) -> int:
    """The key that an armored envelope names: magic, version and label tag, Tink's prefix, then the key's id."""
    envelope = urlsafe_b64decode(stored.removeprefix("fv1.") + "==")
    assert (envelope[:2], envelope[6]) == (b"\xf7\x01", 1)
    return int.from_bytes(envelope[7:11], "big")


def stored_keys(stack: Stack) -> dict[int, int]:
    """By row, the key that its login is sealed under."""
    with stack.direct(database=DATABASE) as direct:
        return {row: key_of(login) for row, login in direct.execute("SELECT id, login FROM account").fetchall()}


class Probes:
    """Connections that stay open, one of every worker. They are made before anybody else connects."""

    def __init__(self, stack: Stack, within: ExitStack) -> None:
        self._stack = stack
        self.connections = within.enter_context(of_every_worker(stack.envoy, lambda: connect(stack)))

    def wait(self, taken_up: Callable[[psycopg.Connection], bool]) -> None:
        """Until it is so on every one."""
        until(
            lambda: all(taken_up(connection) for connection in self.connections),
            "the change to be taken up by every worker",
        )

    def wait_for_several(self) -> None:
        self.wait(lambda connection: refusal(connection, "SELECT count(DISTINCT login) FROM account") is not None)

    def wait_for_one(self) -> None:
        self.wait(lambda connection: refusal(connection, "SELECT count(DISTINCT login) FROM account") is None)

    def wait_for_primary(self, key: int) -> None:
        def seals(connection: psycopg.Connection) -> bool:
            connection.execute("DELETE FROM account WHERE id = 0")
            connection.execute(INSERT, [0, *values(0)])
            return stored_keys(self._stack)[0] == key

        self.wait(seals)
        self.connections[0].execute("DELETE FROM account WHERE id = 0")


def refusal(connection: psycopg.Connection, statement: str, parameters: list | None = None) -> psycopg.Error | None:
    try:
        connection.execute(statement, parameters)
    except psycopg.Error as error:
        return error
    return None
