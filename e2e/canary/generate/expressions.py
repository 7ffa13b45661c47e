"""Conditions and select items."""

from collections.abc import Callable
from dataclasses import replace

from canary.generate import sources
from canary.generate.maker import Maker
from canary.generate.sources import Scope, Source
from canary.schema import Column

Pair = tuple[Source, Column]


def condition(maker: Maker, scope: Scope, depth: int = 2) -> str:
    """A boolean expression over the scope."""
    if depth and maker.chance(0.35):
        left, right = condition(maker, scope, depth - 1), condition(maker, scope, depth - 1)
        return maker.pick(f"{left} AND {right}", f"({left} OR {right})", f"NOT ({left})", f"({left}) AND NOT {right}")
    protected = [(source, column) for source, column in scope.pairs(True) if column.equality or maker.wildly(0.2)]
    if not protected or maker.chance(0.35):
        return _unprotected(maker, scope)
    pair = maker.rng.choice(protected)
    makers: list[Callable[[Maker, Scope, Pair], str]] = [_equals, _equals, _equals, _in, _null, _columns, _distinct]
    if depth:
        makers += [_exists, _in_select, _any]
    if maker.wildly():
        makers = [_refused]
    return maker.rng.choice(makers)(maker, scope, pair)


def _unprotected(maker: Maker, scope: Scope) -> str:
    pairs = scope.pairs(False)
    if not pairs:
        return maker.pick("true", "1 = 1", "NOT false")
    source, column = maker.rng.choice(pairs)
    name, value = scope.refer(maker, source, column), maker.value(column)
    if column.base == "int4":
        return maker.pick(f"{name} > {value}", f"{name} <= {value}", f"{name} = {value}", f"{name} IS NOT NULL")
    return maker.pick(f"{name} = {value}", f"{name} <> {value}", f"{name} LIKE 'a%'", f"{name} IS NULL")


def _equals(maker: Maker, scope: Scope, pair: Pair) -> str:
    name, value = scope.refer(maker, *pair), maker.value(pair[1], known=0.85)
    return maker.pick(
        f"{name} = {value}", f"{name} = {value}", f"{value} = {name}", f"{name} <> {value}", f"({name}) = ({value})"
    )


def _in(maker: Maker, scope: Scope, pair: Pair) -> str:
    values = ", ".join(maker.value(pair[1], known=0.85) for _ in range(maker.rng.randrange(1, 5)))
    return f"{scope.refer(maker, *pair)} {maker.pick('IN', 'IN', 'NOT IN')} ({values})"


def _null(maker: Maker, scope: Scope, pair: Pair) -> str:
    protected = maker.rng.choice(scope.pairs(True))
    return f"{scope.refer(maker, *protected)} IS {maker.pick('', 'NOT ')}NULL"


def _columns(maker: Maker, scope: Scope, pair: Pair) -> str:
    others = [other for other in scope.pairs(True) if other[1].label == pair[1].label or maker.wildly(0.1)]
    return f"{scope.refer(maker, *pair)} {maker.pick('=', '<>')} {scope.refer(maker, *maker.rng.choice(others))}"


def _distinct(maker: Maker, scope: Scope, pair: Pair) -> str:
    form = maker.pick("IS DISTINCT FROM", "IS NOT DISTINCT FROM")
    return f"{scope.refer(maker, *pair)} {form} {maker.value(pair[1], known=0.85)}"


def _any(maker: Maker, scope: Scope, pair: Pair) -> str:
    return f"{scope.refer(maker, *pair)} {maker.pick('= ANY', '= ANY', '<> ALL')} ({maker.array(pair[1])})"


def _inner(maker: Maker, scope: Scope) -> tuple[str, Scope]:
    sql, source = sources.base(maker, sources.table(maker), maker.alias())
    return sql, Scope([source], outer=scope)


def _exists(maker: Maker, scope: Scope, pair: Pair) -> str:
    sql, inner = _inner(maker, scope)
    links = [other for other in inner.pairs() if other[1].label == pair[1].label and other[1].protected]
    if links:
        link = f"{inner.refer(maker, *maker.rng.choice(links))} = {scope.refer(maker, *pair)}"
    else:
        link = condition(maker, inner, 0)
    return f"{maker.pick('', 'NOT ')}EXISTS (SELECT {maker.pick('1', '*', 'NULL')} FROM {sql} WHERE {link})"


