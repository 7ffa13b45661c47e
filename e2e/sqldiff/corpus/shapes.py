"""Every shape of generated texts."""

from sqldiff.corpus import wellformed as w
from sqldiff.corpus.choices import Choices
from sqldiff.corpus.parts import literal, simple, value, where
from sqldiff.corpus.rows import (
    assignment,
    c_item,
    delete,
    insert,
    insert_select,
    merge,
    select,
    select_customer,
    set_operation,
    update,
    with_query,
)


def copy(c: Choices) -> str:
    goal = c.one(
        "customer",
        "customer (id, ssn)",
        "customer (ssn)",
        "public.customer(name)",
        "person",
        "hr.staff (ssn)",
        "log",
        "customer (missing)",
    )
    options = c.one(
        "",
        "",
        " WITH (FORMAT csv, HEADER)",
        " (FORMAT binary)",
        " CSV",
        " WITH (FORMAT csv, FORCE_NULL (ssn))",
        " (FREEZE)",
    )
    return c.one(
        f"COPY {goal} FROM {c.one('STDIN', 'STDIN', chr(39) + '/f' + chr(39), 'PROGRAM ' + chr(39) + 'p' + chr(39))}{options}{c.maybe(where, 20)}",
        f"COPY {goal} TO {c.one('STDOUT', 'STDOUT', chr(39) + '/f' + chr(39))}{options}",
        lambda c: f"COPY ({c.one(simple, select, set_operation, insert, with_query)}) TO STDOUT{options}",
    )


def prepare(c: Choices) -> str:
    body = c.one(simple, select_customer, insert, update, delete)
    types = c.one("", "(text)", "(text, int)", "(varchar(3))", "(unknown)")
    return c.one(
        f"PREPARE p{types} AS {body}",
        f"DECLARE d {c.one('', 'BINARY ', 'INSENSITIVE ', 'NO SCROLL ')}CURSOR {c.maybe('WITH HOLD ')}FOR {simple(c)}",
        lambda c: f"PREPARE p{types} AS {body}; EXECUTE p({value(c)})",
        lambda c: f"EXPLAIN {c.one('', 'ANALYZE ', '(COSTS off) ', 'VERBOSE ')}{body}",
        "EXECUTE p('x', 'y')",
        "EXECUTE customer",
        "FETCH 5 FROM d",
        "CLOSE d",
        "DEALLOCATE p",
        "FETCH ALL FROM customer",
        lambda c: f"UPDATE customer SET {assignment(c)} WHERE CURRENT OF d",
    )


def definition(c: Choices) -> str:
    return c.one(
        lambda c: (
            f"CREATE {c.maybe('UNIQUE ')}INDEX i ON {c.one('customer', 'orders', 'person')} ({c.one('ssn', 'id', 'lower(ssn)', 'phone', 'id, ssn')}){where(c)}"
        ),
        lambda c: f"CREATE {c.one('', 'TEMP ')}TABLE t AS {c.one(simple, select)}",
        lambda c: f"CREATE {c.one('', 'OR REPLACE ', 'MATERIALIZED ')}VIEW v AS {c.one(simple, select)}",
        lambda c: (
            f"ALTER TABLE {c.one('customer', 'orders')} {c.one('ADD COLUMN x text', 'DROP COLUMN ssn', 'ALTER COLUMN ssn TYPE int', 'RENAME TO x', 'RENAME COLUMN ssn TO s', 'ALTER ssn SET DEFAULT 5', 'ADD CHECK (ssn = 5::text)', 'ADD UNIQUE (ssn)', 'ADD UNIQUE (phone)', 'SET SCHEMA other', 'ALTER ssn SET NOT NULL', 'ADD COLUMN g text GENERATED ALWAYS AS (ssn) STORED', 'ENABLE ROW LEVEL SECURITY')}"
        ),
        lambda c: (
            f"{c.one('TRUNCATE', 'LOCK TABLE', 'ANALYZE', 'VACUUM', 'DROP TABLE', 'REINDEX TABLE')} {c.one('customer', 'orders', 'public.customer', 'person')}"
        ),
        lambda c: (
            f"CREATE TABLE t ({c.one('LIKE customer', 'id int REFERENCES customer', 'x text')}){c.maybe(' INHERITS (customer)', 20)}"
        ),
        lambda c: f"SELECT {c_item(c)} INTO t FROM customer{where(c)}",
        lambda c: f"GRANT SELECT ON {c.one('customer', 'orders')} TO PUBLIC",
        lambda c: f"CREATE RULE r AS ON INSERT TO orders DO ALSO {c.one(insert, update)}",
        lambda c: f"DO $$ BEGIN {c.one(insert, update, 'PERFORM 1')}; END $$",
        lambda c: f"CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $f$ {c.one(simple, 'SELECT 1')} $f$",
        lambda c: (
            f"SET {c.one('', 'LOCAL ', 'SESSION ')}{c.one('search_path', 'standard_conforming_strings', 'work_mem', 'role', 'application_name')} {c.one('=', 'TO')} {c.one('on', 'off', 'DEFAULT', chr(39) + 'x' + chr(39))}"
        ),
        lambda c: (
            f"SELECT set_config({c.one(chr(39) + 'search_path' + chr(39), chr(39) + 'standard_conforming_strings' + chr(39))}, {c.one(chr(39) + 'off' + chr(39), chr(39) + 'x' + chr(39))}, false)"
        ),
        lambda c: c.one(
            "BEGIN",
            "COMMIT",
            "ROLLBACK",
            "SAVEPOINT customer",
            "SHOW ssn",
            "RESET ALL",
            "DISCARD ALL",
            "LISTEN customer",
            "SET CONSTRAINTS ALL DEFERRED",
        ),
    )


