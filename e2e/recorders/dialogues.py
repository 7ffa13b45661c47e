"""Records dialogues of real clients with a real server through the sidecar, for the engine's tests.

    PYTHONPATH=e2e:. .tools/venv/bin/python -m recorders.dialogues

Each becomes a file in `filters/engine/testdata/dialogues/`: the plan and the keysets (made for the recording,
worthless elsewhere), what client and server sent in the order in which it passed, and what the client got.
"""

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable
from pathlib import Path

import psycopg

from dev.layout import ROOT
from harness import Options, Stack, shop, unixhttp

OUT = ROOT / "filters" / "engine" / "testdata" / "dialogues"


class Tap:
    """A relay in front of Envoy and one behind it, on one thread, so that the order of events is theirs."""

    def __init__(self, socket: Path, server: Path, folder: Path) -> None:
        self.socket = socket
        self.folder = folder
        self.folder.mkdir()
        self._server = server
        self.events: list[tuple[str, bytes]] = []
        self.to_client = bytearray()
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    def start(self) -> None:
        self.listen(self.socket, self._server, front=False)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)

    def listen(self, path: Path, target: Path, *, front: bool) -> None:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            server_reader, server_writer = await asyncio.open_unix_connection(str(target))
            await asyncio.gather(
                self._pass(reader, server_writer, "client" if front else None),
                self._pass(server_reader, writer, "shown" if front else "server"),
            )

        asyncio.run_coroutine_threadsafe(asyncio.start_unix_server(handle, str(path)), self._loop).result()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, name: str | None) -> None:
        while chunk := await reader.read(65536):
            if name == "shown":
                self.to_client += chunk
            elif name is not None:
                self.events.append((name, chunk))
            writer.write(chunk)
        writer.close()


def simple(connection: psycopg.Connection) -> None:
    cursor = psycopg.ClientCursor(connection)
    cursor.execute("INSERT INTO customer VALUES (9001, 'Ada', 'ada@example.com', '078-05-1120', NULL, '4111', 'äöü')")
    cursor.execute("SELECT * FROM customer WHERE ssn IN ('078-05-1120', 'none'); SELECT 1")
    with contextlib.suppress(psycopg.errors.FeatureNotSupported):
        cursor.execute("SELECT id FROM customer WHERE ssn LIKE '078%'")
    cursor.execute("UPDATE customer SET notes = 'changed' WHERE email = 'ada@example.com' RETURNING notes, email")


def extended(connection: psycopg.Connection) -> None:
    for binary in (False, True):
        cursor = connection.cursor(binary=binary)
        for number in range(3):
            row = (9100 + number, f"u{number}@example.com", f"{number:09d}")
            cursor.execute(
                "INSERT INTO customer (id, email, ssn) VALUES (%s, %s, %s)"
                " ON CONFLICT (id) DO UPDATE SET email = EXCLUDED.email RETURNING email, ssn",
                row,
                prepare=True,
            )
        cursor.execute("SELECT id, ssn FROM customer WHERE email = %s", ("u1@example.com",))


def pipeline(connection: psycopg.Connection) -> None:
    with connection.pipeline():
        for number in range(5):
            connection.execute("INSERT INTO customer (id, ssn) VALUES (%s, %s)", (9200 + number, f"p{number}"))
        connection.execute("SELECT ssn FROM customer WHERE id >= 9200 ORDER BY id")
    try:
        with connection.pipeline():
            connection.execute("INSERT INTO customer (id, ssn) VALUES (9300, 'lost')")
            connection.execute("SELECT id FROM customer WHERE ssn > %s", ("a",))
            connection.execute("INSERT INTO customer (id, ssn) VALUES (9301, 'lost too')")
    except psycopg.errors.FeatureNotSupported:
        pass


