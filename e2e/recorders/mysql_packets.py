"""Records what real clients and real servers say to each other, for the tests of `filters/wire/mysql`.

    PYTHONPATH=e2e:. .tools/venv/bin/python -m recorders.mysql_packets

Each connection becomes two files in `filters/wire/mysql/testdata/`: what the client sent, and what the server answered.
The values are made up; the password is the example's.
"""

import contextlib
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

import mysql.connector
import pymysql

from dev.layout import ROOT
from harness import mysql_builds, mysql_shop, shop
from harness.mysqld import MySqld
from harness.relay import Relay
from harness.workdir import WorkDir

OUT = ROOT / "filters" / "wire" / "mysql" / "testdata"

EVERY_TYPE = """\
CREATE TABLE every_type (
  i1 tinyint, i2 smallint, i3 mediumint, i4 int unsigned, i8 bigint, f4 float, f8 double, n decimal(12,4), y year,
  d date, t time(6), dt datetime(3), ts timestamp, c char(5), v varchar(300), b varbinary(20), x text, bl blob,
  e enum('a','b'), s set('a','b'), bits bit(9), j json, u varchar(36)
)"""
ROW = (
    -1, -300, 70000, 4000000000, 2**60, 1.5, 2.25, "12.5", 2024, "2024-02-29", "-12:34:56.789",
    "2024-02-29 12:34:56.789", "2024-02-29 12:34:56", "abc", "x" * 300,
    b"\x00\xff", "äöü", b"blob", "a", "a,b", b"\x01\x01", '{"a": 1}',
    "123e4567-e89b-12d3-a456-426655440000",
)  # fmt: skip
INSERT = f"INSERT INTO every_type VALUES ({', '.join(['%s'] * len(ROW))})"
# COM_QUIT as a packet.
QUIT = b"\x01\0\0\0\x01"
# First byte of the packet that ends a result set.
END = 0xFE
FAILURES = (pymysql.Error, mysql.connector.Error)


def texts(connection: pymysql.Connection) -> None:
    """Text results, one and several, none and empty, and errors."""
    with connection.cursor() as cursor:
        cursor.execute(EVERY_TYPE)
        cursor.execute(INSERT, ROW)
        cursor.execute(INSERT, [None] * len(ROW))
        cursor.execute("SELECT * FROM every_type")
        cursor.execute("SELECT * FROM every_type AS e WHERE 1 = 0")
        with contextlib.suppress(pymysql.Error):
            cursor.execute("SELECT nothing FROM every_type")
        cursor.execute("SELECT 1; SET @a = 1; SELECT 'two', NULL; UPDATE every_type SET i1 = 7")
        while cursor.nextset():
            pass
        cursor.execute("SELECT repeat('long', 500)")
        cursor.execute("DROP TABLE every_type")
    connection.select_db(shop.PLAIN_DATABASE)
    connection.ping(reconnect=False)


def files(connection: pymysql.Connection) -> None:
    """LOAD DATA LOCAL, of a file that is there and of one that is not."""
    path = Path("rows.csv")
    path.write_text("1\tone\n2\ttwo\n")
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE loaded (id int, what text)")
        cursor.execute(f"LOAD DATA LOCAL INFILE '{path}' INTO TABLE loaded")
        path.unlink()
        with contextlib.suppress(pymysql.Error):
            cursor.execute(f"LOAD DATA LOCAL INFILE '{path}' INTO TABLE loaded")
        cursor.execute("SELECT * FROM loaded")


def prepared(connection: mysql.connector.MySQLConnection) -> None:
    """Prepared statements: parameters, values sent ahead, NULL, rows of every type, a reset connection."""
    with connection.cursor() as cursor:
        cursor.execute(EVERY_TYPE)
    with connection.cursor(prepared=True) as cursor:
        if "MariaDB" not in connection.server_info:
            cursor.add_attribute("trace", "of this statement")
        cursor.execute(INSERT, ROW)
        cursor.execute(INSERT, [None] * len(ROW))
        cursor.execute("SELECT i1, i4, i8, f8, n, c, v, b, bl FROM every_type WHERE i1 = %s OR i1 IS NULL", [-1])
        cursor.fetchall()
        with contextlib.suppress(*FAILURES):
            cursor.execute("SELECT nothing FROM every_type")
    # The driver can not read every type that it may ask for.
    statement = connection.cmd_stmt_prepare(b"SELECT * FROM every_type")["statement_id"]
    connection.cmd_stmt_execute(statement)
    while connection._socket.recv()[4] != END:
        pass
    connection.unread_result = False
    connection.cmd_stmt_close(statement)
    connection.cmd_reset_connection()
    connection.cmd_change_user(shop.ROLES[0], shop.PASSWORD, shop.PLAIN_DATABASE)
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE {shop.DATABASE}.every_type")


def record(name: str, relay: Relay, connect: Callable, work: Callable) -> None:
    relay.forget()
    connection = connect()
    work(connection)
    connection.close()
    (recording,) = relay.recordings
    # The relay's threads may have some of it yet.
    while not bytes(recording.to_server).endswith(QUIT):
        time.sleep(0.01)
    (OUT / f"{name}.client").write_bytes(bytes(recording.to_server))
    (OUT / f"{name}.server").write_bytes(bytes(recording.to_client))


def main() -> None:
    OUT.mkdir(exist_ok=True)
    work = WorkDir()
    os.chdir(work.path)
    # Drivers tell the server where they run.
    socket.gethostname = lambda: "client"
    for build in mysql_builds.EVERY:
        server = MySqld(work, build=build, name=build.name)
        relay = Relay(work.socket(f"relay-{build.name}.sock"), server.socket)
        try:
            server.start()
            mysql_shop.create_databases(server)
            relay.start()
            told = {
                "unix_socket": str(relay.socket), "user": shop.ROLES[0], "password": shop.PASSWORD,
                "database": shop.DATABASE,
            }  # fmt: skip
            flags = pymysql.constants.CLIENT.MULTI_STATEMENTS
            record(
                f"{build.name}-pymysql-texts", relay, lambda t=told, f=flags: pymysql.connect(**t, client_flag=f), texts
            )
            record(f"{build.name}-pymysql-files", relay, lambda t=told: pymysql.connect(**t, local_infile=True), files)
            record(
                f"{build.name}-connector-prepared",
                relay,
                lambda t=told: mysql.connector.connect(**t, use_pure=True, autocommit=True),
                prepared,
            )
        finally:
            relay.stop()
            server.stop()
    work.remove()


if __name__ == "__main__":
    main()
