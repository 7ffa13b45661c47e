"""INSERT, UPDATE, DELETE, MERGE and TRUNCATE, with and without RETURNING."""

from canary import schema
from canary.generate import expressions, queries, sources
from canary.generate.maker import Maker
from canary.generate.sources import Scope, Source
from canary.schema import Column, Table

WRITABLE = (*schema.TABLES, *schema.PARTITION_TABLES)
# Where rows of another table may be put without making a key that two parts of one table share.
FREE = tuple(table for table in schema.TABLES if table not in (schema.BASE, schema.CHILD))


def insert(maker: Maker) -> str:
    known = sources.table(maker, WRITABLE)
    if known in FREE and maker.chance(0.12):
        return _insert_select(maker, known)
    alias = maker.alias() if maker.chance(0.2) else ""
    head = f"INSERT INTO {sources.written(maker, known)}{f' AS {alias}' if alias else ''}"
    if maker.chance(0.02):
        return f"{head} DEFAULT VALUES"
    columns = list(known.columns)
    listed = maker.chance(0.75)
    if listed:
        columns = _some(maker, known)
        head += f" ({', '.join(maker.name(column.name) for column in columns)})"
    elif maker.chance(0.1):
        # Fewer values than columns: the rest gets its defaults.
        columns = columns[: maker.rng.randrange(1, len(columns) + 1)]
    rows = ", ".join(row(maker, known, columns) for _ in range(maker.rng.choices((1, 2, 4), (6, 2, 1))[0]))
    scope = Scope([Source(alias or known.name, known.columns, known.key)])
    return f"{head} VALUES {rows}{_conflict(maker, known, scope, columns)}{returning(maker, scope)}"


def row(maker: Maker, known: Table, columns: list[Column]) -> str:
    return f"({', '.join(_stored(maker, known, column) for column in columns)})"


def _some(maker: Maker, known: Table) -> list[Column]:
    """The key and some of the others, in any order."""
    columns = [column for column in known.columns if column.name in known.key or maker.chance(0.6)]
    maker.rng.shuffle(columns)
    return columns


def _stored(maker: Maker, known: Table, column: Column) -> str:
    if column.name in known.key:
        return maker.hold(key_value(maker, known, column))
    if maker.chance(0.05):
        return "DEFAULT"
    if column.protected and maker.wildly(0.1):
        value = maker.value(column)
        return maker.pick(
            f"upper({value})", f"{value} || 'x'", f"coalesce({value}, NULL)", f"(SELECT {value})", f"trim({value})"
        )
    return maker.value(column, known=0.35)


def key_value(maker: Maker, known: Table, column: Column) -> str:
    if column.name == "region":
        # A partition takes its own rows only, mostly.
        region = {"event_eu": "eu", "event_us": "us", "event_rest": "asia"}.get(known.name)
        return f"'{region if region and maker.chance(0.9) else maker.pick(*('eu', 'us', 'asia'))}'"
    number = maker.rng.randrange(1, 40)
    return str(number + 1000 if known is schema.CHILD else number)


def _conflict(maker: Maker, known: Table, scope: Scope, columns: list[Column]) -> str:
    if not maker.chance(0.35):
        return ""
    target = f"({', '.join(maker.name(name) for name in known.key)})"
    if known is schema.PERSON and maker.chance(0.3):
        target = "(email)"
    if maker.chance(0.3):
        return f" ON CONFLICT {maker.pick('', target)} DO NOTHING"
    where = ""
    if maker.chance(0.3):
        where = f" WHERE {expressions.condition(maker, Scope(scope.sources, outer=Scope()), 0)}"
    return f" ON CONFLICT {target} DO UPDATE SET {_assignments(maker, known, scope, excluded=True)}{where}"


def _assignments(
    maker: Maker, known: Table, scope: Scope, *, excluded: bool = False, others: Scope | None = None
) -> str:
    """`column = value, …`, never of the key."""
    free = [column for column in known.columns if column.name not in known.key]
    chosen = maker.rng.sample(free, min(len(free), maker.rng.randrange(1, 4)))
    if len(chosen) > 1 and maker.chance(0.15):
        names = ", ".join(maker.name(column.name) for column in chosen)
        return f"({names}) = {maker.pick('', 'ROW ')}({', '.join(maker.value(column) for column in chosen)})"
    return ", ".join(
        f"{maker.name(column.name)} = {_assigned(maker, known, column, scope, excluded, others)}" for column in chosen
    )


