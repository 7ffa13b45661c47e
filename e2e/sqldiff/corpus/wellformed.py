"""Statements that an application would send: most of them the analysis accepts."""

from sqldiff.corpus.choices import Choices
from sqldiff.corpus.parts import where

STRINGS = (
    "'x'",
    "'it''s'",
    "''",
    "'a\\b'",
    "E'a\\'b\\n'",
    "E'\\x41\\u00e9'",
    "$$d'q$$",
    "$t$a$$b$t$",
    "'ü😀'",
    "'--'",
    "'/*'",
    "';'",
    "'$1'",
)


def held(c: Choices) -> str:
    """A value that can be sealed."""
    return c.one(
        lambda c: c.one(*STRINGS),
        lambda c: c.one(*STRINGS),
        "42",
        "-7",
        "1.50",
        "0",
        "NULL",
        "$1",
        "'x'::text",
        "CAST('x' AS varchar)",
        "'7'::int",
        "('x')",
        "text 'x'",
        "'2020-01-02'::date",
        "$1::text",
        "7::bigint",
        "('x'::text)::varchar",
        "-0",
        "+ 3",
        "'true'::bool",
    )


def matched(c: Choices) -> str:
    left = c.one("ssn", "email", "c.ssn", '"ssn"', 'c."email"', "(c.ssn)", "EMAIL")
    return c.one(
        lambda c: f"{left} {c.one('=', '<>', '!=')} {held(c)}",
        lambda c: f"{held(c)} = {left}",
        lambda c: f"{left} IN ({c.some(1, 4, held)})",
        lambda c: f"{left} NOT IN ({c.some(1, 2, held)})",
        lambda c: f"{left} IS {c.maybe('NOT ')}NULL",
        lambda c: f"c.id {c.one('=', '<', '>=')} {c.one('5', '$2', '-1')}",
        lambda c: f"c.name {c.one('LIKE', '=', '||')} {c.one(*STRINGS)}{c.maybe(' IS NULL', 10)}",
        lambda c: f'{left} IN (SELECT {c.one("p.ssn", "ssn")} FROM person p WHERE p."Mixed" = {held(c)})',
        lambda c: f"EXISTS (SELECT 1 FROM person p WHERE p.ssn = c.ssn AND p.ssn <> {held(c)})",
        lambda c: f"NOT ({matched(c)})",
        lambda c: f"({matched(c)} {c.one('AND', 'OR')} {matched(c)})",
        lambda c: f"{left} = {c.one('ANY', 'SOME')}(ARRAY[{c.some(1, 3, held)}])",
        "c.phone IS NULL",
        "c.ssn = c.ssn",
    )


def condition(c: Choices) -> str:
    return c.some(1, 3, matched, c.one(" AND ", " OR ", "\n  and ", " AND/**/"))


def selected(c: Choices) -> str:
    return c.one(
        "c.id",
        "c.ssn",
        "ssn",
        "*",
        "c.*",
        "count(*)",
        "count(c.email)",
        "c.name AS n",
        "email e",
        "upper(c.name)",
        "c.ssn = 'x' AS same",
    )


def select(c: Choices) -> str:
    joins = c.one(
        "",
        "",
        "",
        " JOIN orders o ON o.customer_id = c.id",
        " LEFT JOIN person p ON p.ssn = c.ssn",
        ", item i",
        " CROSS JOIN log l",
    )
    keys = c.one("", "", "", " ORDER BY c.id", " ORDER BY c.name DESC", " LIMIT 5", " FOR UPDATE OF c")
    fields = c.some(1, 3, lambda c: c.one("c.id", "c.ssn", "c.email AS e", "c.*", "c.name", "1 AS one", "c.phone"))
    return f"SELECT {fields} FROM {c.one('customer c', 'public.customer AS c', 'Customer c')}{joins} WHERE {condition(c)}{keys}"


