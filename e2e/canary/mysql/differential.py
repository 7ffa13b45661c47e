"""Runs scripts on the sealed server and, what it did not refuse, on the plain one; the answers must be the same."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace

from canary import leaks
from canary.client import Outcome
from canary.compare import difference
from canary.marks import Marks
from canary.mysql import comparisons, schema
from canary.mysql.client import Client
from canary.mysql.schema import create_sql, name
from canary.mysql.statements import Maker, insert, script, select
from canary.report import Report
from canary.schema import CONCEALED, DATABASE, MASKED, WRITER, Column, Table
from canary.steps import SIMPLE, Script, Step
from canary.watch import TRAPS
from harness import shop
from harness.mysql_shop import allow_all
from harness.mysql_stack import SEALED, MySqlStack
from harness.mysqld import MySqld

SEED_STATEMENTS = 40
CHECK_EVERY = 60
MAX_FAULTS = 8
MANY_ROWS = 60
LEAST_COMPARISONS = 400


class Differential:
    def __init__(self, stack: MySqlStack, plain: MySqld, seed: int, say: Callable[[str], None]) -> None:
        self._stack, self._plain_server, self._say = stack, plain, say
        self._rng = random.Random(seed)
        self._marks = Marks(self._rng)
        self._mariadb = not stack.options.build.mysql
        self.report = Report(seed)
        self._scanned: dict[int, int] = {}
        self._create()
        self._connect()
        self._fill()

    def run(self, count: int) -> Report:
        while self.report.statements < count and self._faults < MAX_FAULTS:
            self._script(script(self._rng, self._marks, self._mariadb))
            if self.report.scripts % CHECK_EVERY == 0:
                self._look()
                self._say(f"{self.report.statements} of {count} statements")
        self._look()
        self._compare_types(max(LEAST_COMPARISONS, count // 10))
        self.report.leaks += self._everywhere()
        for client in (self._sealed, self._plain):
            client.close()
        return self.report

    def _compare_types(self, count: int) -> None:
        """Columns of each type beside values of each, cast and bound in each way."""
        for step in (*comparisons.rows(), *comparisons.steps(self._rng, count)):
            if self._faults >= MAX_FAULTS:
                return
            self.report.statements += 1
            self._step(step, Script([step]))

    @property
    def _faults(self) -> int:
        return len(self.report.disagreements) + len(self.report.leaks)

    def _create(self) -> None:
        for server, sealed in ((self._stack.server, True), (self._plain_server, False)):
            with server.connect() as superuser, superuser.cursor() as cursor:
                cursor.execute(f"CREATE DATABASE {DATABASE}")
                if not sealed:
                    for role in shop.ROLES:
                        cursor.execute(f"CREATE USER {role}@'%%' IDENTIFIED BY %s", [shop.PASSWORD])
                allow_all(cursor, DATABASE)
                cursor.execute(f"USE {DATABASE}")
                build = self._stack.options.build
                for table in schema.TABLES:
                    cursor.execute(create_sql(table, build, sealed=sealed))
                cursor.execute(comparisons.create_sql(build, sealed=sealed))

    def _connect(self) -> None:
        self._sealed = Client(self._where(WRITER))
        plain = {"unix_socket": str(self._plain_server.socket)}
        self._plain = Client({**self._where(WRITER), **plain})

    def _where(self, user: str) -> dict:
        socket = str(self._stack.envoy.socket(SEALED))
        return {"unix_socket": socket, "user": user, "password": shop.PASSWORD, "database": DATABASE}

    def _fill(self) -> None:
        for _ in range(SEED_STATEMENTS):
            self._script(Script([insert(Maker(self._rng, self._marks, self._mariadb, SIMPLE))]))

    def _script(self, script: Script) -> None:
        self.report.scripts += 1
        self.report.statements += len(script.steps)
        faults = self._faults
        for number, step in enumerate(script.steps):
            shown = Script(script.steps[: number + 1])
            goes_on = self._step(step, shown)
            what = self._to_server()
            if what:
                self.report.leaks.append(f"{shown}\n  to the server: {what}")
            if what or not goes_on:
                break
        if self._faults > faults:
            self._start_over()
            return
        for client in (self._sealed, self._plain):
            client.run(Step("control", "ROLLBACK"))

    def _step(self, step: Step, script: Script) -> bool:
        """Whether the script can go on."""
        sealed = self._sealed.run(step)
        refused = next((outcome for outcome in sealed if outcome.refused), None)
        if refused:
            self.report.refuse(step.kind, refused.code, refused.message)
            if sealed[0] is not refused and step.kind != "several":
                return self._disagree(script, f"a refusal after something was answered: {sealed}")
            # What is not prepared cannot be executed.
            return step.kind != "prepare"
        plain = self._plain.run(step)
        sealed, reason = tolerated(step, sealed, plain)
        if reason:
            self.report.tolerated[reason] += 1
        what = difference(step, sealed, plain)
        if what:
            return self._disagree(script, what)
        failed = next((outcome for outcome in sealed if outcome.kind == "error"), None)
        if failed:
            self.report.failed[failed.code] += 1
        else:
            self.report.executed[step.kind] += 1
        return True

    def _disagree(self, script: Script, what: str) -> bool:
        self.report.disagreements.append(f"{script}\n  {what}")
        return False

    def _start_over(self) -> None:
        """New connections and new rows, so that what comes next is judged by itself."""
        for client in (self._sealed, self._plain):
            client.close()
        for server in (self._stack.server, self._plain_server):
            with server.connect(DATABASE) as superuser, superuser.cursor() as cursor:
                for table in schema.TABLES:
                    cursor.execute(f"TRUNCATE {name(table.name)}")
        self._connect()
        if self._faults < MAX_FAULTS:
            self._fill()

    def _look(self) -> None:
        """Everything, read through the sidecar, is what the plain database has, and others see no mark."""
        self._read_as_others()
        rows = 0
        for table in schema.TABLES:
            step = Step("whole table", f"SELECT * FROM {name(table.name)}")
            sealed, plain = self._sealed.run(step), self._plain.run(step)
            what = difference(step, sealed, plain)
            if what:
                self._disagree(Script([step]), f"after {self.report.statements} statements: {what}")
                self._start_over()
                return
            rows = max(rows, *(len(outcome.rows) for outcome in plain))
        if rows > MANY_ROWS:
            self._start_over()

    def _read_as_others(self) -> None:
        for user in (MASKED, CONCEALED):
            client = Client(self._where(user))
            for _ in range(8):
                step = select(Maker(self._rng, self._marks, self._mariadb, SIMPLE))
                outcomes: list[Outcome] = client.run(step)
                self.report.reads_of_others += 1
                what = leaks.found_in(repr(outcomes).encode(), self._marks)
                if what and any(outcome.rows or outcome.refused for outcome in outcomes):
                    self.report.leaks.append(f"  as {user}: {step}\n  came back: {what}")
            client.close()

    def _to_server(self) -> str:
        """The first mark that passed to the server since the last look."""
        for recording in list(self._stack.relay.recordings):
            start = self._scanned.get(id(recording), 0)
            data = bytes(recording.to_server[start:])
            self._scanned[id(recording)] = start + len(data)
            if what := leaks.found_in(data, self._marks):
                return what
        return ""

    def _everywhere(self) -> list[str]:
        """Columns in which something else than envelopes is stored, files and logs with marks, and traps."""
        found = [f"stored in clear: {told}" for told in self._in_clear()]
        for folder in (self._stack.server.home, self._stack.work.path / "logs"):
            found += leaks.files_with_marks(folder, self._marks)
        log = self._stack.envoy.process.log.read_bytes()
        return found + [f"Envoy's log says: {trap.decode()}" for trap in TRAPS if trap in log]

    def _in_clear(self) -> Iterator[str]:
        with self._stack.server.connect(DATABASE) as superuser, superuser.cursor() as cursor:
            for table in schema.PROTECTED:
                for column in filter(lambda column: column.protected, table.columns):
                    cursor.execute(_count_of_clear(table, column))
                    if count := cursor.fetchone()[0]:
                        yield f"{table.name}.{column.name}: {count}"


def tolerated(step: Step, sealed: list[Outcome], plain: list[Outcome]) -> tuple[list[Outcome], str]:
    """The sealed side's outcomes without the difference that is known and let be, and the reason in words."""
    replaces = "ON DUPLICATE KEY UPDATE" in step.text or "REPLACE INTO" in step.text
    differs = len(sealed) == len(plain) and any(a.tag != b.tag for a, b in zip(sealed, plain, strict=True))
    if not (replaces or step.kind.startswith("execute")) or not differs:
        return sealed, ""
    reason = "a row that is sealed anew counts as changed where its plaintext is the same"
    return [replace(a, tag=b.tag) for a, b in zip(sealed, plain, strict=True)], reason


def _count_of_clear(table: Table, column: Column) -> str:
    is_sealed = (
        f"LEFT({name(column.name)}, 2) = x'f701'" if column.stored == "bytea" else f"{name(column.name)} LIKE 'fv1.%'"
    )
    return f"SELECT count(*) FROM {name(table.name)} WHERE NOT ({is_sealed})"
