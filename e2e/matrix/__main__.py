"""Entry point: `python e2e/matrix [CLIENT ...]`. With none it runs all clients and writes `docs/drivers.md`.

Ends with 1 when anything differs from `clients/known.json`, or a client stored or read something wrong.
"""

import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import psycopg

from harness import Options, Stack
from harness.process import PartFailed
from matrix import database, document, known
from matrix.clients import CLIENTS, STEPS, Client
from matrix.result import Result
from matrix.run import run, run_plain
from tools.layout import ROOT

DOCUMENT = ROOT / "docs" / "drivers.md"


def main(names: list[str]) -> int:
    unknown = set(names) - {client.name for client in CLIENTS}
    if unknown:
        every = ", ".join(client.name for client in CLIENTS)
        print(f"no such client: {', '.join(sorted(unknown))}; there are: {every}", file=sys.stderr)
        return 2
    clients = [client for client in CLIENTS if not names or client.name in names]
    expected = known.load()
    try:
        results = _run(clients)
    except (PartFailed, psycopg.Error) as error:
        print(f"the stack failed: {error}", file=sys.stderr)
        return 1
    differences = [line for name, (_, sealed) in results.items() for line in sealed.differences(expected.of(name))]
    # Without Fieldveil everything has to work, or the program is at fault.
    differences += [f"without Fieldveil: {line}" for plain, _ in results.values() for line in plain.differences({})]
    if not names and all(len(sealed.steps) == len(STEPS) for _, sealed in results.values()):
        DOCUMENT.write_text(document.render(clients, {name: each[1] for name, each in results.items()}, expected))
        print(f"written: {DOCUMENT.relative_to(ROOT)}")
    for line in differences:
        print(f"DIFFERS  {line}")
    works, fails, absent = document.totals([sealed for _, sealed in results.values()])
    print(
        f"{len(clients)} clients: {works} steps work, {fails} do not, {absent} do not exist; "
        f"{len(differences)} differ from what is known"
    )
    return 1 if differences else 0


def _run(clients: list[Client]) -> dict[str, tuple[Result, Result]]:
    """Of each client what it did without Fieldveil, and with it."""
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        options = Options(relay=True, plain=True, policies=(database.write_policies(Path(folder)),))
        with Stack(options).start() as stack:
            database.create(stack)
            database.create_plain(stack)
            for client in clients:
                started = time.monotonic()
                plain, sealed = results[client.name] = run_plain(stack, client), run(stack, client)
                counts = [
                    f"{works:>2} of {works + fails} work"
                    for works, fails, _ in map(document.totals, ([plain], [sealed]))
                ]
                took = time.monotonic() - started
                print(f"  {client.title:<34} {counts[1]}, without Fieldveil {counts[0]} ({took:.0f} s)", flush=True)
    return results


def _counts(result: Result) -> str:
    works, fails, _ = document.totals([result])
    return f"{works:>2} of {works + fails} work"


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
