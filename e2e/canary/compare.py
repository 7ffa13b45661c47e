"""Whether two databases answered alike."""

import csv
import io
import struct
from collections import Counter
from dataclasses import replace
from itertools import zip_longest

from canary.client import Outcome
from canary.steps import Step

TEXT, VARCHAR = 25, 1043


def difference(step: Step, sealed: list[Outcome], plain: list[Outcome]) -> str:
    """What differs, in words; empty if nothing does."""
    if len(sealed) != len(plain):
        return f"{len(sealed)} results ({_kinds(sealed)}), plain has {len(plain)} ({_kinds(plain)})"
    found = (_one(step, ours, theirs) for ours, theirs in zip(sealed, plain, strict=True))
    return next((text for text in found if text), "")


def tolerated(sealed: list[Outcome], plain: list[Outcome]) -> tuple[list[Outcome], str]:
    """The sealed side's outcomes without the differences that are known and let be, and the reason in words."""
    reason, found = "", list(sealed)
    for number, (ours, theirs) in enumerate(zip(sealed, plain, strict=False)):
        if ours.kind == theirs.kind == "described" and ours.columns[0] != theirs.columns[0]:
            kinds = [
                VARCHAR if (a, b) == (TEXT, VARCHAR) else a for a, b in zip_longest(ours.columns[0], theirs.columns[0])
            ]
            if tuple(kinds) == theirs.columns[0]:
                found[number] = replace(ours, columns=(tuple(kinds), ours.columns[1]))
                reason = "a parameter in an IN list over a varchar is described as text, by the server as varchar"
    return found, reason


def _one(step: Step, sealed: Outcome, plain: Outcome) -> str:
    if sealed.kind != plain.kind:
        return f"{_told(sealed)}, plain: {_told(plain)}"
    if sealed.kind == "error":
        return "" if sealed.code == plain.code else f"{_told(sealed)}, plain: {_told(plain)}"
    if sealed.tag != plain.tag:
        return f"command tag {sealed.tag}, plain: {plain.tag}"
    if sealed.columns != plain.columns:
        return f"columns {sealed.columns}\n    plain: {plain.columns}"
    ours, theirs = (list(_rows(step, outcome)) for outcome in (sealed, plain))
    if step.ordered:
        return "" if ours == theirs else _rows_differ(ours, theirs)
    return "" if Counter(ours) == Counter(theirs) else _rows_differ(ours, theirs)


def _rows(step: Step, outcome: Outcome) -> list:
    if outcome.kind != "copied":
        return list(outcome.rows)
    whole = b"".join(outcome.rows)
    match step.copy_format:
        case "binary":
            return _binary_rows(whole)
        case "csv":
            return [tuple(row) for row in csv.reader(io.StringIO(whole.decode(), newline=""))]
    return whole.split(b"\n")


def _binary_rows(whole: bytes) -> list[bytes]:
    rows, position = [], 19
    while (width := struct.unpack_from("!h", whole, position)[0]) >= 0:
        start, position = position, position + 2
        for _ in range(width):
            position += 4 + max(0, struct.unpack_from("!i", whole, position)[0])
        rows.append(whole[start:position])
    return rows


def _rows_differ(sealed: list, plain: list) -> str:
    more, fewer = Counter(sealed) - Counter(plain), Counter(plain) - Counter(sealed)
    if not more and not fewer:
        return "the rows' order"
    sides = f"only sealed: {list(more)[:3]}\n    only plain: {list(fewer)[:3]}"
    return f"rows: {len(sealed)}, plain: {len(plain)}\n    {sides}"


def _told(outcome: Outcome) -> str:
    return f"error {outcome.code} ({outcome.message})" if outcome.kind == "error" else f"{outcome.kind} {outcome.tag}"


def _kinds(outcomes: list[Outcome]) -> str:
    return ", ".join(outcome.kind + (f" {outcome.code}" if outcome.code else "") for outcome in outcomes)