def _assigned(maker: Maker, known: Table, column: Column, scope: Scope, excluded: bool, others: Scope | None) -> str:
    name = f"{maker.name(scope.sources[0].alias)}.{maker.name(column.name)}"
    if excluded and maker.chance(0.4):
        return f"EXCLUDED.{maker.name(column.name)}"
    if others and maker.chance(0.5):
        fits = [pair for pair in others.pairs() if pair[1].label == column.label and pair[1].base == column.base]
        if fits:
            return others.refer(maker, *maker.rng.choice(fits))
    if maker.chance(0.08):
        return maker.pick("DEFAULT", "NULL", name)
    if column.protected and maker.wildly():
        value = maker.value(column)
        other = maker.rng.choice([other for other in known.columns if other.base == column.base])
        return maker.pick(
            maker.name(other.name), f"upper({value})", f"{name} || {value}", f"coalesce({name}, {value})",
            f"CASE WHEN true THEN {value} ELSE {name} END", f"(SELECT {value})", f"nullif({name}, {value})",
        )  # fmt: skip
    return maker.value(column, known=0.35)


def returning(maker: Maker, scope: Scope) -> str:
    if not maker.chance(0.4):
        return ""
    if maker.chance(0.3):
        return " RETURNING *"
    if maker.wildly(0.2):
        column = maker.rng.choice(scope.sources[0].columns)
        return f" RETURNING {maker.pick('old', 'new')}.{maker.name(column.name)}"
    items = [expressions.item(maker, scope)[0] for _ in range(maker.rng.randrange(1, 4))]
    return f" RETURNING {', '.join(items)}"


def _insert_select(maker: Maker, known: Table) -> str:
    """Rows of another table, column by column of one label; ids moved so that few collide."""
    other = maker.rng.choice(schema.READABLE)
    alias = maker.alias()
    source = Source(alias, other.columns, other.key)
    scope = Scope([source])
    names, values = [], []
    for column in known.columns:
        fits = [theirs for theirs in other.columns if theirs.label == column.label and theirs.base == column.base]
        if column.name in known.key and column.base == "int4":
            names.append(column)
            values.append(f"{alias}.{maker.name(other.key[0])} + {maker.rng.choice((0, 40, 80))}")
        elif column.name in known.key:
            names.append(column)
            values.append("'eu'")
        elif fits and maker.chance(0.7):
            names.append(column)
            values.append(f"{alias}.{maker.name(maker.rng.choice(fits).name)}")
        elif column.extra != "UNIQUE" and maker.chance(0.2):
            # One value for all rows: of a unique column it would be the first row's, whichever that is.
            names.append(column)
            values.append(maker.value(column))
    where = f" WHERE {expressions.condition(maker, scope, 0)}" if maker.chance(0.5) else ""
    listed = ", ".join(maker.name(column.name) for column in names)
    table = sources.written(maker, known)
    tail = returning(maker, Scope([Source(known.name, known.columns, known.key)]))
    select = f"SELECT {', '.join(values)} FROM {sources.written(maker, other)} {alias}{where}"
    return f"INSERT INTO {table} ({listed}) {select} ON CONFLICT DO NOTHING{tail}"


def _target(maker: Maker, among: tuple[Table, ...] = WRITABLE) -> tuple[Table, str, Source]:
    known = sources.table(maker, among)
    alias = maker.alias() if maker.chance(0.4) else known.name
    written = sources.written(maker, known) + (f" {maker.pick('', 'AS ')}{alias}" if alias != known.name else "")
    return known, written, Source(alias, known.columns, known.key)


def update(maker: Maker) -> str:
    known, written, source = _target(maker)
    scope, from_, others, link = Scope([source]), "", None, ""
    if maker.chance(0.25):
        # One row of the other table for each of this one, so that it is told which is used.
        sql, other = sources.base(maker, maker.rng.choice((schema.PERSON, schema.ACCOUNT, schema.ODD)), maker.alias())
        others = Scope([other], outer=Scope())
        from_ = f" FROM {sql}"
        theirs = f"{maker.name(other.alias)}.{maker.name(other.key[0])}"
        link = f"{theirs} = {maker.name(source.alias)}.{maker.name(known.key[0])}"
        scope = Scope([source, other])
    where = expressions.condition(maker, scope, 1) if maker.chance(0.85) else ""
    tests = " AND ".join(f"({test})" if test is where and link else test for test in (link, where) if test)
    sets = _assignments(maker, known, Scope([source]), others=others)
    return f"UPDATE {written} SET {sets}{from_}{f' WHERE {tests}' if tests else ''}{returning(maker, scope)}"


