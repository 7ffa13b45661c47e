"""The system refuses Envoy more memory while large rows come: what the filter has not given back is not sent.

Where a container has too little memory the kernel kills Envoy instead, which is what `test_kills` is about."""

import threading
from pathlib import Path

import psutil
import psycopg
import pytest

from harness import Stack
from harness.envoy import SHELL
from harness.waiting import until
from tests.reloads import served
from tests.rows import ADA, INSERT

MARK = "NOMEMORYMARK"
# Of a statement: together more than Envoy may still take, and each no longer than what is sealed of one value.
ROWS, NOTES = 12, 900_000
MORE_BYTES = 8 << 20
CLIENTS = 4

pytestmark = pytest.mark.skipif(not hasattr(psutil, "RLIMIT_DATA"), reason="a limit of another process takes Linux")


def limit_memory(pid: int) -> None:
    """The process gets no more than MORE_BYTES beside what it has; address space that it has only reserved is free."""
    status = Path(f"/proc/{pid}/status").read_text()
    taken = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmData:")) << 10
    psutil.Process(pid).rlimit(psutil.RLIMIT_DATA, (taken + MORE_BYTES, psutil.RLIM_INFINITY))


def give_memory(pid: int) -> None:
    psutil.Process(pid).rlimit(psutil.RLIMIT_DATA, (psutil.RLIM_INFINITY, psutil.RLIM_INFINITY))


def large_rows(client: int) -> list[tuple]:
    first = 1000 * client
    return [(number, f"{MARK}-{number}", MARK + "x" * NOTES) for number in range(first, first + ROWS)]


def insert_large(stack: Stack, client: int, ended: list[int]) -> None:
    made = large_rows(client)
    try:
        with stack.connect("app") as app:
            rows = ", ".join(["(%s, %s, %s)"] * ROWS)
            statement = f"INSERT INTO customer (id, ssn, notes) VALUES {rows}"
            app.execute(statement, [value for row in made for value in row])
    except psycopg.OperationalError:
        ended.append(client)


def test_large_rows_without_memory_end_connections_and_nothing_acknowledged_is_lost() -> None:
    with Stack() as stack:
        with stack.connect("app") as app:
            app.execute(INSERT, ADA)
        limit_memory(stack.envoy.process.pid)
        ended: list[int] = []
        threads = [threading.Thread(target=insert_large, args=(stack, each, ended)) for each in range(1, CLIENTS + 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert ended
        if SHELL == "native":
            # It is code of Envoy's process, which ends as a whole.
            until(lambda: not stack.envoy.process.running)
        else:
            # The module traps, and is there again as soon as there is memory for it.
            give_memory(stack.envoy.process.pid)
            served(lambda: stack.connect("app"), psycopg.OperationalError).close()
        stack.envoy.stop()
        stack.envoy.start()
        with stack.connect("app") as app:
            found = dict(app.execute("SELECT id, ssn FROM customer").fetchall())
        assert found.pop(ADA[0]) == ADA[3]
        for client in range(1, CLIENTS + 1):
            expected = {number: ssn for number, ssn, _ in large_rows(client)}
            stored = {number: ssn for number, ssn in found.items() if number in expected}
            # A statement whose connection ended may have been executed: as a whole.
            assert stored == expected or (client in ended and not stored)
        with stack.direct() as direct:
            plain = "SELECT count(*) FROM customer WHERE ssn NOT LIKE 'fv1.%' OR notes NOT LIKE 'fv1.%'"
            assert direct.execute(plain).fetchone() == (0,)
        logs = [path for path in (stack.work.path / "logs").iterdir() if MARK.encode() in path.read_bytes()]
        assert logs == []
