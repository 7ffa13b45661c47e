"""Parts of generated texts: values, predicates, tables. Each function draws one."""

from sqldiff.corpus.choices import Choices


def literal(c: Choices) -> str:
    return c.one(
        "'x'",
        "'it''s'",
        "''",
        "'a\\b'",
        "E'a\\'b\\n'",
        "E'\\x41\\u00e9'",
        "e'q'",
        "$$d'q$$",
        "$t$a$$b$t$",
        "'ü😀'",
        "'--'",
        "'/*'",
        "';'",
        "U&'d\\0061t'",
        "N'n'",
        "B'101'",
        "X'1F'",
        "42",
        "-7",
        "- 7",
        "+7",
        "1.50",
        "1e3",
        "0.5",
        ".5",
        "5.",
        "0x1F",
        "1_000",
        "007",
        "NULL",
        "true",
        "false",
        "$1",
        "$2",
        "'$1'",
        "'2020-01-02'",
    )


def cast(c: Choices) -> str:
    kind = c.one(
        "text",
        "varchar",
        "int",
        "bigint",
        "numeric",
        "bool",
        "date",
        "uuid",
        "varchar(3)",
        "numeric(5,1)",
        "char",
        "bytea",
        "json",
        "float8",
        "timestamp",
        "pg_catalog.text",
        "text[]",
        "character varying",
        "name",
    )
    inside = c.one(
        "'x'",
        "'7'",
        "'007'",
        "7",
        "$1",
        "NULL",
        "'2020-01-02'",
        "'2020-1-2'",
        "'t'",
        "1.50",
        "-7",
        "'true'",
        "'\\x00ff'",
        "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'",
        "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'",
    )
    return c.one(
        f"{inside}::{kind}",
        f"CAST({inside} AS {kind})",
        f"({inside})::{kind}",
        f"{inside}::{kind}::text",
        f"{kind} 'x'",
        f"({inside}::{kind})",
        f"cast ( {inside} as {kind} )",
    )


def computed(c: Choices) -> str:
    return c.one(
        "upper('x')",
        "'a' || 'b'",
        "coalesce($1, 'x')",
        "now()",
        "current_user",
        "(SELECT 'x')",
        "ARRAY['x']",
        "CASE WHEN true THEN 'x' END",
        "(SELECT ssn FROM person LIMIT 1)",
        "-(5)",
        "- -5",
        "interval '1 day'",
        "1 + 1",
        "'x' COLLATE \"C\"",
        "ROW('x')",
        "('x', 'y')",
    )


def value(c: Choices) -> str:
    return c.one(
        literal, literal, literal, literal, literal, literal, literal, cast, cast, computed, lambda c: f"({literal(c)})"
    )


def column(c: Choices) -> str:
    common = ("ssn", "ssn", "email", "email", "id", "id", "name", '"ssn"', "SSN", "(ssn)", '"email"', "Email", "phone")
    rare = (
        "c.ssn",
        "c.ssn",
        "c.email",
        "c.id",
        "c.phone",
        "customer.ssn",
        "public.customer.ssn",
        '"SSN"',
        "p.ssn",
        "notes",
        "card",
    )
    return c.one(*common, *common, *rare)


def equality(c: Choices) -> str:
    return c.one("=", "=", "=", "<>", "!=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM", "OPERATOR(pg_catalog.=)")


def predicate(c: Choices) -> str:
    left = column(c)
    return c.one(
        lambda c: f"{left} {equality(c)} {value(c)}",
        lambda c: f"{left} {equality(c)} {value(c)}",
        lambda c: f"{value(c)} {equality(c)} {left}",
        lambda c: f"{left} {c.one('IN', 'NOT IN')} ({c.some(1, 3, value)})",
        lambda c: f"{left} = {c.one('ANY', 'ALL', 'SOME')} ({c.one('$1', 'ARRAY[' + value(c) + ']', literal, cast)})",
        lambda c: f"{left} IN (SELECT {column(c)} FROM {c.one('person p', 'orders', 'customer c', 'item')})",
        lambda c: f"{left} IS {c.maybe('NOT ')}NULL",
        lambda c: f"{left} {c.one('<', '>', '<=', 'LIKE', 'ILIKE', '~', '||', '+')} {value(c)}",
        lambda c: f"{left} BETWEEN {value(c)} AND {value(c)}",
        lambda c: f"{c.one('upper', 'lower', 'length', 'coalesce', 'count')}({left}) = {value(c)}",
        lambda c: f"EXISTS (SELECT {c.one('1', '*', column)} FROM person p WHERE p.ssn = {c.one(value, column)})",
        lambda c: f"({left}, id) = ({value(c)}, {literal(c)})",
        lambda c: f"({predicate(c)})",
        lambda c: f"NOT {left} = {value(c)}",
        lambda c: f"{left} = {column(c)}",
        lambda c: f"id {c.one('=', '<', '>')} {literal(c)}",
        lambda c: f"CASE WHEN {left} = {value(c)} THEN true ELSE false END",
        lambda c: f"CASE {left} WHEN {value(c)} THEN true END",
        lambda c: f"NULLIF({left}, {value(c)}) IS NULL",
        lambda c: f"({left} = {value(c)}) IS {c.one('TRUE', 'NOT FALSE', 'UNKNOWN')}",
        lambda c: f"{left}={literal(c)}",
    )


