"""What has been acknowledged of each row, and what may be stored of it therefore.

A row goes through versions 1, 2, 3 and so on; 0 is a row that is not there yet. The last version may be its deletion.
All values follow from the row's number and its version, so a value says whose it is.
"""

from dataclasses import dataclass, field

COLUMNS = ("id", "name", "email", "ssn", "phone", "card", "notes")
SEALED = COLUMNS[2:]
# In every value that is to be sealed: where it is found at the server, a plaintext was stored or sent.
MARK = "KILLMARK"
# Some notes are long, so that they come in several pieces. Sealed they must fit a TEXT of MariaDB, of 64 KiB.
LONG_NOTES, EVERY_LONG = 40_000, 17


def values(number: int, version: int) -> tuple:
    """A row as the application writes it. It is searched by `ssn`, which stays."""
    text = f"{MARK}-{number}-{version}"
    padding = "x" * LONG_NOTES if (number + version) % EVERY_LONG == 0 else ""
    name = f"version {version}"
    return number, name, f"{text}@example.com", ssn(number), f"{text}-phone", f"{text}-card", f"{text}-notes{padding}"


def ssn(number: int) -> str:
    return f"{MARK}-{number}-ssn"


class Wrong(AssertionError):
    """What must never be: the text says which row, and what was seen in place of what."""


@dataclass
class Record:
    """One row. Only the client that writes it changes its record."""

    # The last version that was acknowledged.
    acknowledged: int = 0
    # The last version that may have been stored: the server was asked to commit it.
    possible: int = 0
    deleted_at: int | None = None

    def is_absent(self, version: int) -> bool:
        return version in (0, self.deleted_at)


@dataclass
class Ledger:
    records: dict[int, Record] = field(default_factory=dict)

    def record(self, number: int) -> Record:
        return self.records.setdefault(number, Record())

    def version_of(self, number: int, row: tuple | None) -> int | None:
        """The version of a row as it was read, None if there is none. Raises for a row that was never written so."""
        if row is None:
            return None
        name = row[1] or ""
        version = int(name.removeprefix("version ")) if name.startswith("version ") else -1
        if tuple(row) != values(number, version):
            raise Wrong(f"row {number} is no row that was written: {_short(row)}")
        return version

    def compare(self, number: int, row: tuple | None, least: int) -> None:
        """A row that was read must be one that may be stored now, and no older than the version `least`."""
        record, version = self.record(number), self.version_of(number, row)
        most = record.possible
        if version is None:
            if not any(record.is_absent(each) for each in range(least, most + 1)):
                raise Wrong(f"row {number} is lost: version {least} was acknowledged")
        elif not least <= version <= most or record.is_absent(version):
            raise Wrong(f"row {number} has version {version}, and must be of versions {least} to {most}")


def _short(row: tuple) -> str:
    return ", ".join(str(value)[:60] for value in row)
