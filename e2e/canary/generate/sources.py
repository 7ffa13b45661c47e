"""What stands in FROM, and the columns that are in scope because of it."""

from dataclasses import dataclass, field, replace

from canary import schema
from canary.generate.maker import Maker
from canary.schema import Column, Table


@dataclass(frozen=True)
class Source:
    """One item of FROM. `key` tells its rows apart; empty if nothing does."""

    alias: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()


@dataclass
class Scope:
    sources: list[Source] = field(default_factory=list)
    # The scope that this one is within.
    outer: "Scope | None" = None

    def pairs(self, protected: bool | None = None) -> list[tuple[Source, Column]]:
        return [
            (source, column)
            for source in self.sources
            for column in source.columns
            if protected is None or column.protected == protected
        ]

    @property
    def is_keyed(self) -> bool:
        return all(source.key for source in self.sources)

    def refer(self, maker: Maker, source: Source, column: Column) -> str:
        same = sum(other.name == column.name for _, other in self.pairs())
        if same == 1 and self.outer is None and maker.chance(0.5):
            return maker.name(column.name)
        return f"{maker.name(source.alias)}.{maker.name(column.name)}"

    def keys(self, maker: Maker) -> list[str]:
        """Qualified always: a bare name in ORDER BY may mean an output of that name."""
        return [
            f"{maker.name(source.alias)}.{maker.name(column.name)}"
            for source in self.sources
            for column in source.columns
            if column.name in source.key
        ]


def table(maker: Maker, among: tuple[Table, ...] = schema.READABLE) -> Table:
    """Protected tables more often than others."""
    weights = [4 if known in (schema.PERSON, schema.ACCOUNT) else 1 for known in among]
    return maker.rng.choices(among, weights)[0]


def written(maker: Maker, known: Table) -> str:
    """A table's name, with or without its schema."""
    if known.schema == "public" and known.name not in maker.shadowed and maker.chance(0.85):
        return maker.name(known.name)
    return f"{maker.name(known.schema)}.{maker.name(known.name)}"


def base(maker: Maker, known: Table, alias: str | None = None) -> tuple[str, Source]:
    """A table, mostly under an alias."""
    only = "ONLY " if known is schema.BASE and maker.chance(0.2) else ""
    sql = only + written(maker, known)
    if alias is None and maker.chance(0.25):
        return sql, Source(known.name, known.columns, known.key)
    alias = alias or maker.alias()
    columns = known.columns
    between = maker.pick(" ", " AS ")
    if not known.view_of and maker.chance(0.08):
        # The columns renamed, some of them to names that others had.
        renamed = [f"c{n}" if maker.chance(0.7) else column.name for n, column in enumerate(columns)]
        key = tuple(renamed[n] for n, column in enumerate(columns) if column.name in known.key)
        names = ", ".join(maker.name(name) for name in renamed)
        columns = tuple(replace(column, name=name) for column, name in zip(columns, renamed, strict=True))
        return f"{sql}{between}{alias} ({names})", Source(alias, columns, key)
    return f"{sql}{between}{alias}", Source(alias, columns, known.key)