def several(c: Choices) -> str:
    part = lambda c: c.one(simple, insert, update, delete, definition, "BEGIN", "COMMIT", "", "SELECT 1")  # noqa: E731
    return c.some(2, 3, part, c.one("; ", ";", " ;\n")) + c.maybe(";")


def spaced(c: Choices) -> str:
    """A statement with comments, blanks and case in odd places."""
    text = c.one(simple, w.insert, w.update, w.delete, w.select)
    gaps = (" ", " ", "  ", "\n", "\t", "/* c */", " -- '\n", "/* /* '*/ */ ", "\r\n", "\f")
    out, quoted = [], False
    for character in text:
        quoted ^= character in "'\"$"
        out.append(gaps[c.below(len(gaps))] if character == " " and not quoted else character)
    return "".join(out)


def broken(c: Choices) -> str:
    """A statement with a character gone, doubled or changed."""
    text = c.one(simple, insert, update, delete, select)
    at = c.below(len(text))
    return c.one(
        text[:at] + text[at + 1 :],
        text[:at] + text[at] + text[at:],
        text[:at] + c.one("'", '"', "$", "(", ";", "\\", "--", "/*", "\u00a0") + text[at:],
    )


def plain(c: Choices) -> str:
    """Nothing protected, though names may look it."""
    return c.one(
        lambda c: (
            f"SELECT {c.one('ssn', '*', 'id')} FROM {c.one('item', 'other.customer', 'item customer')} WHERE ssn = {value(c)}"
        ),
        lambda c: f"INSERT INTO {c.one('item (ssn)', 'log (x)', 'other.customer (ssn)')} VALUES ({literal(c)})",
        lambda c: f"UPDATE item SET ssn = {value(c)} WHERE ssn = {value(c)}",
        lambda c: f"WITH customer AS (SELECT 'x' AS ssn) SELECT ssn FROM customer WHERE ssn = {literal(c)}",
        lambda c: f"SELECT 'customer' AS \"ssn\" WHERE 'ssn' = {literal(c)}",
    )


WELLFORMED = (
    w.select,
    w.select,
    w.select,
    w.nested,
    w.nested,
    w.nested,
    w.insert,
    w.insert,
    w.insert,
    w.insert_select,
    w.update,
    w.update,
    w.delete,
    w.merge,
    w.loose,
)

SHAPES = (
    *WELLFORMED,
    select,
    select,
    select_customer,
    select_customer,
    set_operation,
    with_query,
    with_query,
    insert,
    insert,
    insert,
    insert_select,
    insert_select,
    update,
    update,
    update,
    update,
    delete,
    delete,
    merge,
    copy,
    prepare,
    definition,
    definition,
    several,
    several,
    spaced,
    spaced,
    broken,
    broken,
    plain,
)
