"""Statements that read or write rows, right and wrong ones."""

from sqldiff.corpus.choices import Choices
from sqldiff.corpus.parts import column, condition, item, predicate, simple, source, table, tail, value, where


def select(c: Choices) -> str:
    distinct = c.one("", "", "", "", "DISTINCT ", "DISTINCT ON (id) ", "DISTINCT ON (ssn) ", "ALL ")
    return f"SELECT {distinct}{c.some(1, 3, item)} FROM {source(c)}{where(c)}{tail(c)}"


def select_customer(c: Choices) -> str:
    return f"SELECT {c.some(1, 2, c_item)} FROM {c.one('customer c', 'customer', 'public.customer AS c')}{where(c)}{tail(c)}"


def c_item(c: Choices) -> str:
    return c.one("id", "ssn", "email AS e", "*", "count(*)", "name", "phone")


def set_operation(c: Choices) -> str:
    operator = c.one("UNION", "UNION ALL", "INTERSECT", "EXCEPT", "EXCEPT ALL")
    arm = lambda c: f"SELECT {c.one('ssn', 'email', 'ssn, id', 'id', 'name', value, 'NULL')} FROM {table(c)}{where(c)}"  # noqa: E731
    return f"{arm(c)} {operator} {arm(c)}{c.maybe(lambda c: f' {operator} {arm(c)}', 15)}{c.one('', ' ORDER BY 1', ' LIMIT 2')}"


def returning(c: Choices) -> str:
    return c.maybe(lambda c: f" RETURNING {c.some(1, 2, c_returned)}", 30)


def c_returned(c: Choices) -> str:
    return c.one("*", "ssn", "id", "upper(ssn)", "ssn = 'x'", "c.ssn", "old.ssn", "ssn AS s", "name")


TARGETS = (
    ("customer", "id, ssn"),
    ("customer", "ssn"),
    ("customer", "ssn, email, phone"),
    ("customer", "name, ssn"),
    ("customer", ""),
    ("public.customer", '"ssn", notes'),
    ("customer AS c", "SSN"),
    ("person", 'ssn, "Mixed"'),
    ("person", ""),
    ("hr.staff", "ssn, badge"),
    ("hr.staff", "ssn"),
    ("blob", "data"),
    ("blob", "wrong"),
    ("computed", "id"),
    ("größe", "straße"),
    ('"two words"', '"desc"'),
    ('"two words"', '"from", "desc"'),
    ('"Customer"', '"SSN"'),
    ("other.customer", "ssn"),
    ("log", "x, message"),
    ("item", "ssn"),
    ("customer", "ssn, ssn"),
    ("customer", "missing"),
    ("customer_view", "ssn"),
    ("orders", ""),
    ('"Customer"', ""),
    ("größe", ""),
)


def target(c: Choices) -> tuple[str, str]:
    return TARGETS[c.below(len(TARGETS))]


def row(c: Choices, columns: str, fewest: int = 1) -> str:
    count = len(columns.split(",")) if columns else fewest + c.below(3)
    count += c.one("0", "0", "0", "0", "0", "0", "0", "0", "1").count("1")
    return ", ".join(c.one(value, value, value, "DEFAULT") for _ in range(count))


def insert(c: Choices) -> str:
    name, columns = target(c)
    listed = f" ({columns})" if columns else ""
    rows = ", ".join(f"({row(c, columns)})" for _ in range(1 + c.below(2)))
    return (
        f"INSERT INTO {name}{listed}{c.maybe(' OVERRIDING SYSTEM VALUE', 3)} VALUES {rows}{conflict(c)}{returning(c)}"
    )


def insert_select(c: Choices) -> str:
    name, columns = target(c)
    listed = f" ({columns})" if columns else ""
    body = c.one(
        select,
        simple,
        set_operation,
        lambda c: f"SELECT {row(c, columns)}",
        lambda c: f"SELECT {row(c, columns)} FROM {table(c)}",
        lambda c: f"({simple(c)})",
        "TABLE person",
        "DEFAULT VALUES",
        lambda c: f"(VALUES ({row(c, columns)}))",
    )
    return f"INSERT INTO {name}{listed} {body}{conflict(c)}{returning(c)}"


