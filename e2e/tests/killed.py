"""What the tests of a killed Envoy have in common: a run of `kills`, and faults that are planted after it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from harness.envoy import SHELL
from kills import check
from kills.__main__ import Report, run
from kills.databases import Database
from kills.ledger import MARK

SEED = 20261
# Envoy starts anew after each, which takes seconds with WebAssembly, and a minute where others use the cores.
KILLS = 10 if SHELL == "native" else 3


@dataclass(frozen=True)
class Killed:
    """A database whose Envoy was killed, and which is still there to plant faults in."""

    database: Database
    report: Report

    def problems(self) -> list[str]:
        return check.of_rows(self.database, self.report.ledger)

    def plant(self, statement: str, parameters: tuple) -> None:
        """Straight to the server."""
        with self.database.direct() as direct, direct.cursor() as cursor:
            cursor.execute(statement, parameters)

    def live_rows(self, count: int) -> list[int]:
        """Some rows that are there."""
        records = self.report.ledger.records.items()
        return [number for number, record in records if not record.is_absent(record.acknowledged)][:count]


@contextmanager
def killed(database: Database) -> Iterator[Killed]:
    with database.stack.start():
        report = run(database, SEED, KILLS)
        print(report)
        database.server.start()
        yield Killed(database, report)


def assert_clean(killed: Killed) -> None:
    report = killed.report
    assert report.wrong == []
    assert report.kills == KILLS
    # A kill that met nothing on its way shows nothing.
    assert report.in_doubt > 0
    assert report.done["rows read"] > 0
    assert killed.problems() == []


def assert_faults_are_caught(killed: Killed) -> None:
    """Each fault that the checks are to catch."""
    lost, plain, other, changed, half = killed.live_rows(5)
    copy = "(SELECT phone FROM (SELECT phone FROM customer WHERE id = %s) AS source)"
    killed.plant("DELETE FROM customer WHERE id = %s", (lost,))
    killed.plant(f"UPDATE customer SET phone = {copy} WHERE id = %s", (other, changed))
    killed.plant("UPDATE customer SET card = NULL WHERE id = %s", (half,))
    problems = "\n".join(killed.problems())
    assert f"row {lost} is lost" in problems
    assert f"row {changed} is no row that was written" in problems
    assert f"row {half} is no row that was written" in problems
    killed.plant("UPDATE customer SET notes = %s WHERE id = %s", (f"{MARK} planted", plain))
    assert f"row {plain} has notes unsealed: {MARK} planted" in killed.problems()
    assert check.of_files(killed.database) != []
