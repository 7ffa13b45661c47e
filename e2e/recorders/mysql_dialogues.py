"""Records dialogues of real clients with a real MariaDB and a real MySQL through the sidecar, for the engine's tests.

    PYTHONPATH=e2e:. .tools/venv/bin/python -m recorders.mysql_dialogues

Each becomes a file in `filters/engine/testdata/mysql-dialogues/`, of the form that `dialogues.py` has.
"""

import contextlib
import json
import socket
from collections.abc import Callable

import mysql.connector
import pymysql

from dev.layout import ROOT
from harness import mysql_builds, shop
from harness.mysql_stack import SEALED, MySqlOptions, MySqlStack
from recorders.dialogues import Tap, ask

OUT = ROOT / "filters" / "engine" / "testdata" / "mysql-dialogues"
SSN = "078-05-1120"


def texts(connection: pymysql.Connection) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO customer VALUES (9001, 'Ada', 'ada@example.com', '{SSN}', NULL, '4111', 'äöü')")
        cursor.execute(f"SELECT * FROM customer WHERE ssn IN ('{SSN}', 'none'); SELECT 1")
        while cursor.nextset():
            pass
        with contextlib.suppress(pymysql.Error):
            cursor.execute("SELECT id FROM customer WHERE ssn LIKE '078%'")
        with contextlib.suppress(pymysql.Error):
            cursor.execute("SELECT nothing FROM customer")
        cursor.execute("UPDATE customer SET notes = 'changed' WHERE email = 'ada@example.com'")
        cursor.execute("SELECT ROW_COUNT()")
        cursor.execute("BEGIN")
        cursor.execute(f"INSERT INTO customer (id, ssn) VALUES (9002, '{SSN}')")
        with contextlib.suppress(pymysql.Error):
            cursor.execute(f"INSERT INTO customer (id, ssn) VALUES (9002, '{SSN}')")
        cursor.execute("ROLLBACK")
        cursor.execute("SELECT count(*), count(ssn) FROM customer")
    connection.ping(reconnect=False)


def prepared(connection: mysql.connector.MySQLConnection) -> None:
    with connection.cursor(prepared=True) as cursor:
        for number in range(3):
            row = (9100 + number, f"u{number}@example.com", SSN, None)
            cursor.execute("INSERT INTO customer (id, email, ssn, notes) VALUES (%s, %s, %s, %s)", row)
        cursor.execute("SELECT id, ssn, notes FROM customer WHERE email = %s", ("u1@example.com",))
        cursor.fetchall()
        with contextlib.suppress(mysql.connector.Error):
            cursor.execute("SELECT id FROM customer WHERE ssn > %s", (SSN,))
            cursor.fetchall()
    connection.cmd_reset_connection()
    with connection.cursor() as cursor:
        cursor.execute("SELECT ssn FROM customer WHERE id = 9100")
        cursor.fetchall()


def reading(connection: pymysql.Connection) -> None:
    with connection.cursor() as cursor:
        for statement in (
            "SELECT * FROM customer ORDER BY id",
            "SELECT email, ssn, notes FROM customer WHERE id = 9001",
            f"SELECT id FROM customer WHERE ssn = '{SSN}'",
            "UPDATE customer SET ssn = 'x' WHERE id = 9001",
        ):
            with contextlib.suppress(pymysql.Error):
                cursor.execute(statement)


def record(stack: MySqlStack, tap: Tap, user: str, work: Callable) -> None:
    tap.events, tap.to_client = [], bytearray()
    told = {
        "unix_socket": str(tap.folder / "mysql.sock"), "user": user, "password": shop.PASSWORD,
        "database": shop.DATABASE, "autocommit": True,
    }  # fmt: skip
    if work is prepared:
        connection = mysql.connector.connect(use_pure=True, **told)
    else:
        connection = pymysql.connect(client_flag=pymysql.constants.CLIENT.MULTI_STATEMENTS, **told)
    work(connection)
    shown = bytes(tap.to_client)
    connection.close()
    principal = {
        "protocol": "mysql", "listener": "orders-mysql", "claims": {},
        "workload": {"namespace": "", "service_account": "", "spiffe_id": ""},
        "session": {"user": user, "role": user, "database": shop.DATABASE, "application_name": "", "source": ""},
    }  # fmt: skip
    dialogue = {
        "plan": ask(stack.opa.socket, "POST", "/v1/data/fieldveil/plan", {"input": principal}),
        "keysets": ask(stack.agent.socket, "GET", "/v1/keysets"),
        "events": [[side, chunk.hex()] for side, chunk in tap.events],
        "to_client": shown.hex(),
    }
    (OUT / f"{stack.options.build.name}_{work.__name__}_{user}.json").write_text(json.dumps(dialogue, indent=1) + "\n")


def main() -> None:
    OUT.mkdir(exist_ok=True)
    # Drivers tell the server where they run.
    socket.gethostname = lambda: "client"
    for build in (mysql_builds.OLDER, mysql_builds.MYSQL):
        record_all(MySqlStack(MySqlOptions(relay=True, build=build)))


def record_all(stack: MySqlStack) -> None:
    tap = Tap(stack.relay.socket, stack.server.socket, stack.work.path / "front")
    # One thread for both sides of Envoy: the stack's own relay has its place.
    stack.relay = tap
    with stack.start():
        tap.listen(tap.folder / "mysql.sock", stack.envoy.socket(SEALED), front=True)
        record(stack, tap, "app", texts)
        record(stack, tap, "app", prepared)
        record(stack, tap, "support", reading)
        record(stack, tap, "auditor", reading)


if __name__ == "__main__":
    main()
