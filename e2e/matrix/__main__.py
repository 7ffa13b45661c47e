"""Entry point: `python e2e/matrix [CLIENT ...]`. With none it runs all clients and writes the two documents of drivers.

Ends with 1 when anything differs from `clients/known.json`, or a client stored or read something wrong.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import psycopg
import pymysql

from dev.layout import ROOT
from harness import Options, Stack
from harness.mysql_builds import MYSQL, NEWER
from harness.mysql_stack import MySqlOptions, MySqlStack
from harness.process import PartFailed
from matrix import database, document, known, mysql
from matrix.clients import CLIENTS, MYSQL_CLIENTS, STEPS, Client
from matrix.known import Known
from matrix.result import Result
from matrix.run import run, run_plain
from matrix.tls import MySqlByTls, PostgresByTls, refuses

DOCUMENTS = (
    (ROOT / "docs" / "reference" / "drivers.md", CLIENTS, document.OPENING),
    (ROOT / "docs" / "reference" / "mysql-drivers.md", MYSQL_CLIENTS, document.MYSQL_OPENING),
)
# What a client did without Fieldveil, and with it.
Both = tuple[Result, Result]


def main(names: list[str]) -> int:
    every = tuple(client for client in (*CLIENTS, *MYSQL_CLIENTS) if client.is_there)
    unknown = set(names) - {client.name for client in every}
    if unknown:
        there = ", ".join(client.name for client in every)
        print(f"no such client: {', '.join(sorted(unknown))}; there are: {there}", file=sys.stderr)
        return 2
    clients = [client for client in every if not names or client.name in names]
    expected = known.load()
    try:
        results = _run(clients)
        by_tls = _run_by_tls([client for client in clients if client.tls], expected)
    except (PartFailed, psycopg.Error, pymysql.MySQLError) as error:
        print(f"the stack failed: {error}", file=sys.stderr)
        return 1
    differences = [line for name, (_, sealed) in results.items() for line in sealed.differences(expected.of(name))]
    # Without Fieldveil everything has to work, or the program is at fault.
    differences += [f"without Fieldveil: {line}" for plain, _ in results.values() for line in plain.differences({})]
    differences += [f"within TLS: {line}" for lines in by_tls.values() for line in lines]
    # What a part of them did is no document.
    whole = not names and len(every) == len(CLIENTS) + len(MYSQL_CLIENTS)
    if whole and all(len(sealed.steps) == len(STEPS) for _, sealed in results.values()):
        sealed = {name: each[1] for name, each in results.items()}
        for path, of, opening in DOCUMENTS:
            path.write_text(document.render(list(of), sealed, expected, by_tls, opening))
            print(f"written: {path.relative_to(ROOT)}")
    for line in differences:
        print(f"DIFFERS  {line}")
    works, fails, absent = document.totals([sealed for _, sealed in results.values()])
    print(
        f"{len(clients)} clients: {works} steps work, {fails} do not, {absent} do not exist; "
        f"{len(differences)} differ from what is known"
    )
    return 1 if differences else 0


def _run(clients: list[Client]) -> dict[str, Both]:
    of_mysql = [client for client in clients if client.mysql]
    of_postgres = [client for client in clients if not client.mysql]
    results = _of_postgres(of_postgres) if of_postgres else {}
    return results | (_of_mysql(of_mysql) if of_mysql else {})


def _of_postgres(clients: list[Client]) -> dict[str, Both]:
    with tempfile.TemporaryDirectory() as folder:
        options = Options(relay=True, plain=True, policies=(database.write_policies(Path(folder)),))
        with Stack(options).start() as stack:
            database.create(stack)
            database.create_plain(stack)
            return {client.name: _each(client, lambda it: (run_plain(stack, it), run(stack, it))) for client in clients}


def _of_mysql(clients: list[Client]) -> dict[str, Both]:
    with tempfile.TemporaryDirectory() as folder:
        options = MySqlOptions(relay=True, plain=True, policies=(mysql.write_policies(Path(folder)),))
        with MySqlStack(options).start() as stack:
            mysql.create(stack)
            return {
                client.name: _each(client, lambda it: (mysql.run_plain(stack, it), mysql.run(stack, it)))
                for client in clients
            }


def _run_by_tls(clients: list[Client], expected: Known) -> dict[str, list[str]]:
    """How each differs from what is known of it, within TLS."""
    differences: dict[str, list[str]] = {client.name: [] for client in clients}
    builds = [build for build in (NEWER, MYSQL) if build.is_there]
    makers = {False: [PostgresByTls], True: [partial(MySqlByTls, build) for build in builds]}
    for of_mysql, make in ((of_mysql, make) for of_mysql, all_of_them in makers.items() for make in all_of_them):
        some = [client for client in clients if client.mysql == of_mysql]
        if not some:
            continue
        with tempfile.TemporaryDirectory() as folder:
            bridged = make(Path(folder)).start()
            try:
                for client in some:
                    found = bridged.run(client).differences(expected.of(client.name))
                    found += refuses(client, bridged)
                    differences[client.name] += found
                    print(f"  {client.title:<44} within TLS: {len(found)} differ", flush=True)
            finally:
                bridged.stop()
    return differences


def _each(client: Client, both: Callable[[Client], Both]) -> Both:
    started = time.monotonic()
    plain, sealed = both(client)
    counts = [f"{works:>2} of {works + fails} work" for works, fails, _ in map(document.totals, ([plain], [sealed]))]
    took = time.monotonic() - started
    print(f"  {client.title:<44} {counts[1]}, without Fieldveil {counts[0]} ({took:.0f} s)", flush=True)
    return plain, sealed


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
