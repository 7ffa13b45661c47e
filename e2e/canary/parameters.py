"""Values as parameters and as fields of COPY: text and binary forms of each type."""

import datetime
import struct
import uuid
from decimal import Decimal

OIDS = {"bool": 16, "bytea": 17, "int4": 23, "text": 25, "varchar": 1043, "date": 1082, "numeric": 1700, "uuid": 2950}
ARRAY_OIDS = {
    "bool": 1000,
    "bytea": 1001,
    "int4": 1007,
    "text": 1009,
    "varchar": 1015,
    "date": 1182,
    "numeric": 1231,
    "uuid": 2951,
}
EPOCH = datetime.date(2000, 1, 1)


def base(type_: str) -> str:
    return type_.partition("(")[0]


def binary(type_: str, value: str) -> bytes:
    match base(type_):
        case "int4":
            return struct.pack("!i", int(value))
        case "bool":
            return b"\1" if value == "true" else b"\0"
        case "uuid":
            return uuid.UUID(value).bytes
        case "date":
            return struct.pack("!i", (datetime.date.fromisoformat(value) - EPOCH).days)
        case "bytea":
            return bytes.fromhex(value[2:])
        case "numeric":
            return numeric(Decimal(value))
    return value.encode()


def numeric(value: Decimal) -> bytes:
    """Base-10000 digits, as numeric_send writes them."""
    sign, digits, exponent = value.as_tuple()
    scale = max(0, -exponent)
    whole = "".join(map(str, digits)) + "0" * max(0, exponent)
    whole = whole.rjust(scale + 1, "0")
    left, right = (whole[:-scale], whole[-scale:]) if scale else (whole, "")
    left = left.rjust(-(-len(left) // 4) * 4, "0")
    right = right.ljust(-(-len(right) // 4) * 4, "0")
    groups = [int((left + right)[at : at + 4]) for at in range(0, len(left + right), 4)]
    weight = len(left) // 4 - 1
    while groups and groups[0] == 0:
        groups.pop(0)
        weight -= 1
    while groups and groups[-1] == 0:
        groups.pop()
    if not groups:
        sign, weight = 0, 0
    return struct.pack(f"!hhHh{len(groups)}h", len(groups), weight, 0x4000 if sign else 0, scale, *groups)


def array(type_: str, values: list[str | None]) -> bytes:
    """A one-dimensional array in binary."""
    out = struct.pack("!iiIii", 1, int(None in values), OIDS[base(type_)], len(values), 1)
    for value in values:
        raw = None if value is None else binary(type_, value)
        out += struct.pack("!i", -1) if raw is None else struct.pack("!i", len(raw)) + raw
    return out


def array_text(values: list[str | None]) -> str:
    """The same as text."""
    words = ("NULL" if v is None else '"' + v.replace("\\", "\\\\").replace('"', '\\"') + '"' for v in values)
    return "{" + ",".join(words) + "}"
