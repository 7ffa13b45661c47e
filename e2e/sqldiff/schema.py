"""The database that the corpus speaks of."""

import json
from dataclasses import dataclass
from pathlib import Path

DATABASE = "shop"
SYSTEM_COLUMNS = frozenset({"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"})


@dataclass(frozen=True)
class Sealed:
    """What a protected value is, wherever it goes: the fields it may come from, and what their label allows."""

    fields: frozenset[int]
    label: str
    equality: bool
    # Its envelopes begin with a blind index, which is compared in the place of the column.
    indexed: bool
    stored: str
    declared: str

    def is_like(self, other: "Sealed") -> bool:
        return self.label == other.label and self.stored == other.stored


@dataclass(frozen=True)
class Column:
    name: str
    sealed: Sealed | None
    default: bool
    generated: bool


@dataclass(frozen=True)
class Relation:
    schema: str
    name: str
    columns: tuple[Column, ...]
    # Known to the analysis: every statement that names it is touched.
    known: bool
    # Rows of a protected table are reached through it in a way that the analysis has no fields for.
    opaque: bool
    # A view whose columns are those of a protected table, and what its own query compares.
    view: bool
    searches: frozenset[int]

    def column(self, name: str) -> Column | None:
        return next((column for column in self.columns if column.name == name), None)

    @property
    def is_protected(self) -> bool:
        return any(column.sealed for column in self.columns)


def _sealed(field: dict, stored: str) -> Sealed:
    indexed, declared = field.get("indexed", False), field.get("declared", "characters")
    return Sealed(frozenset({field["id"]}), field["label"], field["equality"], indexed, stored, declared)


def _column(raw: dict) -> Column:
    field = raw.get("field")
    sealed = field and _sealed(field, raw["stored"])
    return Column(raw["name"], sealed, raw.get("default", False), raw.get("generated", False))


def _relation(raw: dict) -> Relation:
    columns = tuple(_column(column) for column in raw["columns"])
    known = raw.get("protected", False)
    opaque = known and not any(column.sealed for column in columns)
    searches = frozenset(raw.get("searches", []))
    return Relation(raw["schema"], raw["name"], columns, known, opaque, "view" in raw, searches)


RELATIONS = tuple(map(_relation, json.loads(Path(__file__).with_name("schema.json").read_text())["relations"]))
KNOWN_NAMES = frozenset(relation.name for relation in RELATIONS if relation.known)


def find(schema: str | None, name: str) -> Relation | None:
    """The relation that a name means with `search_path = public`."""
    wanted = schema or "public"
    return next((r for r in RELATIONS if r.schema == wanted and r.name == name), None)