def delete(maker: Maker) -> str:
    _, written, source = _target(maker)
    key = f"{maker.name(source.alias)}.{maker.name(source.key[0])}"
    scope, using = Scope([source]), ""
    if maker.chance(0.2):
        sql, other = sources.base(maker, maker.rng.choice((schema.PERSON, schema.ACCOUNT)), maker.alias())
        using = f" USING {sql}"
        key += f" = {maker.name(other.alias)}.{maker.name(other.key[0])} AND {key}"
        scope = Scope([source, other])
    # Few at a time, so that tables stay filled.
    few = f"{key} IN ({', '.join(str(maker.rng.randrange(1, 120)) for _ in range(4))})"
    where = f" AND {expressions.condition(maker, scope, 0)}" if maker.chance(0.4) else ""
    if not using and maker.chance(0.3):
        few, where = expressions.condition(maker, scope, 0), f" AND {key} < {maker.rng.randrange(1, 40)}"
    return f"DELETE FROM {written}{using} WHERE {few}{where}{returning(maker, Scope([source]))}"


def merge(maker: Maker) -> str:
    known = maker.rng.choice((schema.PERSON, schema.ACCOUNT, schema.ODD, schema.PLAIN))
    target, other = maker.alias(), maker.alias()
    columns = list(known.columns)
    if maker.chance(0.5):
        columns = [column for column in known.columns if column.name in known.key or maker.chance(0.4)]
        rows = ", ".join(row(maker, known, columns) for _ in range(2))
        using = f"(VALUES {rows}) AS {other} ({', '.join(maker.name(column.name) for column in columns)})"
    else:
        from_table = maker.rng.choice((schema.PERSON, schema.ACCOUNT, schema.ODD))
        columns = list(from_table.columns)
        using = f"{sources.written(maker, from_table)} AS {other}"
    there = Source(other, tuple(columns), ())
    ours = Source(target, known.columns, known.key)
    key = next((column for column in columns if column.name.lower() == "id"), columns[0])
    on = f"{target}.{maker.name(known.key[0])} = {other}.{maker.name(key.name)}"
    sets = _assignments(maker, known, Scope([ours]), others=Scope([there], outer=Scope()))
    matched = maker.pick(f"UPDATE SET {sets}", f"UPDATE SET {sets}", "DELETE", "DO NOTHING")
    inserted = [column for column in known.columns if column.name in known.key or maker.chance(0.3)]
    if using.startswith("(VALUES"):
        # All of them reach the table: a value that goes nowhere is not of a protected column.
        inserted = columns
        values = ", ".join(f"{other}.{maker.name(column.name)}" for column in columns)
    else:
        values = ", ".join(
            f"{other}.{maker.name(key.name)}"
            if column.name in known.key
            else _assigned(maker, known, column, Scope([ours]), False, Scope([there], outer=Scope()))
            for column in inserted
        )
    listed = ", ".join(maker.name(column.name) for column in inserted)
    fresh = f"INSERT ({listed}) VALUES ({values})"
    extra = f" AND {expressions.condition(maker, Scope([ours], outer=Scope()), 0)}" if maker.chance(0.2) else ""
    tail = returning(maker, Scope([ours], outer=Scope())) if maker.chance(0.5) else ""
    return (
        f"MERGE INTO {sources.written(maker, known)} AS {target} USING {using} ON {on}"
        f" WHEN MATCHED{extra} THEN {matched} WHEN NOT MATCHED THEN {fresh}{tail}"
    )


def modifying_cte(maker: Maker) -> str:
    known, written, source = _target(maker, (schema.PERSON, schema.ACCOUNT, schema.ODD))
    scope = Scope([source])
    sets = _assignments(maker, known, scope)
    column = maker.rng.choice(known.columns)
    where = expressions.condition(maker, scope, 0)
    name = maker.name(column.name)
    returned = f"{maker.name(source.alias)}.{name}"
    return f"WITH w AS (UPDATE {written} SET {sets} WHERE {where} RETURNING {returned}) SELECT {name} FROM w"


def write(maker: Maker) -> tuple[str, str]:
    """The kind of statement and its text."""
    kinds = (insert, update, delete, merge, modifying_cte)
    made = maker.rng.choices(kinds, (50, 28, 8, 6, 3))[0]
    return made.__name__, made(maker)


def read(maker: Maker) -> tuple[str, str]:
    if maker.chance(0.02):
        return "table", f"TABLE {sources.written(maker, sources.table(maker))}"
    return "select", queries.query(maker).sql
