"""What must hold when all clients have ended: each check returns what is wrong, a text for each."""

from collections.abc import Iterator
from pathlib import Path

from kills.clients import NAMES, rows
from kills.databases import Database
from kills.ledger import COLUMNS, MARK, SEALED, Ledger, Wrong, ssn

ENVELOPE = "fv1."
# Every so many rows are searched for by a value that is sealed.
SEARCHED = 10


def of_rows(database: Database, ledger: Ledger) -> list[str]:
    """Of what is stored, and of what the application reads of it."""
    return [*_stored(database, ledger), *_read(database, ledger)]


def of_files(database: Database) -> list[str]:
    """Of the server's files, its log of statements among them, and the logs of all other parts. Ends the server."""
    database.server.stop()
    logs = [path for path in (database.stack.work.path / "logs").rglob("*") if path.is_file()]
    return [f"a plaintext is in {path}" for path in (*database.files(), *logs) if _holds_mark(path)]


def _holds_mark(path: Path) -> bool:
    return MARK.encode() in path.read_bytes()


def _stored(database: Database, ledger: Ledger) -> Iterator[str]:
    with database.direct() as direct, direct.cursor() as cursor:
        cursor.execute(f"SELECT {NAMES} FROM customer")
        found = {row[0]: dict(zip(COLUMNS, row, strict=True)) for row in cursor.fetchall()}
    for number, row in found.items():
        for column in SEALED:
            if not (row[column] or "").startswith(ENVELOPE):
                yield f"row {number} has {column} unsealed: {(row[column] or 'NULL')[:60]}"
    for number in found.keys() - ledger.records.keys():
        yield f"row {number} is stored, and nobody wrote it"


def _read(database: Database, ledger: Ledger) -> Iterator[str]:
    with database.connect() as app:
        try:
            found = rows(app, "id >= %s", [0])
        except database.lost + database.refused as error:
            yield f"what is stored can't be read: {error}"
            return
        for count, (number, record) in enumerate(sorted(ledger.records.items())):
            try:
                ledger.compare(number, found.get(number), record.acknowledged)
                if count % SEARCHED == 0:
                    searched = rows(app, "ssn = %s", [ssn(number)])
                    ledger.compare(number, searched.get(number), record.acknowledged)
            except Wrong as error:
                yield str(error)
