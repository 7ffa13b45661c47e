"""Runs steps on one connection with libpq, nothing converted, and tells what came back.

Waiting is done here and not in libpq, whose blocking calls would hold up a relay that is a thread of this process,
and a hang shall be an outcome.
"""

import select
import time
from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
from psycopg import pq

from canary.steps import PREPARED, SIMPLE, Script, Step
from harness.polling import ready
from harness.waiting import patience

HANG_SECONDS = 30.0
STATUS = pq.ExecStatus
PRIMARY, SQLSTATE = pq.DiagnosticField.MESSAGE_PRIMARY, pq.DiagnosticField.SQLSTATE
OURS = "fieldveil:"
IN_FAILED_TRANSACTION = "25P02"
NAME = b"canary"


@dataclass(frozen=True)
class Outcome:
    """One result: `rows`, `done` (a command), `described`, `copied` (out), `error`, `skipped`, and where the session is
    over: `ended` (refused with an end of the session), `lost`, `hang`."""

    kind: str
    tag: str = ""
    # Name, type, size, modifier and format of each; of a parameter, its type alone.
    columns: tuple = ()
    rows: tuple = ()
    code: str = ""
    message: str = ""

    @property
    def refused(self) -> bool:
        return self.kind == "ended" or (self.kind == "error" and self.message.startswith(OURS))

    @property
    def over(self) -> bool:
        """Whether the connection is of no more use."""
        return self.kind in ("ended", "lost", "hang")


class Lost(Exception):
    """The connection is of no more use."""


