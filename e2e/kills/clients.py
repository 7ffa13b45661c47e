"""The clients: each writer has rows of its own and knows which changes were acknowledged; readers read all rows."""

import random
import threading
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from harness import waiting
from kills.databases import Database
from kills.ledger import COLUMNS, Ledger, Wrong, ssn, values

NAMES = ", ".join(COLUMNS)
ONE_ROW = f"({', '.join(['%s'] * len(COLUMNS))})"
UPDATE = f"UPDATE customer SET {', '.join(f'{name} = %s' for name in COLUMNS[1:])} WHERE id = %s"
# Each writer counts from its own number times this.
ROWS_OF_A_WRITER = 1_000_000
# As many rows are in one statement or transaction at most.
INSERTED, COPIED, READ = 4, 30, 20


@dataclass
class Run:
    """What all clients share."""

    database: Database
    ledger: Ledger = field(default_factory=Ledger)
    # All rows that were ever written, for readers to choose from.
    numbers: list[int] = field(default_factory=list)
    done: Counter = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)


class Client(ABC):
    """Has one connection after another: the next when the one before is lost."""

    def __init__(self, run: Run, seed: int) -> None:
        self.run = run
        self.rng = random.Random(seed)
        self.thread = threading.Thread(target=self._main)

    @abstractmethod
    def step(self, connection) -> None: ...

    @abstractmethod
    def settle(self, connection) -> None:
        """Finds out what has come of the last step, after the connection was lost."""

    def _main(self) -> None:
        try:
            while not self.run.stopping.is_set():
                self._one_connection(self._connected())
        except Exception as error:
            self.run.wrong.append(f"{type(error).__name__}: {error}")
            self.run.stopping.set()

    def _one_connection(self, connection) -> None:
        database = self.run.database
        try:
            while not self.run.stopping.is_set():
                self.step(connection)
            connection.close()
        except database.lost as error:
            if not database.is_lost(connection, error):
                raise
            self.run.done[f"connections lost by a {type(self).__name__.lower()}"] += 1
            self.settle(connection)

    def _connected(self):
        return waiting.until_done(self.run.database.connect, self.run.database.lost, "a connection to be served")


class Reader(Client):
    def settle(self, connection) -> None:
        """A read changes nothing."""

    def step(self, connection) -> None:
        if not self.run.numbers:
            self.run.stopping.wait(0.01)
            return
        first = self.rng.choice(self.run.numbers)
        if self.rng.random() < 0.3:
            self._read([first], connection, "ssn = %s", [ssn(first)])
            return
        numbers = range(first, first + self.rng.randrange(1, READ))
        self._read(list(numbers), connection, "id >= %s AND id < %s", [first, numbers.stop])

    def _read(self, numbers: list[int], connection, condition: str, parameters: list) -> None:
        least = {number: self.run.ledger.record(number).acknowledged for number in numbers}
        found = rows(connection, condition, parameters)
        for number in numbers:
            self.run.ledger.compare(number, found.get(number), least[number])
        self.run.done["rows read"] += len(found)


