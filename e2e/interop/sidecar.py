"""The filter as one that seals and opens: a table with one column a keyset, behind the sidecar."""

import base64
from contextlib import ExitStack
from pathlib import Path

import psycopg

from harness import Options, Stack, policies, shop
from interop.keysets import ALL, TABLE, Folder, Keyset
from interop.keytypes import AEAD, DETERMINISTIC, PRF
from interop.program import Program

DATABASE = "interop"
USER = "app"
PROTECTIONS = {AEAD: "randomized", DETERMINISTIC: "deterministic", PRF: "indexed"}

HEAD, INDEX = 6, 16


def _write_policies(folder: Path) -> Path:
    columns = {
        keyset.column: {"protection": PROTECTIONS[keyset.type.purpose], "keyset": keyset.name, "type": "text"}
        for keyset in ALL
    }
    return policies.write_for_table(folder, DATABASE, TABLE, columns, USER)


class Sidecar:
    """The filter: it seals in INSERT and opens in SELECT."""

    def __init__(self, folder: Path) -> None:
        self._stack = Stack(Options(policies=(_write_policies(folder),), keysets=()))
        self._connections = ExitStack()
        self._rows = 0

    def __enter__(self) -> "Sidecar":
        self._stack.start(without=("agent",))
        self.folder = Folder(self._stack.agent)
        return self

    def __exit__(self, *_: object) -> None:
        self._connections.close()
        self._stack.stop()

    def serve(self, programs: dict[str, Program]) -> None:
        """Writes the keysets, lets the agent open them, and makes the table."""
        self.folder.write_all(programs)
        self._stack.agent.start()
        with self._stack.postgres.connect() as superuser:
            superuser.execute(f"CREATE DATABASE {DATABASE}")
        self._direct = self._connections.enter_context(self._stack.direct(database=DATABASE))
        columns = ", ".join(f"{keyset.column} text" for keyset in ALL)
        self._direct.execute(f"CREATE TABLE {TABLE} (id bigint PRIMARY KEY, {columns})")
        shop.allow_all(self._direct, TABLE)
        self._app = self._connections.enter_context(self._stack.connect(USER, DATABASE))

    def seal(self, plaintext: bytes) -> dict[Keyset, bytes]:
        """One value sealed under every keyset: ciphertexts; of PRFs, the index."""
        row = self._insert(self._app, dict.fromkeys(ALL, plaintext.decode()))
        stored = self._direct.execute(f"SELECT * FROM {TABLE} WHERE id = %s", [row]).fetchone()[1:]
        sealed = {}
        for keyset, text in zip(ALL, stored, strict=True):
            raw = base64.urlsafe_b64decode(text.removeprefix("fv1.") + "==")
            if raw[:HEAD] != keyset.envelope_head():
                raise ValueError(f"{keyset.column} stores no envelope of its label")
            sealed[keyset] = raw[HEAD : HEAD + INDEX] if keyset.type.purpose == PRF else raw[HEAD:]
        return sealed

    def open(self, keyset: Keyset, ciphertext: bytes) -> bytes | None:
        """None: the filter says that it does not open."""
        text = base64.urlsafe_b64encode(keyset.envelope_head() + ciphertext).decode().rstrip("=")
        row = self._insert(self._direct, {keyset: f"fv1.{text}"})
        try:
            (text,) = self._app.execute(f"SELECT {keyset.column} FROM {TABLE} WHERE id = %s", [row]).fetchone()
        except psycopg.errors.DataCorrupted:
            return None
        return text.encode()

    def _insert(self, connection: psycopg.Connection, values: dict[Keyset, str]) -> int:
        self._rows += 1
        names = ", ".join(["id", *(keyset.column for keyset in values)])
        places = ", ".join(["%s"] * (len(values) + 1))
        connection.execute(f"INSERT INTO {TABLE} ({names}) VALUES ({places})", [self._rows, *values.values()])
        return self._rows
