"""What the Python clients share: the values, the order of the steps, and one line of JSON for each."""

import contextlib
import datetime as dt
import json
import uuid
from collections.abc import Callable
from decimal import Decimal

STEPS = (
    "connect", "write", "read", "search", "update", "upsert", "batch", "prepared", "binary", "transaction", "null",
    "refusal", "copy_in", "copy_out",
)  # fmt: skip

ROW = {
    "id": 1,
    "name": "Zoë",
    "ssn": "078-05-1120",
    "ref": uuid.UUID("c56a4180-65aa-42ec-a945-5fd21dec0538"),
    "email": "zoë@example.com",
    "born": dt.date(1980, 5, 17),
    "balance": Decimal("1234.50"),
    "visits": 42,
    "score": 0.1,
    "active": True,
    "seen": dt.datetime(2024, 2, 29, 10, 0, 0, 500_000, tzinfo=dt.UTC),
    "made": dt.datetime(1999, 12, 31, 23, 59, 59, 123_000),
    "extra": {"a": [1, 2.5], "b": "x"},
    "photo": b"\x00\xff\x10",
}
COLUMNS = ", ".join(ROW)
USER = "app"
BATCH = range(100, 120)
PREPARED = range(200, 210)
REFUSED = "0A000"
NEW_EMAIL, NEW_BALANCE = "new@example.com", Decimal("-0.05")
# id, name, email, ssn, born: what is copied in.
COPIED = (
    (600, "first", "first@example.com", "ssn-600", dt.date(2000, 2, 29)),
    (601, "tab\tand \\ and\nline", "tab\tand \\ and\nline", "ssn-601", dt.date(1, 1, 1)),
    (602, "last", "", "ssn-602", None),
)


class Wrong(Exception):
    """A value came back, and not the one that was to."""


class Absent(Exception):
    """The driver has no such thing; the text says so."""


def row(number: int) -> dict:
    """All columns of the row with this id."""
    return {**ROW, "id": number, "ssn": f"ssn-{number}", "ref": uuid.UUID(int=number)}


def expect(what: str, got: object, wanted: object) -> None:
    # Equal is not enough: True is 1, and Decimal("1234.5") is Decimal("1234.50").
    if type(got) is not type(wanted) or got != wanted or str(got) != str(wanted):
        raise Wrong(f"{what}: {got!r} instead of {wanted!r}")


def expect_row(got: dict, wanted: dict) -> None:
    expect("columns", sorted(got), sorted(wanted))
    for name, value in wanted.items():
        given = bytes(got[name]) if isinstance(got[name], memoryview) else got[name]
        # One instant has many zones.
        if isinstance(given, dt.datetime) and given.tzinfo:
            given = given.astimezone(dt.UTC)
        # asyncpg has a class of its own, which is one too.
        if isinstance(given, uuid.UUID):
            given = uuid.UUID(bytes=given.bytes)
        expect(name, given, value)


def run(
    client: str,
    steps: dict[str, Callable],
    connect: Callable,
    close: Callable,
    sqlstate: Callable[[BaseException], str | None],
) -> None:
    """Runs the steps in order, each with a connection that the ones before left usable."""
    connection = None
    for name in STEPS:
        ok, code, detail = True, "", ""
        try:
            connection = connection or connect()
            steps[name](connection)
        except Absent as absent:
            ok, detail = None, str(absent)
        except Exception as error:
            ok, code = False, sqlstate(error) or ""
            detail = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            if connection is not None:
                with contextlib.suppress(Exception):
                    close(connection)
                connection = None
        said = {"client": client, "step": name, "ok": ok, "code": code, "detail": detail}
        print(json.dumps(said, ensure_ascii=False), flush=True)
    if connection is not None:
        close(connection)