def nested(c: Choices) -> str:
    return c.one(
        lambda c: (
            f"SELECT {c.one('d.s', '*', 'd.id')} FROM (SELECT c.id, c.ssn AS s FROM customer c WHERE {condition(c)}) d WHERE d.s = {held(c)}"
        ),
        lambda c: f"SELECT c.ssn, count(*) FROM customer c WHERE {condition(c)} GROUP BY c.ssn",
        lambda c: f"SELECT DISTINCT c.ssn FROM customer c WHERE {condition(c)}",
        lambda c: (
            f"WITH w AS (SELECT c.id, c.ssn FROM customer c WHERE {condition(c)}) SELECT {c.one('*', 'ssn', 'w.id')} FROM w WHERE ssn = {held(c)}"
        ),
        lambda c: (
            f"SELECT c.ssn FROM customer c WHERE {condition(c)} UNION {c.maybe('ALL ')}SELECT p.ssn FROM person p WHERE p.ssn = {held(c)}"
        ),
        lambda c: (
            f"WITH RECURSIVE w(n, s) AS (SELECT 1, c.ssn FROM customer c WHERE {condition(c)} UNION ALL SELECT n + 1, s FROM w WHERE n < 3) SELECT s FROM w"
        ),
        lambda c: (
            f"SELECT o.id, (SELECT count(*) FROM customer c WHERE c.id = o.customer_id AND {condition(c)}) FROM orders o"
        ),
        lambda c: (
            f"SELECT c.id FROM orders o, LATERAL (SELECT c.id FROM customer c WHERE c.id = o.customer_id AND {condition(c)}) c"
        ),
        lambda c: f"DECLARE k CURSOR FOR SELECT c.ssn FROM customer c WHERE {condition(c)}",
        lambda c: f"PREPARE k AS SELECT c.ssn FROM customer c WHERE {condition(c)}",
        lambda c: f"COPY (SELECT c.ssn FROM customer c WHERE {condition(c)}) TO STDOUT",
        lambda c: f"EXPLAIN SELECT c.ssn FROM customer c WHERE {condition(c)}",
    )


ROWS = (
    ("customer", "id, ssn", "1, {}"),
    ("customer", "ssn, email", "{}, {}"),
    ("customer", "name, ssn, phone", "'n', {}, {}"),
    ("customer", "", "1, 'n', {}, {}"),
    ("person", 'ssn, "Mixed"', "{}, {}"),
    ("person", "", "5, {}, {}, 'c'"),
    ("hr.staff", "ssn, badge", "{}, {}"),
    ("größe", "straße", "{}"),
    ('"two words"', '"from", "desc"', "1, {}"),
    ('"Customer"', '"SSN"', "{}"),
    ("blob", "id, data", "1, {}"),
    ("public.customer", "email", "{}"),
)


def insert(c: Choices) -> str:
    table, columns, row = ROWS[c.below(len(ROWS))]
    rows = c.some(1, 3, lambda c: "(" + row.format(held(c), held(c)) + ")")
    listed = f" ({columns})" if columns else ""
    after = c.one("", "", "", " ON CONFLICT DO NOTHING", " RETURNING *", " RETURNING id")
    if table == "customer":
        after = c.one(
            after,
            f" ON CONFLICT (ssn) DO UPDATE SET email = {held(c)}, ssn = excluded.ssn",
            f" ON CONFLICT (id) DO UPDATE SET ssn = {held(c)} WHERE customer.email = {held(c)}",
        )
    return f"INSERT INTO {table}{listed} VALUES {rows}{after}"


def insert_select(c: Choices) -> str:
    return c.one(
        lambda c: f"INSERT INTO customer (id, ssn) SELECT c.id, c.ssn FROM customer c WHERE {condition(c)}",
        lambda c: (
            f"INSERT INTO customer (id, ssn, email) SELECT o.id, {held(c)}, {held(c)} FROM orders o WHERE o.total = 5"
        ),
        lambda c: f"INSERT INTO log (x) SELECT c.id FROM customer c WHERE {condition(c)}",
        lambda c: f"INSERT INTO person (ssn) SELECT c.ssn FROM customer c WHERE {condition(c)}",
    )


def update(c: Choices) -> str:
    sets = c.some(
        1,
        2,
        lambda c: c.one(
            f"ssn = {held(c)}",
            f"phone = {held(c)}",
            f'"email"={held(c)}',
            "name = upper(name)",
            "ssn = ssn",
            f"(ssn, name) = ({held(c)}, 'n')",
        ),
    )
    joins = c.one("", "", " FROM person p", " FROM orders o")
    return f"UPDATE customer {c.one('c', 'AS c')} SET {sets}{joins} WHERE {condition(c)}{c.one('', ' RETURNING c.id, c.ssn')}"


def delete(c: Choices) -> str:
    return f"DELETE FROM customer c{c.one('', ' USING person p', ' USING orders o')} WHERE {condition(c)}{c.one('', ' RETURNING *')}"


def merge(c: Choices) -> str:
    return (
        f"MERGE INTO customer c USING person p ON {c.one('p.ssn = c.ssn', 'p.id = c.id')} AND c.email = {held(c)}"
        f" WHEN MATCHED THEN UPDATE SET ssn = {c.one(held(c), 'p.ssn')} WHEN NOT MATCHED THEN INSERT (id, ssn) VALUES (p.id, {c.one(held(c), 'p.ssn')})"
    )


def loose(c: Choices) -> str:
    """Well formed, but with conditions of any kind."""
    return f"SELECT c.id FROM customer c{where(c)}"