def condition(c: Choices) -> str:
    return c.one(
        predicate, predicate, lambda c: f"{predicate(c)} {c.one('AND', 'OR')} {c.maybe('NOT ', 20)}{predicate(c)}"
    )


def where(c: Choices) -> str:
    return c.maybe(lambda c: f" WHERE {condition(c)}", 75)


def item(c: Choices) -> str:
    return c.one(
        column,
        column,
        "*",
        "c.*",
        "1",
        "count(*)",
        lambda c: f"{column(c)} AS a",
        lambda c: f"{column(c)} b",
        lambda c: f"count({c.maybe('DISTINCT ')}{column(c)})",
        lambda c: f"upper({column(c)})",
        value,
        predicate,
        lambda c: f"{column(c)}::text",
        lambda c: f"max({column(c)})",
        "c",
        "(c).ssn",
        "(SELECT ssn FROM person LIMIT 1)",
    )


def table(c: Choices) -> str:
    return c.one(
        "customer",
        "customer c",
        "customer AS c",
        "public.customer c",
        "person p",
        "orders o",
        "item",
        "hr.staff c",
        "ONLY customer c",
        "customer * c",
        "other.customer c",
        '"customer" c',
        '"Customer" u',
        "CUSTOMER c",
        "blob c",
        "shop.public.customer c",
        "log",
        "größe c",
        '"two words" c',
        "customer c(a, b)",
        "missing",
    )


def source(c: Choices) -> str:
    return c.one(
        table,
        table,
        lambda c: (
            f"{table(c)} {c.one('JOIN', 'LEFT JOIN', 'FULL OUTER JOIN', 'INNER JOIN')} {table(c)} ON {condition(c)}"
        ),
        lambda c: (
            f"{table(c)} {c.one('JOIN', 'LEFT JOIN', 'FULL JOIN')} {table(c)} USING ({c.one('ssn', 'id', 'email', 'id, ssn')})"
        ),
        lambda c: f"{table(c)} NATURAL JOIN {table(c)}",
        lambda c: f"{table(c)} CROSS JOIN {table(c)}",
        lambda c: f"{table(c)}, {table(c)}",
        lambda c: f"({simple(c)}) {c.one('c', 'AS c', 'd', 'c(ssn)')}",
        lambda c: f"customer c, LATERAL ({simple(c)}) d",
        lambda c: f"customer c, generate_series(1, {literal(c)}) g",
        lambda c: f"(customer c JOIN person p ON {condition(c)})",
        lambda c: f"(VALUES ({value(c)}, {literal(c)})) c(ssn, id)",
    )


def simple(c: Choices) -> str:
    return f"SELECT {c.some(1, 2, item)} FROM {table(c)}{where(c)}"


def tail(c: Choices) -> str:
    return (
        c.maybe(lambda c: f" GROUP BY {c.some(1, 2, c_key)}", 15)
        + c.maybe(lambda c: f" HAVING {c.one('count(*) > 1', predicate)}", 5)
        + c.maybe(lambda c: f" ORDER BY {c.some(1, 2, c_key)}{c.one('', ' DESC', ' NULLS LAST')}", 15)
        + c.maybe(lambda c: f" LIMIT {c.one('1', '$2', 'ALL')}", 10)
        + c.maybe(c.one(" FOR UPDATE", " FOR SHARE OF c", " FOR NO KEY UPDATE NOWAIT"), 5)
    )


def c_key(c: Choices) -> str:
    return c.one(column, "1", "2", "a", "id", "lower(ssn)", "c.id", "ssn", "()", "(id, ssn)")