def conflict(c: Choices) -> str:
    goal = c.one("", " (id)", " (ssn)", " (phone)", " ON CONSTRAINT k", " (lower(ssn))", " (id) WHERE ssn = 'x'")
    action = c.one(" DO NOTHING", lambda c: f" DO UPDATE SET {c.some(1, 2, c_conflicting)}{c.maybe(where, 30)}")
    return c.maybe(f" ON CONFLICT{goal}{action}", 25)


def c_conflicting(c: Choices) -> str:
    return c.one(
        assignment,
        "ssn = excluded.ssn",
        "ssn = EXCLUDED.email",
        "name = excluded.ssn",
        "phone = excluded.phone",
        "ssn = customer.ssn",
    )


def assignment(c: Choices) -> str:
    return c.one(
        lambda c: (
            f"{c.one('ssn', 'email', 'phone', 'name', 'id', 'notes')} = {c.one(value, value, value, 'DEFAULT', column)}"
        ),
        lambda c: f'"ssn"={value(c)}',
        lambda c: f"(ssn, name) = ({value(c)}, {value(c)})",
        lambda c: f"(ssn, email) = {c.maybe('ROW')}({value(c)}, {value(c)})",
        lambda c: f"(ssn) = ROW({value(c)})",
        lambda c: f"(ssn, name) = (SELECT {c.one('ssn', 'name', value)}, name FROM {table(c)} LIMIT 1)",
        lambda c: f"ssn = (SELECT {c.one('ssn', 'city')} FROM person p LIMIT 1)",
    )


def update(c: Choices) -> str:
    name = c.one(
        "customer",
        "customer c",
        "customer AS c",
        "ONLY customer",
        "person",
        "hr.staff",
        "log",
        "item",
        "public.customer c",
    )
    return f"UPDATE {name} SET {c.some(1, 2, assignment)}{c.maybe(lambda c: f' FROM {source(c)}', 25)}{where(c)}{returning(c)}"


def delete(c: Choices) -> str:
    name = c.one("customer", "customer c", "person p", "hr.staff", "log", "ONLY customer")
    return f"DELETE FROM {name}{c.maybe(lambda c: f' USING {source(c)}', 25)}{where(c)}{returning(c)}"


def merge(c: Choices) -> str:
    using = c.one("person p", "orders o", "(VALUES (1, 'x')) p(id, ssn)", lambda c: f"({simple(c)}) p")
    whens = c.some(1, 2, c_when, " ")
    return f"MERGE INTO {c.one('customer c', 'customer', 'person c', 'log c')} USING {using} ON {condition(c)} {whens}{c.maybe(returning, 20)}"


def c_when(c: Choices) -> str:
    return c.one(
        lambda c: f"WHEN MATCHED{c.maybe(lambda c: f' AND {predicate(c)}', 30)} THEN UPDATE SET {assignment(c)}",
        lambda c: f"WHEN NOT MATCHED THEN INSERT (id, ssn) VALUES ({value(c)}, {c.one(value, column)})",
        lambda c: f"WHEN NOT MATCHED THEN INSERT VALUES ({value(c)}, {value(c)})",
        "WHEN MATCHED THEN DELETE",
        "WHEN NOT MATCHED THEN DO NOTHING",
        "WHEN NOT MATCHED BY SOURCE THEN DELETE",
    )


def with_query(c: Choices) -> str:
    recursive = c.maybe("RECURSIVE ", 25)
    body = c.one(simple, simple, set_operation, insert, update, delete)
    name = c.one("w", "customer", "c")
    main = c.one(f"SELECT {item(c)} FROM {name}", f"SELECT * FROM {name} c{where(c)}", simple, insert, update, delete)
    return f"WITH {recursive}{name}{c.one('', '(ssn)', '(a, b)')} AS {c.one('', 'MATERIALIZED ', 'NOT MATERIALIZED ')}({body}) {main}"
