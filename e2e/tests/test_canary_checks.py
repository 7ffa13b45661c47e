"""The canary's own eyes: a mark is found however it is written, and answers that differ are told."""

import base64
import random
import struct

import pytest

from canary import leaks
from canary.client import Outcome
from canary.compare import difference
from canary.generate import script
from canary.marks import Marks
from canary.report import Report
from canary.steps import Step


@pytest.fixture
def marks() -> Marks:
    return Marks(random.Random(1))


ENCODINGS = {
    "as it is": lambda value: value.encode(),
    "in hex": lambda value: value.encode().hex().encode(),
    "in base64": lambda value: base64.b64encode(value.encode()),
    "in base64, one off": lambda value: base64.b64encode(b"x" + value.encode()),
    "in base64, two off": lambda value: base64.urlsafe_b64encode(b"xy" + value.encode()),
    "in UTF-16": lambda value: value.encode("utf-16"),
    "in octal": lambda value: "".join(f"\\{byte:03o}" for byte in value.encode()).encode(),
    "in upper case": lambda value: value.upper().encode(),
}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("type_", ["text", "varchar(40)"])
def test_text_is_found_in_every_encoding(marks: Marks, type_: str, encoding: str) -> None:
    value = marks.value("label", type_, known=0)
    assert leaks.found_in(b"before" + ENCODINGS[encoding](value) + b"behind", marks)


@pytest.mark.parametrize("type_", ["int4", "numeric(14,2)", "numeric", "date", "uuid", "bytea"])
def test_value_of_every_type_is_found_as_text(marks: Marks, type_: str) -> None:
    value = marks.value("label", type_, known=0)
    assert leaks.found_in(f"VALUES (7, '{value}', 8)".encode(), marks)


def test_what_is_no_mark_is_not_found(marks: Marks) -> None:
    for type_ in ("text", "int4", "date"):
        marks.value("label", type_, known=0)
    envelopes = base64.urlsafe_b64encode(random.Random(2).randbytes(1_000_000))
    assert not leaks.found_in(b"2026-11-21 10:00:00.123 [4711] LOG 1234567890 " + envelopes, marks)


def test_digits_of_an_envelope_in_hex_are_no_number(marks: Marks) -> None:
    marks.numbers.add("1234567890")
    assert not leaks.found_in(b"'\\xf701c3" + b"1234567890" + b"0af71b2c99e0d4a3b1f2'", marks)
    assert leaks.found_in(b"'\\xf701c30af71b2c99e0d4a3b1f2c3d4e5f60718', 1234567890", marks)


def test_first_fault_is_told_in_one_line_that_begins_with_what_was_seen() -> None:
    report = Report(7, leaks=["  [insert, simple] INSERT\n  to the server: a mark"])
    assert report.first_fault == "seed 7, 1 wrong; the first: to the server: a mark <- LEAK: [insert, simple] INSERT"


def rows(*values: bytes, tag: str = "SELECT 2") -> list[Outcome]:
    return [Outcome("rows", tag, (("a", 25, -1, -1, 0),), tuple((value,) for value in values))]


def test_order_counts_only_where_it_was_asked_for() -> None:
    assert not difference(Step("select", ""), rows(b"1", b"2"), rows(b"2", b"1"))
    assert difference(Step("select", "", ordered=True), rows(b"1", b"2"), rows(b"2", b"1"))


@pytest.mark.parametrize(
    "other",
    [
        rows(b"1", b"3"),
        rows(b"1", b"2", b"2"),
        rows(b"1", b"2", tag="SELECT 3"),
        [Outcome("error", code="22P02")],
        [Outcome("lost")],
        [],
        rows(b"1", b"2") * 2,
    ],
    ids=["a value", "a row more", "the tag", "an error", "the end", "nothing", "a result more"],
)
def test_another_answer_is_a_difference(other: list[Outcome]) -> None:
    assert difference(Step("select", ""), rows(b"1", b"2"), other)


def test_error_of_another_code_is_a_difference() -> None:
    step = Step("select", "")
    assert not difference(step, [Outcome("error", code="23505")], [Outcome("error", code="23505", message="else")])
    assert difference(step, [Outcome("error", code="23505")], [Outcome("error", code="22P02")])


def test_copied_rows_are_compared_as_rows() -> None:
    def copied(*values: int) -> list[Outcome]:
        body = b"".join(struct.pack("!hii", 1, 4, value) for value in values)
        return [Outcome("copied", rows=(b"PGCOPY\n\xff\r\n\0" + bytes(8), body, struct.pack("!h", -1)))]

    step = Step("copy out", "", copy_format="binary")
    assert not difference(step, copied(1, 2), copied(2, 1))
    assert difference(step, copied(1, 2), copied(1, 3))


def test_same_seed_gives_the_same_statements() -> None:
    def some() -> list[str]:
        rng = random.Random(5)
        return [str(script(rng, marks)) for marks in [Marks(rng)] for _ in range(300)]

    assert some() == some()
