"""SELECT in its forms. What a query yields is told as columns, so that it can stand in another's FROM."""

from dataclasses import dataclass, replace

from canary import schema
from canary.generate import expressions, sources
from canary.generate.maker import Maker
from canary.generate.sources import Scope, Source
from canary.schema import Column


@dataclass
class Query:
    sql: str
    # None where an output is not worth being used again.
    columns: list[Column | None]


def query(maker: Maker, depth: int = 2, ctes: tuple[tuple[str, Source], ...] = ()) -> Query:
    """A whole query; at the top (`depth` 2) it may have WITH, set operations and an ORDER BY."""
    roll = maker.rng.random()
    if depth == 2 and roll < 0.08:
        return _with(maker)
    if depth == 2 and roll < 0.11:
        return _recursive(maker)
    if depth and roll < 0.19:
        return _set_operation(maker)
    if roll < 0.32:
        return _grouped(maker, depth)
    return _select(maker, depth, ctes)


def _select(maker: Maker, depth: int, ctes: tuple = ()) -> Query:
    tables, scope = from_(maker, depth, ctes)
    distinct = maker.pick("DISTINCT ", "ALL ") if maker.chance(0.12) else ""
    items, columns = _items(maker, scope, distinct)
    where = f" WHERE {expressions.condition(maker, scope)}" if maker.chance(0.65) else ""
    tail = ""
    if depth == 2 and distinct != "DISTINCT " and scope.is_keyed and maker.chance(0.35):
        tail = _order(maker, scope)
    if depth == 2 and not distinct and not tail and len(scope.sources) == 1 and maker.chance(0.04):
        tail = maker.pick(" FOR UPDATE", " FOR SHARE", " FOR NO KEY UPDATE")
    return Query(f"SELECT {distinct}{items} FROM {tables}{where}{tail}", columns)


def _items(maker: Maker, scope: Scope, distinct: str) -> tuple[str, list[Column | None]]:
    if distinct == "DISTINCT " and not maker.wildly():
        pairs = [pair for pair in scope.pairs() if pair[1].equality or not pair[1].protected] or scope.pairs()
        chosen = [maker.rng.choice(pairs) for _ in range(maker.rng.randrange(1, 4))]
        return ", ".join(scope.refer(maker, *pair) for pair in chosen), [column for _, column in chosen]
    if maker.chance(0.15):
        return "*", [column for _, column in scope.pairs()]
    if maker.chance(0.1):
        source = maker.rng.choice(scope.sources)
        return f"{maker.name(source.alias)}.*", list(source.columns)
    chosen = [expressions.item(maker, scope) for _ in range(maker.rng.randrange(1, 6))]
    if maker.chance(0.08):
        chosen.append((_scalar(maker), None))
    return ", ".join(sql for sql, _ in chosen), [column for _, column in chosen]


def _scalar(maker: Maker) -> str:
    """A sub-select of at most one row."""
    known = maker.rng.choice((schema.PERSON, schema.ACCOUNT, schema.ODD))
    sql, source = sources.base(maker, known, maker.alias())
    scope = Scope([source])
    column = maker.rng.choice(source.columns)
    key = f"{maker.name(source.alias)}.{maker.name(source.key[0])}"
    return f"(SELECT {scope.refer(maker, source, column)} FROM {sql} WHERE {key} = {maker.rng.randrange(1, 40)})"


def _order(maker: Maker, scope: Scope) -> str:
    keys = [key + maker.pick("", "", " DESC", " ASC NULLS FIRST") for key in scope.keys(maker)]
    if maker.wildly() and scope.pairs(True):
        keys.insert(0, scope.refer(maker, *maker.rng.choice(scope.pairs(True))))
    maker.ordered = True
    limit = maker.pick("", "", " LIMIT 3", " LIMIT 5 OFFSET 2", " OFFSET 1", " FETCH FIRST 2 ROWS ONLY")
    return f" ORDER BY {', '.join(keys)}{limit}"


