"""Runs scripts on the sealed database and, what it did not refuse, on the plain one; the answers must be the same.

The sealed one goes first: what the sidecar refuses is not applied to the plain one at all, so the tables stay equal
if, and only if, nothing of a refused statement was applied."""

import random
from collections.abc import Callable

from psycopg import pq

from canary import comparisons, leaks, schema
from canary.client import Client, Outcome
from canary.compare import difference, tolerated
from canary.generate import script, sessions, sources, writes
from canary.generate.copying import copy_out
from canary.generate.maker import Maker
from canary.marks import Marks
from canary.names import quoted
from canary.report import Report
from canary.steps import SIMPLE, Script, Step
from canary.watch import Watch
from harness import Stack, shop
from harness.postgres import Postgres
from harness.stack import CONNECT_SECONDS

SEED_ROWS = 12
# Whole tables are compared, and other principals read, every so many scripts.
CHECK_EVERY = 60
MAX_FAULTS = 8
LEAST_COMPARISONS = 400
# Of one table: joins of joins of more bring millions.
MANY_ROWS = 60
IDLE, FAILED = pq.TransactionStatus.IDLE, pq.TransactionStatus.INERROR


class Differential:
    def __init__(self, stack: Stack, plain: Postgres, seed: int, say: Callable[[str], None] = lambda _: None) -> None:
        self._stack, self._plain_server, self._say = stack, plain, say
        self._rng = random.Random(seed)
        self.marks = Marks(self._rng)
        self.report = Report(seed)
        self._watch = Watch(stack, self.marks)
        self._connect()
        self._fill()

    def run(self, count: int) -> Report:
        self.go_on(count)
        return self.finish()

    def go_on(self, count: int) -> None:
        """Until so many statements were made in all, or too much is wrong."""
        while self.report.statements < count and self._faults < MAX_FAULTS:
            self._script(script(self._rng, self.marks))
            many = self._most_rows() > MANY_ROWS
            if many or self.report.scripts % CHECK_EVERY == 0:
                self._read_as_others()
                self._compare_tables()
                self._say(f"{self.report.statements} of {count} statements")
                if many:
                    self._start_over()

    def finish(self) -> Report:
        self._compare_tables()
        self._compare_types(max(LEAST_COMPARISONS, self.report.statements // 10))
        self.report.leaks += self._watch.everywhere()
        self.report.disagreements += self._watch.traps()
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

    def _connect(self) -> None:
        self._sealed = Client(self._stack.connect(schema.WRITER, schema.DATABASE))
        self._plain = Client(
            self._plain_server.connect(
                schema.DATABASE, schema.WRITER, password=shop.PASSWORD, connect_timeout=CONNECT_SECONDS
            )
        )

    def _reconnect(self) -> None:
        for client in (self._sealed, self._plain):
            client.close()
        self._connect()

    def _fill(self) -> None:
        """Rows in every table, by statements that any version of the filter takes."""
        for table in schema.TABLES:
            for number in range(1, SEED_ROWS + 1):
                maker = Maker(self._rng, self.marks, SIMPLE, calm=True)
                number = number + 1000 if table is schema.CHILD else number
                values = (
                    str(number) if column.name in ("id", "Id")
                    else writes.key_value(maker, table, column) if column.name == "region"
                    else maker.value(column, known=0.5)
                    for column in table.columns
                )  # fmt: skip
                names = ", ".join(maker.name(column.name) for column in table.columns)
                into = sources.written(maker, table)
                key = ", ".join(quoted(name) for name in table.key)
                text = f"INSERT INTO {into} ({names}) VALUES ({', '.join(values)}) ON CONFLICT ({key}) DO NOTHING"
                self._script(Script([maker.finish("insert", text)]))

    def _script(self, script: Script) -> None:
        self.report.scripts += 1
        self.report.statements += len(script.steps)
        faults = self._faults
        if script.pipelined:
            self._pipeline(script)
        else:
            for number, step in enumerate(script.steps):
                if self._sealed.status == FAILED and step.kind != "control" and self._rng.random() < 0.8:
                    continue
                shown = Script(script.steps[: number + 1])
                goes_on = self._step(step, shown)
                if self._leaked(shown, [step]) or not goes_on:
                    break
        if script.pipelined:
            self._leaked(script, script.steps)
        if self._faults > faults:
            self._start_over()
            return
        if self._sealed.status != IDLE:
            self._both("ROLLBACK")
        if script.discard:
            self._both("DISCARD ALL")

    def _step(self, step: Step, script: Script) -> bool:
        """Whether the script can go on."""
        sealed = self._sealed.run(step)
        refused = next((outcome for outcome in sealed if outcome.refused), None)
        if refused:
            self.report.refuse(step.kind, refused.code, refused.message)
            if sealed[-1] is not refused or any(outcome.kind in ("rows", "done") for outcome in sealed):
                return self._disagree(script, "a refusal after something was answered", sealed)
            if refused.kind == "ended":
                self._reconnect()
                return False
            if self._sealed.status == FAILED and self._plain.status != FAILED:
                self._plain.execute("SELECT 1/0")
        else:
            plain = self._plain.run(step)
            sealed, reason = tolerated(sealed, plain)
            if reason:
                self.report.tolerated[reason] += 1
            what = difference(step, sealed, plain)
            if what:
                return self._disagree(script, what, sealed)
            failed = next((outcome for outcome in sealed if outcome.kind == "error"), None)
            if failed:
                self.report.failed[failed.code] += 1
            else:
                self.report.executed[step.kind] += 1
        if self._sealed.status != self._plain.status:
            states = f"{self._sealed.status.name}, plain {self._plain.status.name}"
            return self._disagree(script, f"transaction status {states}", sealed)
        return True

    def _pipeline(self, script: Script) -> None:
        sealed = self._sealed.run_pipelined(script)
        refused = next((outcome for outcomes in sealed for outcome in outcomes if outcome.refused), None)
        if refused:
            # The server rolls the whole of it back.
            self.report.refuse("pipeline", refused.code, refused.message)
            if refused.over:
                self._reconnect()
            return
        plain = self._plain.run_pipelined(script)
        if len(sealed) != len(plain):
            self._disagree(script, "the pipeline broke", sealed[-1])
            return
        for step, ours, theirs in zip(script.steps, sealed, plain, strict=True):
            what = difference(step, ours, theirs)
            if what:
                self._disagree(script, f"{what}\n    at: {step.text}", ours)
                return
        self.report.executed["pipeline"] += 1

    def _most_rows(self) -> int:
        counts = ", ".join(f"(SELECT count(*) FROM {table.sql})" for table in schema.TABLES)
        with self._plain_server.connect(schema.DATABASE) as superuser:
            return superuser.execute(f"SELECT greatest({counts})").fetchone()[0]

    def _both(self, text: str) -> None:
        for client in (self._sealed, self._plain):
            client.execute(text)

    def _disagree(self, script: Script, what: str, outcomes: list[Outcome]) -> bool:
        if outcomes and outcomes[-1].over:
            what = f"{outcomes[-1].kind}: {outcomes[-1].message}\n    {what}"
        self.report.disagreements.append(f"{script}\n  {what}")
        return False

    def _start_over(self) -> None:
        """New connections and new rows, so that what comes next is judged by itself."""
        # What they hold locked would be waited for.
        for client in (self._sealed, self._plain):
            client.close()
        tables = ", ".join(table.sql for table in schema.TABLES)
        for server in (self._stack.postgres, self._plain_server):
            with server.connect(schema.DATABASE) as superuser:
                superuser.execute(f"TRUNCATE {tables}")
        self._connect()
        if self._faults < MAX_FAULTS:
            self._fill()

    def _leaked(self, script: Script, steps: list[Step]) -> bool:
        """Whether a mark passed to the server since the last look."""
        what = self._watch.to_server(steps)
        if what:
            self.report.leaks.append(f"{script}\n  to the server: {what}")
        return bool(what)

    def _read_as_others(self) -> None:
        """Principals who may see a part or nothing get no mark back."""
        for user in (schema.MASKED, schema.CONCEALED):
            client = Client(self._stack.connect(user, schema.DATABASE))
            for _ in range(12):
                step = sessions.statement(self._rng, self.marks, SIMPLE, reads=1.0)
                if self._rng.random() < 0.1:
                    step = copy_out(Maker(self._rng, self.marks, SIMPLE))
                outcomes = client.run(step)
                self.report.reads_of_others += 1
                seen = b"\n".join(value or b"" for o in outcomes for row in o.rows for value in _values(row))
                told = "\n".join(outcome.message for outcome in outcomes if outcome.refused).encode()
                what = leaks.found_in(seen + told, self.marks)
                if what:
                    self.report.leaks.append(f"  as {user}: {step}\n  came back: {what}")
                if outcomes[-1].kind in ("lost", "hang"):
                    self.report.disagreements.append(f"  as {user}: {step}\n  {outcomes[-1].kind}")
                if outcomes[-1].over:
                    break
            self._leaked(Script([]), [])
            client.close()

    def _compare_tables(self) -> None:
        """Everything, read through the sidecar, is what the plain database has."""
        for table in schema.TABLES:
            step = Step("whole table", f"SELECT * FROM {table.sql}")
            sealed, plain = self._sealed.run(step), self._plain.run(step)
            what = difference(step, sealed, plain)
            if what:
                self._disagree(Script([step]), f"after {self.report.statements} statements: {what}", sealed)
                self._start_over()
                return


def _values(row: tuple | bytes) -> tuple:
    return row if isinstance(row, tuple) else (row,)