def _in_select(maker: Maker, scope: Scope, pair: Pair) -> str:
    sql, inner = _inner(maker, scope)
    same = [other for other in inner.pairs() if other[1].label == pair[1].label]
    other = maker.rng.choice(same or inner.pairs())
    form = maker.pick("IN", "NOT IN", "= ANY")
    where = condition(maker, inner, 0)
    return f"{scope.refer(maker, *pair)} {form} (SELECT {inner.refer(maker, *other)} FROM {sql} WHERE {where})"


def _refused(maker: Maker, scope: Scope, pair: Pair) -> str:
    pair = maker.rng.choice(scope.pairs(True))
    name, value = scope.refer(maker, *pair), maker.value(pair[1], known=0.8)
    return maker.pick(
        f"{name} LIKE {value}", f"{name} > {value}", f"{name} BETWEEN {value} AND {value}", f"upper({name}) = {value}",
        f"{name}::text = {value}", f"coalesce({name}, {value}) = {value}", f"{name} || '' = {value}",
        f"({name}, 1) = ({value}, 1)", f"ROW({name}) = ROW({value})", f"{name} ~ {value}",
        f"CASE WHEN {name} = {value} THEN true ELSE false END", f"({name} = {value}) = true",
        f"{name} = upper({value})",
        f"nullif({name}, {value}) IS NULL", f"{name} IN (SELECT {value})", f"{name} = (SELECT {value})",
        f"{name} SIMILAR TO {value}", f"{name} = ALL (ARRAY[{value}])", f"{name} OPERATOR(pg_catalog.=) {value}",
    )  # fmt: skip


def item(maker: Maker, scope: Scope) -> tuple[str, Column | None]:
    """A select item and the column it gives; None for what should not be used again."""
    pairs = scope.pairs()
    source, column = maker.rng.choice(pairs)
    name = scope.refer(maker, source, column)
    if maker.chance(0.12):
        return _computed(maker, scope)
    if column.protected and maker.wildly():
        return _protected_expression(maker, scope, (source, column), name), None
    if maker.chance(0.3):
        alias = maker.rng.choice([other.name for _, other in pairs]) if maker.chance(0.3) else maker.alias()
        return f"{name} AS {maker.name(alias)}", replace(column, name=alias)
    return name, column


def _computed(maker: Maker, scope: Scope) -> tuple[str, Column]:
    """An expression that no protected column is in."""
    alias = maker.alias()
    numbers = [pair for pair in scope.pairs(False) if pair[1].base == "int4"]
    if not numbers:
        return f"'constant'::text AS {alias}", Column(alias, "text")
    name = scope.refer(maker, *maker.rng.choice(numbers))
    forms = (
        f"{name} + 1",
        f"CASE WHEN {name} > 9 THEN 1 ELSE 2 END",
        f"coalesce({name}, 0)",
        f"abs({name})",
        "3",
        f"-{name}",
    )
    return f"{maker.rng.choice(forms)} AS {alias}", Column(alias, "int4")


def _protected_expression(maker: Maker, scope: Scope, pair: Pair, name: str) -> str:
    column = pair[1]
    value, row = maker.value(column, known=0.8), maker.name(pair[0].alias)
    return maker.pick(
        f"({name})", f"upper({name})", f"{name} || 'x'", f"coalesce({name}, {value})", f"{name}::text",
        f"{name}::varchar",
        f"CASE WHEN true THEN {name} END", f"CASE {name} WHEN {value} THEN 1 ELSE 0 END", f"{name} IS NULL",
        f"{name} = {value}", f"ROW({name}, 1)", f"ARRAY[{name}]", f"length({name})", f"nullif({name}, {value})",
        f"(SELECT {name})", f"to_json({name})", f"greatest({name}, {value})", f"first_value({name}) OVER ()",
        f"({name} IN ({value}))", f"lag({name}) OVER (ORDER BY 1)", row, f"({row}).*",
    )  # fmt: skip