def from_(maker: Maker, depth: int, ctes: tuple = ()) -> tuple[str, Scope]:
    """FROM with one to three items, joined."""
    sql, source = _source(maker, depth, ctes)
    scope = Scope([source])
    for _ in range(maker.rng.choices((0, 1, 2), (6, 4, 1))[0]):
        other_sql, other = _source(maker, depth, ctes)
        if any(known.alias == other.alias for known in scope.sources):
            continue
        before, scope = scope, Scope([*scope.sources, other])
        sql = _joined(maker, sql, before, other_sql, other, scope)
    return sql, scope


def _joined(maker: Maker, left: str, before: Scope, right: str, other: Source, scope: Scope) -> str:
    if maker.chance(0.1):
        return f"{left}{maker.pick(', ', ' CROSS JOIN ')}{right}"
    links = [
        (ours, (other, theirs))
        for ours in before.pairs()
        for theirs in other.columns
        if _fit(ours[1], theirs) or maker.wildly(0.02)
    ]
    join = maker.pick("JOIN", "JOIN", "INNER JOIN", "LEFT JOIN", "RIGHT JOIN", "LEFT OUTER JOIN")
    if not links:
        return f"{left} {join} {right} ON true"
    ours, theirs = maker.rng.choice(links)
    on = f"{scope.refer(maker, *ours)} = {scope.refer(maker, *theirs)}"
    if maker.chance(0.2):
        on += f" AND {expressions.condition(maker, scope, 0)}"
    return f"{left} {join} {right} ON {on}"


def _fit(ours: Column, theirs: Column) -> bool:
    """Whether the columns can be compared: of one label, or both numbers of rows."""
    if ours.protected or theirs.protected:
        return ours.equality and ours.label == theirs.label
    return ours.type == theirs.type == "int4"


def _source(maker: Maker, depth: int, ctes: tuple) -> tuple[str, Source]:
    if ctes and maker.chance(0.6):
        name, source = maker.rng.choice(ctes)
        alias = maker.alias()
        return f"{name} {alias}", replace(source, alias=alias)
    if depth and maker.chance(0.15):
        return _derived(maker, depth)
    return sources.base(maker, sources.table(maker))


def _derived(maker: Maker, depth: int) -> tuple[str, Source]:
    inner = query(maker, depth - 1)
    alias = maker.alias()
    columns, names = _usable(maker, inner.columns, alias)
    renamed = f" ({names})" if names else ""
    return f"({inner.sql}) {maker.pick('', 'AS ')}{alias}{renamed}", Source(alias, columns)


def _usable(maker: Maker, outputs: list[Column | None], prefix: str) -> tuple[tuple[Column, ...], str]:
    """The outputs as columns with names of their own, and the list that names them."""
    known = [column or Column("", "text") for column in outputs]
    names = [column.name for column in known]
    if all(names) and len(set(names)) == len(names) and maker.chance(0.5):
        return tuple(known), ""
    columns = tuple(replace(column, name=f"{prefix}_{number}") for number, column in enumerate(known))
    return columns, ", ".join(column.name for column in columns)


def _grouped(maker: Maker, depth: int) -> Query:
    tables, scope = from_(maker, min(depth, 1))
    pairs = [pair for pair in scope.pairs() if not pair[1].protected or pair[1].equality or maker.wildly(0.1)]
    keys = [maker.rng.choice(pairs) for _ in range(maker.rng.randrange(0, 3) if pairs else 0)]
    names = [scope.refer(maker, *pair) for pair in keys]
    where = f" WHERE {expressions.condition(maker, scope)}" if maker.chance(0.4) else ""
    counted = scope.refer(maker, *maker.rng.choice(scope.pairs()))
    numbers = [pair for pair in scope.pairs(False) if pair[1].base == "int4"]
    summed = scope.refer(maker, *maker.rng.choice(numbers)) if numbers else "1"
    forms = [
        "count(*)",
        f"count({counted})",
        f"sum({summed})",
        f"min({summed})",
        f"bool_or({summed} > 3)",
        f"count({summed})",
    ]
    if pairs:
        forms.append(f"count(DISTINCT {scope.refer(maker, *maker.rng.choice(pairs))})")
    if maker.wildly():
        # In an order, so that the answer is one.
        sorted_ = f"{counted} ORDER BY {counted}"
        forms = [f"max({counted})", f"array_agg({sorted_})", f"string_agg({counted}, ',' ORDER BY {counted})"]
    items = [*names, *(f"{maker.rng.choice(forms)} AS n_{number}" for number in range(maker.rng.randrange(1, 3)))]
    group = f" GROUP BY {', '.join(names)}" if names else ""
    having = " HAVING count(*) > 1" if names and maker.chance(0.2) else ""
    outputs = [column for _, column in keys] + [None] * (len(items) - len(keys))
    return Query(f"SELECT {', '.join(items)} FROM {tables}{where}{group}{having}", outputs)


