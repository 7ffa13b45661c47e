"""What most tests do with a connection."""

import pymysql
import pytest


def ask(connection: pymysql.Connection, statement: str, values: tuple | list | None = None) -> list[tuple]:
    """The rows of one statement."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def all_of(connection: pymysql.Connection, statements: str) -> list[list[tuple]]:
    """The rows of each statement of one text."""
    with connection.cursor() as cursor:
        cursor.execute(statements)
        sets = [list(cursor.fetchall())]
        while cursor.nextset():
            sets.append(list(cursor.fetchall()))
    return sets


def change(connection: pymysql.Connection, statement: str, values: tuple | list | None = None) -> int:
    """How many rows a statement changed."""
    with connection.cursor() as cursor:
        return cursor.execute(statement, values)


def refusal(connection: pymysql.Connection, statement: str, values: tuple | list | None = None) -> tuple[int, str]:
    """Number and text of the error that the statement is answered with."""
    with pytest.raises(pymysql.MySQLError) as refused:
        ask(connection, statement, values)
    return refused.value.args
