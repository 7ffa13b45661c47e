"""Names in reach, as PostgreSQL resolves them."""

from dataclasses import dataclass, field

from sqldiff.facts import Rejected
from sqldiff.nodes import Node
from sqldiff.schema import DATABASE, SYSTEM_COLUMNS, Sealed


@dataclass
class Output:
    """A column that a query or a FROM item yields."""

    name: str | None
    sealed: Sealed | None = None
    # The expressions it is, one for each arm of a set operation; empty when it comes from elsewhere.
    nodes: list[Node] = field(default_factory=list)
    null: bool = False
    # The server does not tell which table it comes from.
    lost: bool = False


@dataclass
class Range:
    name: str | None
    schema: str | None
    columns: list[Output]
    # It may have columns that aren't known here; none is protected.
    open: bool = False
    catalog: bool = False

    @property
    def bears(self) -> bool:
        return any(column.sealed for column in self.columns)

    def column(self, name: str) -> Output | None:
        found = [column for column in self.columns if column.name == name]
        if len(found) > 1:
            raise Rejected(f"{name} is ambiguous")
        return found[0] if found else None


@dataclass
class Scope:
    ranges: list[Range] = field(default_factory=list)
    # What unqualified names and `*` see: as the ranges' columns, but merged by USING.
    columns: list[Output] = field(default_factory=list)
    outer: "Scope | None" = None
    # None for one that is not known yet.
    ctes: dict[str, list[Output] | None] = field(default_factory=dict)
    # For RETURNING: `old` and `new`, which `*` leaves out.
    hidden: list[Range] = field(default_factory=list)

    def within(self) -> "Scope":
        return Scope(outer=self, ctes=self.ctes)

    def add(self, other: "Scope") -> None:
        self.ranges += other.ranges
        self.columns += other.columns
        names = [r.name for r in self.ranges if r.name]
        if len(set(names)) != len(names):
            raise Rejected("a table name is given twice")

    def range(self, qualifier: list[str]) -> Range:
        if len(qualifier) == 3 and qualifier[0] != DATABASE:
            raise Rejected("another database")
        *schemas, name = qualifier
        scope: Scope | None = self
        while scope:
            for found in scope.ranges + scope.hidden:
                if found.name == name and (not schemas or found.schema == schemas[-1]):
                    return found
            scope = scope.outer
        raise Rejected(f"no relation {name}")

    def qualified(self, qualifier: list[str], name: str) -> Output:
        found = self.range(qualifier)
        column = found.column(name)
        if column:
            return column
        if found.open or (found.catalog and name in SYSTEM_COLUMNS):
            return Output(name)
        raise Rejected(f"no column {name}")

    def unqualified(self, name: str) -> "Output | Range":
        """A column, or a whole row."""
        scope: Scope | None = self
        while scope:
            found = [column for column in scope.columns if column.name == name]
            if len(found) > 1:
                raise Rejected(f"{name} is ambiguous")
            if found:
                return found[0]
            if name in SYSTEM_COLUMNS and any(r.catalog for r in scope.ranges):
                return Output(name)
            if any(r.open for r in scope.ranges):
                return Output(name)
            scope = scope.outer
        return self.range([name])