class Writer(Client):
    def __init__(self, run: Run, seed: int, number: int) -> None:
        super().__init__(run, seed)
        self._next = number * ROWS_OF_A_WRITER
        # Rows that are there.
        self._live: list[int] = []
        # The new versions of what is being done, and whether the server may have been asked to commit it.
        self._pending: dict[int, int] = {}
        self._is_asked = False

    def step(self, connection) -> None:
        choices: list[tuple[Callable, int]] = [(self._insert, 4), (self._transaction, 4), (self._rollback, 1)]
        if self._live:
            choices += [(self._update, 5), (self._delete, 1)]
        if self.run.database.can_copy:
            choices.append((self._copy, 2))
        activities, weights = zip(*choices, strict=True)
        self.rng.choices(activities, weights)[0](connection)

    def _insert(self, connection) -> None:
        made = self._new_rows(INSERTED)
        self._autocommit(lambda: insert(connection, made))

    def _update(self, connection) -> None:
        row = self._changed(self.rng.choice(self._live))
        self._autocommit(lambda: execute(connection, UPDATE, (*row[1:], row[0])))

    def _delete(self, connection) -> None:
        number = self.rng.choice(self._live)
        self._changed(number)
        self.run.ledger.record(number).deleted_at = self._pending[number]
        self._autocommit(lambda: execute(connection, "DELETE FROM customer WHERE id = %s", [number]))

    def _copy(self, connection) -> None:
        made = self._new_rows(COPIED)

        def copy() -> None:
            with connection.cursor() as cursor, cursor.copy(f"COPY customer ({NAMES}) FROM STDIN") as copying:
                for row in made:
                    copying.write_row(row)

        self._autocommit(copy)

    def _transaction(self, connection) -> None:
        self._change_within(connection)
        self._ask()
        execute(connection, "COMMIT")
        self._acknowledge()

    def _rollback(self, connection) -> None:
        self._change_within(connection)
        execute(connection, "ROLLBACK")
        self._pending = {}

    def _change_within(self, connection) -> None:
        """Begins a transaction and changes some rows in it, each in a statement of its own."""
        execute(connection, "BEGIN")
        for row in self._new_rows(INSERTED):
            insert(connection, [row])
        for number in self.rng.sample(self._live, min(2, len(self._live))):
            row = self._changed(number)
            execute(connection, UPDATE, (*row[1:], row[0]))

    def _new_rows(self, most: int) -> list[tuple]:
        made = range(self._next, self._next + self.rng.randrange(1, most + 1))
        self._next = made.stop
        return [self._changed(number) for number in made]

    def _changed(self, number: int) -> tuple:
        """The next version of a row, which is pending from now on."""
        self._pending[number] = self.run.ledger.record(number).acknowledged + 1
        return values(number, self._pending[number])

    def _autocommit(self, do: Callable[[], None]) -> None:
        self._ask()
        do()
        self._acknowledge()

    def _ask(self) -> None:
        """From here on the server may commit what is pending."""
        self._is_asked = True
        for number, version in self._pending.items():
            self.run.ledger.record(number).possible = version

    def _acknowledge(self) -> None:
        self.run.done["changes acknowledged"] += 1
        self._finish(self._pending)

    def _finish(self, versions: dict[int, int]) -> None:
        """These versions are what is stored."""
        for number, version in versions.items():
            record = self.run.ledger.record(number)
            record.acknowledged = record.possible = version
            if record.deleted_at != version:
                record.deleted_at = None
            is_live = not record.is_absent(version)
            if is_live and version == 1 and number not in self._live:
                self._live.append(number)
                self.run.numbers.append(number)
            if not is_live and number in self._live:
                self._live.remove(number)
        self._pending, self._is_asked = {}, False

    def settle(self, connection) -> None:
        """Whether what was pending has come about: all of it or nothing, and nothing if no commit was asked for."""
        if not self._pending:
            return
        self._wait_for_end(self.run.database.session_number(connection))
        database = self.run.database
        condition = f"id IN ({', '.join(['%s'] * len(self._pending))})"

        def read() -> dict[int, tuple]:
            with self._connected() as again:
                return rows(again, condition, list(self._pending))

        found = waiting.until_done(read, database.lost, "what was pending to be read")
        new = self._pending
        ledger = self.run.ledger
        old = {number: ledger.record(number).acknowledged for number in new}
        is_new = self._is_asked and self._are(found, new)
        if not is_new and not self._are(found, old):
            asked = "asked for" if self._is_asked else "not asked for"
            raise Wrong(f"a commit that was {asked} is there in part: of {new} was found {sorted(found)}")
        self.run.done[f"changes in doubt that {'had' if is_new else 'had not'} been stored"] += 1
        self._finish(new if is_new else old)

    def _are(self, found: dict[int, tuple], versions: dict[int, int]) -> bool:
        """Returns true when the rows that were read are of these versions."""
        ledger = self.run.ledger
        return all(
            ledger.version_of(number, found.get(number))
            == (None if ledger.record(number).is_absent(version) else version)
            for number, version in versions.items()
        )

    def _wait_for_end(self, session: int) -> None:
        """What the server was asked for before the connection ended it may still be doing."""
        with self.run.database.direct() as direct, direct.cursor() as cursor:

            def is_over() -> bool:
                cursor.execute(self.run.database.sessions, [session])
                return cursor.fetchone() == (0,)

            waiting.until(is_over, "the server to end the lost session")


def execute(connection, statement: str, parameters: list | tuple = ()) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)


def insert(connection, made: list[tuple]) -> None:
    parameters = [value for row in made for value in row]
    execute(connection, f"INSERT INTO customer ({NAMES}) VALUES {', '.join([ONE_ROW] * len(made))}", parameters)


def rows(connection, condition: str, parameters: list) -> dict[int, tuple]:
    """By number, what the connection is shown of the rows for which a condition holds."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {NAMES} FROM customer WHERE {condition}", parameters)
        return {row[0]: tuple(row) for row in cursor.fetchall()}
