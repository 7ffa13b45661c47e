"""Texts that repeat or nest one construct, for both protocols: right at what the filter takes, and far past it."""

from collections.abc import Callable
from dataclasses import dataclass

FAR = (100, 250, 380, 1_000, 5_000, 15_000)


@dataclass(frozen=True)
class Construct:
    """How a text is written of so many of it, and how many the filter takes at most."""

    name: str
    text: Callable[[int], str]
    most: int


def nested(opening: str, inner: str, closing: str) -> Callable[[int], str]:
    return lambda count: f"SELECT {opening * count}{inner}{closing * count} FROM customer"


def within(opening: str, inner: str, closing: str) -> Callable[[int], str]:
    return lambda count: f"SELECT 1 FROM {opening * count}{inner}{closing * count}"


def chained(link: str) -> Callable[[int], str]:
    return lambda count: f"SELECT 1{link * count} FROM customer"


def joined(before: str, join: str) -> Callable[[int], str]:
    def text(count: int) -> str:
        joins = "".join(f" {join} customer c{number}" for number in range(count))
        return f"{before} customer c{joins}"

    return text


CONSTRUCTS = [
    Construct("brackets", nested("(", "1", ")"), 28),
    Construct("calls", nested("abs(", "1", ")"), 28),
    Construct("CASE", nested("CASE WHEN ", "1=1", " THEN 1 END"), 28),
    Construct("CAST", nested("CAST(", "1", " AS char)"), 28),
    Construct("NOT", nested("NOT ", "1=1", ""), 28),
    Construct("signs", nested("- ", "1", ""), 28),
    Construct("IN", nested("1 IN (", "1", ")"), 28),
    Construct("INTERVAL", nested("INTERVAL ", "'1'", ""), 28),
    Construct("sub-selects", nested("(SELECT ", "1", ")"), 13),
    Construct("EXISTS", nested("EXISTS (SELECT 1 WHERE ", "1=1", ")"), 13),
    Construct("derived tables", within("(SELECT 1 FROM ", "customer", ") a"), 14),
    Construct("tables in brackets", within("(", "customer JOIN customer d ON 1=1", ")"), 28),
    Construct("sums", chained("+1"), 595),
    Construct("conditions", chained(" AND 1=1"), 295),
    Construct("tests for NULL", chained(" IS NULL"), 590),
    Construct("unions", chained(" UNION SELECT 1"), 395),
    Construct("joins without a condition", joined("SELECT 1 FROM", "JOIN"), 61),
    Construct("outer joins without a condition", joined("SELECT 1 FROM", "LEFT JOIN"), 61),
    Construct("columns", lambda count: f"SELECT id{', id' * (count - 1)} FROM customer", 1_664),
]
POSTGRES = [
    *CONSTRUCTS,
    Construct("casts", chained("::text"), 590),
    Construct("NOTNULL", chained(" NOTNULL"), 1_180),
    Construct("factorials", chained(" !"), 1_180),
    Construct("arrays", nested("ARRAY[", "1", "]"), 28),
    Construct("array types", chained("::int" + "[]"), 290),
    Construct("UPDATE … FROM", joined("UPDATE customer SET id = 1 FROM", "JOIN"), 61),
    Construct("DELETE … USING", joined("DELETE FROM customer USING", "JOIN"), 61),
    Construct("signs without a blank", lambda count: f"SELECT 1 {'+' * count}1 FROM customer", 28),
    Construct("signs with comments", lambda count: f"SELECT 1 {'+/**/' * count}1 FROM customer", 28),
]
MYSQL = [
    *CONSTRUCTS,
    Construct("DIV", chained(" DIV 1"), 590),
    Construct("UPDATE with joins", joined("UPDATE", "JOIN"), 61),
    Construct("DELETE with joins", joined("DELETE c FROM", "JOIN"), 61),
]
