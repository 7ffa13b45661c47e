"""COPY in and out, in its three formats."""

import csv
import io
import struct

from canary import parameters, schema
from canary.generate import queries, sources, writes
from canary.generate.maker import Maker
from canary.schema import Column, Table
from canary.steps import SIMPLE, UNNAMED, Step

SIGNATURE = b"PGCOPY\n\xff\r\n\0" + struct.pack("!ii", 0, 0)
ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", ",": "\\,", "\b": "\\b"})
Row = list[str | None]


def copy(maker: Maker) -> Step:
    maker.how = maker.rng.choices((SIMPLE, UNNAMED), (5, 1))[0]
    return copy_in(maker) if maker.chance(0.5) else copy_out(maker)


def copy_in(maker: Maker) -> Step:
    known = sources.table(maker, writes.WRITABLE)
    listed = maker.chance(0.7)
    columns = [c for c in known.columns if c.name in known.key or maker.chance(0.6)] if listed else list(known.columns)
    rows = [[_field(maker, known, column) for column in columns] for _ in range(maker.rng.randrange(0, 4))]
    form, options = _format(maker)
    names = f" ({', '.join(maker.name(column.name) for column in columns)})" if listed else ""
    where = " WHERE true" if maker.wildly(0.1) else ""
    data = encode(form, options, columns, rows)
    text = f"COPY {sources.written(maker, known)}{names} FROM STDIN{_written(maker, form, options)}{where}"
    return maker.finish("copy in", text, copy=data)


def copy_out(maker: Maker) -> Step:
    form, options = _format(maker)
    if maker.chance(0.3):
        what = f"({queries.query(maker, 1).sql})"
    else:
        known = sources.table(maker)
        columns = [column for column in known.columns if maker.chance(0.7)] or list(known.columns)
        listed = f" ({', '.join(maker.name(column.name) for column in columns)})" if maker.chance(0.5) else ""
        what = f"{sources.written(maker, known)}{listed}"
    # Utility statements take no parameters.
    maker.how = SIMPLE
    return maker.finish("copy out", f"COPY {what} TO STDOUT{_written(maker, form, options)}", copy_format=form)


def _field(maker: Maker, known: Table, column: Column) -> str | None:
    if column.name == "region":
        return writes.key_value(maker, known, column).strip("'")
    if column.name in known.key:
        return str(maker.rng.randrange(1, 120) + (1000 if known is schema.CHILD else 0))
    return None if maker.chance(0.1) else maker.text_of(column, known=0.35)


def _format(maker: Maker) -> tuple[str, dict[str, str]]:
    form = maker.pick("text", "text", "csv", "binary")
    options = {}
    if form != "binary" and maker.chance(0.25):
        options["delimiter"] = ","
    if form == "csv" and maker.chance(0.3):
        options["header"] = "true"
    return form, options


def _written(maker: Maker, form: str, options: dict[str, str]) -> str:
    if form == "binary" and maker.chance(0.2):
        return " BINARY" if maker.chance(0.3) else " WITH (FORMAT binary)"
    words = [] if form == "text" else [f"FORMAT {form}"]
    words += [f"HEADER {value}" if name == "header" else f"DELIMITER '{value}'" for name, value in options.items()]
    return f"{maker.pick(' ', ' WITH ')}({', '.join(words)})" if words else ""


def encode(form: str, options: dict[str, str], columns: list[Column], rows: list[Row]) -> bytes:
    if form == "binary":
        return _binary(columns, rows)
    delimiter = options.get("delimiter", "\t" if form == "text" else ",")
    if form == "text":
        lines = (delimiter.join("\\N" if v is None else v.translate(ESCAPES) for v in row) for row in rows)
        return "".join(line + "\n" for line in lines).encode()
    out = io.StringIO()
    if "header" in options:
        csv.writer(out, delimiter=delimiter, lineterminator="\n").writerow([column.name for column in columns])
    for row in rows:
        # An empty string is quoted, NULL is not.
        fields = ("" if v is None else '"' + v.replace('"', '""') + '"' for v in row)
        out.write(delimiter.join(fields) + "\n")
    return out.getvalue().encode()


def _binary(columns: list[Column], rows: list[Row]) -> bytes:
    out = bytearray(SIGNATURE)
    for row in rows:
        out += struct.pack("!h", len(row))
        for column, value in zip(columns, row, strict=True):
            raw = None if value is None else parameters.binary(column.type, value)
            out += struct.pack("!i", -1) if raw is None else struct.pack("!i", len(raw)) + raw
    return bytes(out + struct.pack("!h", -1))