def _set_operation(maker: Maker) -> Query:
    """Branches whose columns agree by label, or (wildly) by type alone."""
    first = sources.table(maker)
    width = maker.rng.randrange(1, 3)
    wanted = [maker.rng.choice([c for c in first.columns if c.equality or not c.protected]) for _ in range(width)]
    branches = [_branch(maker, first, wanted)]
    for _ in range(maker.rng.choices((1, 2), (4, 1))[0]):
        fits = [known for known in schema.READABLE if all(_like(maker, known, column) for column in wanted)]
        other = maker.rng.choice(fits or [first])
        branches.append(_branch(maker, other, [maker.rng.choice(_like(maker, other, c) or [c]) for c in wanted]))
    operator = f" {maker.pick('UNION', 'UNION ALL', 'INTERSECT', 'EXCEPT', 'EXCEPT ALL')} "
    return Query(operator.join(branches), list(wanted))


def _like(maker: Maker, known: schema.Table, column: Column) -> list[Column]:
    same = [other for other in known.columns if other.label == column.label and other.type == column.type]
    if maker.wildly(0.1):
        same += [other for other in known.columns if other.base == column.base]
    return same


def _branch(maker: Maker, known: schema.Table, wanted: list[Column]) -> str:
    sql, scope = sources.written(maker, known), Scope([Source(known.name, known.columns, known.key)])
    names = ", ".join(scope.refer(maker, scope.sources[0], column) for column in wanted)
    where = f" WHERE {expressions.condition(maker, scope, 0)}" if maker.chance(0.4) else ""
    return f"SELECT {names} FROM {sql}{where}"


def _with(maker: Maker) -> Query:
    ctes, written = [], []
    for number in range(maker.rng.randrange(1, 3)):
        name = maker.pick(f"cte_{number}", f"cte_{number}", "person", "account")
        if name in [known for known, _ in ctes]:
            continue
        inner = query(maker, 1)
        columns, names = _usable(maker, inner.columns, f"cte_{number}")
        hint = maker.pick("", "", "MATERIALIZED ", "NOT MATERIALIZED ")
        written.append(f"{name}{f' ({names})' if names else ''} AS {hint}({inner.sql})")
        ctes.append((name, Source(name, columns)))
        maker.shadowed.add(name)
    outer = _select(maker, 1, tuple(ctes))
    return Query(f"WITH {', '.join(written)} {outer.sql}", outer.columns)


def _recursive(maker: Maker) -> Query:
    """The people under one, a few steps deep."""
    columns = [maker.rng.choice(schema.PERSON.columns) for _ in range(maker.rng.randrange(1, 3))]
    names = ", ".join(f"c{number}" for number in range(len(columns)))
    first = ", ".join(f"p.{maker.name(column.name)}" for column in columns)
    start = maker.rng.randrange(1, 40)
    sql = (
        f"WITH RECURSIVE r (id, depth, {names}) AS (SELECT p.id, 1, {first} FROM person p WHERE p.id < {start}"
        f" UNION ALL SELECT p.id, r.depth + 1, {first} FROM person p JOIN r ON p.boss = r.id WHERE r.depth < 3)"
        f" SELECT id, depth, {names} FROM r"
    )
    return Query(sql, [])
