"""JSON bodies made of a seed: so many bytes, so many fields, the same each time.

Fields are strings that begin with `CLEAR`, which nothing else in a body does: so a service that knows no keys sees
which values came to it in clear (`loadtests/k6/bodystore`). They are spread over records of other members.
"""

import hashlib
import json
import re
from dataclasses import dataclass

from loadtests import values

MARK = b'"CLEAR-'
VALUE = re.compile(rb'"CLEAR-[^"]*"')
# Names that fields have in turn, each protected under a label of its own.
NAMES = tuple(f"f{number}" for number in range(10))
# Other records, repeated where more are needed.
OTHERS = 500
END = b'],"end":"%s"}'


class TooSmall(ValueError):
    """So many fields do not go into so many bytes."""


@dataclass(frozen=True)
class Look:
    """What a service that knows no keys sees of a body in clear; field by field what `bodystore` says."""

    bytes: int
    envelopes: int
    clear: int
    outside: str
    values: str


def body(size: int, fields: int, seed: int) -> bytes:
    """So many bytes of JSON."""
    records = _others(seed)
    head = f'{{"seed":{seed},"records":['.encode()
    room = size - len(head) - len(END) + len("%s")
    ours = [_field(seed, number) for number in range(fields)]
    room -= sum(len(record) + 1 for record in ours)
    others: list[bytes] = []
    while room > 0:
        record = records[len(others) % OTHERS]
        if len(record) + 1 > room:
            break
        others.append(record)
        room -= len(record) + 1
    # Between records stand commas, one fewer than there are records.
    room += 1
    if room < 0:
        raise TooSmall(f"{fields} fields do not go into {size} bytes")
    return head + b",".join(_spread(ours, others)) + END % (b"e" * room)


def look(text: bytes) -> Look:
    clear = VALUE.findall(text)
    lines = b"".join(value.strip(b'"') + b"\n" for value in clear)
    outside = VALUE.sub(b"", text)
    return Look(len(text), 0, len(clear), hashlib.sha256(outside).hexdigest(), hashlib.sha256(lines).hexdigest())


def _field(seed: int, number: int) -> bytes:
    row = seed * 1000 + number
    value = f"CLEAR-{values.digits(row, 9)}{values.digits(row + 1, 7)}"
    return f'{{"id":{number},"{NAMES[number % len(NAMES)]}":"{value}"}}'.encode()


def _others(seed: int) -> list[bytes]:
    """Of every kind of value, with an escape and a letter of two bytes."""
    return [
        json.dumps(
            {
                "id": row,
                "name": f'Zoë "{row}"',
                "price": row % 1000 / 8,
                "paid": row % 3 == 0,
                "tags": ["new", values.digits(row, 4)],
                "note": None if row % 5 == 0 else values.text(row, 20 + row % 40),
            },
            ensure_ascii=False,
            separators=(",", ":"),
        ).encode()
        for row in range(seed * OTHERS, (seed + 1) * OTHERS)
    ]


def _spread(ours: list[bytes], others: list[bytes]) -> list[bytes]:
    """Ours among the others, at even distances."""
    found: list[bytes] = []
    for number, record in enumerate(ours):
        found += others[len(others) * number // len(ours) : len(others) * (number + 1) // len(ours)]
        found.append(record)
    return found