def transactions_and_copy(connection: psycopg.Connection) -> None:
    try:
        with connection.transaction():
            connection.execute("INSERT INTO customer (id, ssn) VALUES (9400, 'x')")
            connection.execute("SELECT 1 / 0")
    except psycopg.errors.DivisionByZero:
        pass
    connection.execute("CREATE TEMP TABLE note (id int, what text)")
    with connection.cursor().copy("COPY note FROM STDIN") as copy:
        for number in range(20):
            copy.write_row((number, "x" * number))
    with connection.cursor().copy("COPY note TO STDOUT") as copy:
        for _ in copy:
            pass
    with connection.cursor().copy("COPY customer (id, ssn, notes) FROM STDIN") as copy:
        for number in range(3):
            copy.write_row((9410 + number, "078-05-1120", None))
    with connection.cursor().copy("COPY customer TO STDOUT (FORMAT csv)") as copy:
        for _ in copy:
            pass
    with (
        contextlib.suppress(psycopg.errors.BadCopyFileFormat),
        connection.cursor().copy("COPY customer FROM STDIN") as copy,
    ):
        copy.write("9500\ttoo few\n")
    connection.execute("SELECT count(*), count(ssn) FROM customer")


def cursors(connection: psycopg.Connection) -> None:
    connection.execute("PREPARE find AS SELECT id, ssn FROM customer WHERE ssn = $1")
    connection.execute("EXECUTE find ('078-05-1120')")
    with connection.transaction(), connection.cursor("held") as cursor:
        cursor.itersize = 2
        cursor.execute("SELECT id, ssn FROM customer UNION ALL SELECT 0, NULL ORDER BY 1")
        cursor.fetchall()
    connection.execute("WITH c AS (SELECT email FROM customer) SELECT DISTINCT email FROM c")


def reading(connection: psycopg.Connection) -> None:
    connection.execute("SELECT * FROM customer ORDER BY id")
    cursor = connection.cursor(binary=True)
    cursor.execute("SELECT email, ssn, notes FROM customer WHERE id = %s", (9001,))
    for refused in (
        "SELECT id FROM customer WHERE ssn = '078-05-1120'",
        "UPDATE customer SET ssn = 'x' WHERE id = 9001",
    ):
        with contextlib.suppress(psycopg.errors.InsufficientPrivilege):
            connection.execute(refused)


def ask(path: Path, method: str, target: str, body: object = None) -> object:
    """OPA's or the agent's answer, as the filter gets it."""
    headers = {"content-type": "application/json"}
    return json.loads(unixhttp.request(path, method, target, json.dumps(body).encode(), headers)[2])


def record(stack: Stack, tap: Tap, user: str, work: Callable[[psycopg.Connection], None]) -> None:
    tap.events, tap.to_client = [], bytearray()
    with psycopg.connect(
        host=str(tap.folder), user=user, dbname=shop.DATABASE, password=shop.PASSWORD, autocommit=True
    ) as connection:
        work(connection)
        shown = bytes(tap.to_client)
    session = {"user": user, "database": shop.DATABASE, "application_name": "", "source": ""}
    workload = {"namespace": "", "service_account": "", "spiffe_id": ""}
    principal = {
        "protocol": "postgres", "listener": "orders-db", "workload": workload, "session": session, "claims": {},
    }  # fmt: skip
    dialogue = {
        "plan": ask(stack.opa.socket, "POST", "/v1/data/fieldveil/plan", {"input": principal}),
        "keysets": ask(stack.agent.socket, "GET", "/v1/keysets"),
        "events": [[side, chunk.hex()] for side, chunk in tap.events],
        "to_client": shown.hex(),
    }
    (OUT / f"{work.__name__}_{user}.json").write_text(json.dumps(dialogue, indent=1) + "\n")


def main() -> None:
    stack = Stack(Options(relay=True))
    tap = Tap(stack.relay.socket, stack.postgres.socket, stack.work.path / "front")
    # One thread for both sides of Envoy: the stack's own relay has its place.
    stack.relay = tap
    with stack.start():
        tap.listen(tap.folder / ".s.PGSQL.5432", stack.socket_dir / ".s.PGSQL.5432", front=True)
        record(stack, tap, "app", simple)
        record(stack, tap, "app", extended)
        record(stack, tap, "app", pipeline)
        record(stack, tap, "app", transactions_and_copy)
        record(stack, tap, "app", cursors)
        record(stack, tap, "support", reading)
        record(stack, tap, "auditor", reading)


if __name__ == "__main__":
    main()
