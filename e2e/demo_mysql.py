"""The demo's third act: the first customer in MariaDB too, behind a sidecar of its own, under the same policies."""

import contextlib

import pymysql

from demo_view import DIM, GREEN, RED, heading, paint, side_by_side
from harness import Stack
from harness.mysql_builds import OLDER
from harness.mysql_stack import MySqlStack
from harness.process import PartFailed

SEARCH = "SELECT id, name, ssn FROM customer WHERE ssn = '078-05-1120'"
REFUSED = "SELECT name FROM customer WHERE ssn LIKE '078%'"


def beside(stack: Stack) -> MySqlStack | contextlib.nullcontext:
    """With its own server and Envoy; policies and keys are the stack's. Nothing where set-up could fetch no MariaDB."""
    if not OLDER.is_there:
        return contextlib.nullcontext()
    return MySqlStack(progress=lambda what: print(f"  {what} …", flush=True), control=stack.control)


def can_tell(stack: Stack, mysql: MySqlStack | None) -> bool:
    """Whether it is there, and the policies speak of it."""
    return mysql is not None and any(
        column["protocol"] == "mysql" for column in stack.opa.data("fieldveil/columns/protected")
    )


def tell(stack: Stack, mysql: MySqlStack, insert: str, select: str, customer: tuple) -> None:
    name = mysql.server.build.name.replace("mariadb-", "MariaDB ")
    heading(f"9  The same INSERT, sent to {name}")
    with mysql.connect("app") as app, app.cursor() as cursor:
        print(f"  app> {insert[: insert.index(' VALUES')]} VALUES …")
        cursor.execute(insert, customer)

    heading("10  One customer in two databases, under one policy")
    views, columns = {}, []
    for user, why in (("support", "masked"), ("billing", "revealed")):
        with stack.connect(user) as connection:
            views[f"PostgreSQL, {user}"] = connection.execute(select).fetchone()
        with mysql.connect(user) as connection, connection.cursor() as cursor:
            cursor.execute(select)
            columns = [column[0] for column in cursor.description]
            views[f"MariaDB, {user}"] = cursor.fetchone()
        shown = list(views.values())[-2:]
        if shown[0] != shown[1]:
            raise PartFailed(f"{user} should have seen the same ({why}) in both databases")
    side_by_side(columns, views)
    stored = mysql.stored(select)[0][columns.index("card")]
    if not stored.startswith("fv1."):
        raise PartFailed("MariaDB should have stored an envelope")
    print(f"  the card as MariaDB stores it: {paint(stored[:40] + '…', DIM)}")

    heading("11  Searches and refusals in MariaDB")
    with mysql.connect("billing") as billing, billing.cursor() as cursor:
        print(f"  billing> {SEARCH}")
        cursor.execute(SEARCH)
        for row in cursor.fetchall():
            print(f"  {paint('  |  '.join(map(str, row)), GREEN)}")
        print(f"  billing> {REFUSED}")
        try:
            cursor.execute(REFUSED)
        except pymysql.Error as error:
            print(paint(f"  ERROR {error.args[0]}: {error.args[1]}", RED))
        else:
            raise PartFailed("the statement should have been refused, and was not")
