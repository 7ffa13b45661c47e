"""Runs steps on one connection: texts with PyMySQL, nothing converted, and prepared ones with MySQL Connector/Python,
which speaks the binary protocol."""

import contextlib
from collections.abc import Callable

import mysql.connector
import pymysql
from pymysql.constants import CLIENT, FIELD_TYPE

from canary.client import OURS, Outcome
from canary.steps import PREPARED, Step
from harness.waiting import patience

# Of the connection; what a client does on its own, and not the server's.
LOST = {2006, 2013, 2014, 2055}
LONG = {FIELD_TYPE.TINY_BLOB, FIELD_TYPE.MEDIUM_BLOB, FIELD_TYPE.LONG_BLOB}


class Client:
    """`where`: the words that both drivers take for a connection."""

    def __init__(self, where: dict) -> None:
        options = {**where, "autocommit": True, "charset": "utf8mb4"}
        # Rows that are found count, changed or not: a value that is sealed anew is another.
        flags = CLIENT.MULTI_STATEMENTS | CLIENT.FOUND_ROWS
        self._texts = pymysql.connect(**options, conv={}, client_flag=flags, read_timeout=patience(30))
        found = [mysql.connector.ClientFlag.FOUND_ROWS]
        self._prepared = mysql.connector.connect(**options, use_pure=True, client_flags=found)

    def close(self) -> None:
        for connection in (self._texts, self._prepared):
            with contextlib.suppress(pymysql.Error, mysql.connector.Error):
                connection.close()

    def run(self, step: Step) -> list[Outcome]:
        found: list[Outcome] = []
        try:
            (self._run_prepared if step.how == PREPARED else self._run_text)(step, found.append)
        except pymysql.Error as error:
            found.append(_error(*error.args[:2]))
        except mysql.connector.Error as error:
            found.append(_error(error.errno, error.msg or ""))
        return found

    def _run_text(self, step: Step, take: Callable[[Outcome], None]) -> None:
        # Its warnings are not asked for: a cursor would, between the results.
        self._texts.query(step.text)
        while True:
            result = self._texts._result
            if result.field_count:
                fields = tuple((field.name, *_type(field.type_code, field.scale)) for field in result.fields)
                take(Outcome("rows", columns=fields, rows=tuple(result.rows)))
            else:
                take(Outcome("done", f"{result.affected_rows} rows, {result.warning_count} warnings"))
            if not result.has_next:
                return
            self._texts.next_result()

    def _run_prepared(self, step: Step, take: Callable[[Outcome], None]) -> None:
        cursor = self._prepared.cursor(prepared=True)
        try:
            # Twice: what a statement was once rewritten to must hold again.
            for _ in range(2):
                cursor.execute(step.text, tuple(parameter.value for parameter in step.parameters))
                if cursor.description:
                    fields = tuple((field[0], *_type(field[1])) for field in cursor.description)
                    rows = tuple(tuple(map(_value, row)) for row in cursor.fetchall())
                    take(Outcome("rows", columns=fields, rows=rows))
                else:
                    take(Outcome("done", f"{cursor.rowcount} rows"))
        finally:
            cursor.close()


def _type(code: int, scale: int = 0) -> tuple[int, int]:
    """A text is one, however long: a UNION's is longer than its parts'. Others than decimals have no scale."""
    return (FIELD_TYPE.BLOB if code in LONG else code), (scale if code == FIELD_TYPE.NEWDECIMAL else 0)


def _value(value: object) -> str:
    """The driver gives a text as bytes where its collation compares bytes, which no declared type says."""
    return value.decode("utf-8", "surrogateescape") if isinstance(value, (bytes, bytearray)) else str(value)


def _error(number: int, message: str) -> Outcome:
    if number in LOST:
        return Outcome("lost", message=message)
    # Connector/Python has the number and the state before it.
    before, ours, reason = message.partition(OURS)
    return Outcome("error", code=str(number), message=ours + reason if ours else before)