class Client:
    def __init__(self, connection: psycopg.Connection) -> None:
        self.connection = connection
        self._pg = connection.pgconn
        self.pid = connection.info.backend_pid

    @property
    def status(self) -> pq.TransactionStatus:
        return pq.TransactionStatus(self._pg.transaction_status)

    def close(self) -> None:
        self.connection.close()

    def run(self, step: Step) -> list[Outcome]:
        try:
            if step.how == PREPARED:
                return self._prepared(step)
            self._send(step)
            return list(self._results(step))
        except Lost as lost:
            return [Outcome(str(lost))]
        except psycopg.OperationalError as error:
            return [_over(str(error))]

    def run_pipelined(self, script: Script, *, sync_each: bool = False) -> list[list[Outcome]]:
        """All steps before one Sync (or each before its own) and before any answer; a list of outcomes for each."""
        self._pg.enter_pipeline_mode()
        try:
            for step in script.steps:
                self._send(step, simple=False)
                if sync_each:
                    self._pg.pipeline_sync()
            if not sync_each:
                self._pg.pipeline_sync()
            found = []
            for step in script.steps:
                found.append(list(self._results(step)))
                if sync_each:
                    self._until_synced()
            if not sync_each:
                self._until_synced()
            self._pg.exit_pipeline_mode()
        except Lost as lost:
            return [[Outcome(str(lost))]]
        except psycopg.OperationalError as error:
            return [[_over(str(error))]]
        return found

    def _until_synced(self) -> None:
        while (result := self._next()) is None or result.status != STATUS.PIPELINE_SYNC:
            pass

    def execute(self, text: str) -> list[Outcome]:
        return self.run(Step("plain", text))

    def _prepared(self, step: Step) -> list[Outcome]:
        oids = [parameter.oid for parameter in step.parameters]
        self._pg.send_prepare(NAME, step.text.encode(), oids)
        found = list(self._results(step))
        if found[-1].kind == "error" or found[-1].over:
            return found
        self._pg.send_describe_prepared(NAME)
        described = self._next()
        if described is not None and described.status == STATUS.COMMAND_OK:
            kinds = tuple(described.param_type(number) for number in range(described.nparams))
            found.append(Outcome("described", columns=(kinds, self._columns(described, formats=False))))
        elif described is not None:
            found.append(self._outcome(described, step))
        found += self._results(step)
        # Twice: what a statement was once rewritten to must hold again.
        for _ in range(2 if found[-1].kind == "described" else 0):
            values, _, formats = self._parameters(step)
            self._pg.send_query_prepared(NAME, values, formats, int(step.binary_results))
            found += self._results(step)
            if found[-1].kind == "error" or found[-1].over:
                break
        self._pg.send_query(b"DEALLOCATE canary")
        list(self._results(step))
        return found

    def _send(self, step: Step, simple: bool = True) -> None:
        if step.how == SIMPLE and simple:
            self._pg.send_query(step.text.encode())
            return
        values, oids, formats = self._parameters(step)
        self._pg.send_query_params(step.text.encode(), values, oids, formats, int(step.binary_results))

    @staticmethod
    def _parameters(step: Step) -> tuple[list | None, list | None, list | None]:
        if not step.parameters:
            return None, None, None
        return (
            [parameter.value for parameter in step.parameters],
            [parameter.oid for parameter in step.parameters],
            [int(parameter.binary) for parameter in step.parameters],
        )

    def _results(self, step: Step) -> Iterator[Outcome]:
        while (result := self._next()) is not None:
            if result.status == STATUS.COPY_IN:
                self._copy_in(step)
                continue
            if result.status == STATUS.COPY_OUT:
                yield Outcome("copied", columns=(result.nfields,), rows=tuple(self._copy_out()))
                continue
            yield self._outcome(result, step)

    def _outcome(self, result: pq.abc.PGresult, step: Step) -> Outcome:
        match result.status:
            case STATUS.TUPLES_OK:
                width = range(result.nfields)
                rows = tuple(tuple(result.get_value(row, column) for column in width) for row in range(result.ntuples))
                return Outcome("rows", _text(result.command_status), self._columns(result), rows)
            case STATUS.COMMAND_OK | STATUS.EMPTY_QUERY:
                return Outcome("done", _text(result.command_status))
            case STATUS.PIPELINE_ABORTED:
                return Outcome("skipped")
        code, message = _text(result.error_field(SQLSTATE)), _text(result.error_field(PRIMARY))
        if self._pg.status != pq.ConnStatus.OK:
            return _over(message or _text(result.error_message))
        return Outcome("error", code=code, message=message)

    @staticmethod
    def _columns(result: pq.abc.PGresult, formats: bool = True) -> tuple:
        return tuple(
            (_text(result.fname(n)), result.ftype(n), result.fsize(n), result.fmod(n), formats and result.fformat(n))
            for n in range(result.nfields)
        )

    def _copy_in(self, step: Step) -> None:
        # In pieces of odd sizes: rows are split over messages.
        for start in range(0, len(step.copy), 61):
            self._pg.put_copy_data(step.copy[start : start + 61])
        self._pg.put_copy_end()
        self._flush()

    def _copy_out(self) -> Iterator[bytes]:
        while True:
            length, data = self._pg.get_copy_data(1)
            if length > 0:
                yield bytes(data)
            elif length == 0:
                self._wait()
            else:
                return

    def _next(self) -> pq.abc.PGresult | None:
        self._flush()
        while self._pg.is_busy():
            self._wait()
        return self._pg.get_result()

    def _flush(self) -> None:
        while self._pg.flush():
            ready(self._pg.socket, select.POLLOUT, 1)

    def _wait(self) -> None:
        deadline = time.monotonic() + patience(HANG_SECONDS)
        while not ready(self._pg.socket, select.POLLIN, 1):
            if time.monotonic() > deadline:
                raise Lost("hang")
        self._pg.consume_input()


def _text(raw: bytes | None) -> str:
    return (raw or b"").decode(errors="replace")


def _over(message: str) -> Outcome:
    """The end of the session: a refusal where the sidecar says why, as it does for COPY FROM STDIN."""
    before, ours, reason = message.partition(OURS)
    return (
        Outcome("ended", code="ended", message=(ours + reason).partition("\n")[0])
        if ours
        else Outcome("lost", message=before)
    )
