"""The demo's parts, its first act, and what it prints for who goes on by hand."""

import contextlib
import os
import shlex
import signal
import tempfile
import time
from pathlib import Path

import httpx
import psycopg
import pymysql

import demo_api
import demo_mysql
from demo_view import BOLD, GREEN, RED, heading, paint, side_by_side
from dev.layout import FIELDVEIL
from harness import Options, Stack, shop
from harness.bundles import Bundles
from harness.mysql_stack import SEALED as MYSQL
from harness.mysql_stack import MySqlStack
from harness.process import PartFailed
from harness.workdir import WorkDir

CUSTOMERS = [
    (1, "Ada Lovelace", "ada@example.com", "078-05-1120", "+44 20 7946 0958", "4111 1111 1111 1111", "prefers letters"),
    (2, "Alan Turing", "alan@example.org", "219-09-9999", "+44 161 496 0000", "5500 0000 0000 0004", "runs marathons"),
]
INSERT = "INSERT INTO customer (id, name, email, ssn, phone, card, notes) VALUES (%s, %s, %s, %s, %s, %s, %s)"
SELECT = "SELECT id, name, email, ssn, phone, card, notes FROM customer WHERE id = 1"
SEARCH = "SELECT id, name, ssn FROM customer WHERE ssn = '219-09-9999'"
FAILURES = (PartFailed, psycopg.Error, pymysql.Error, httpx.HTTPError)
REFUSED = "SELECT name FROM customer WHERE ssn LIKE '219%'"


def run(policies: Path | None, kept_logs: Path, *, keep: bool) -> None:
    """Starts the parts, tells the story, and stops them; `keep` leaves them running until Ctrl-C."""
    WorkDir.kept_logs = kept_logs
    heading("Starting the parts")
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        bundles = bundled(policies, Path(scratch)) if policies else None
        api = demo_api.WebShop(Path(scratch))
        options = Options(bundles=bundles, http=api.http)
        stack = Stack(options, progress=lambda what: print(f"  {what} …", flush=True))
        with stack.start(), contextlib.closing(api), demo_mysql.beside(stack) as mysql:
            api.start(stack)
            print(f"  all ready after {time.monotonic() - started:.1f} s")
            story(stack, mysql, own=bundles is not None)
            how_to_connect(stack, mysql, keep)
            if keep:
                how_to_begin_a_database(stack)
                how_to_ship(bundles, policies)
                wait()


def bundled(policies: Path, scratch: Path) -> Bundles:
    """The policies as a signed bundle, from a server that OPA polls."""
    print(f"  the bundle of {policies} …", flush=True)
    bundles = Bundles(scratch)
    bundles.build(policies, revision="demo")
    # As the file is when OPA asks.
    bundles.publish(bundles.out)
    return bundles


def story(stack: Stack, mysql: MySqlStack | None, *, own: bool) -> None:
    """The example's, as far as the policies go along."""
    if not own:
        tell(stack)
        demo_api.tell(stack)
        if mysql is not None:
            demo_mysql.tell(stack, mysql, INSERT, SELECT, CUSTOMERS[0])
        else:
            print("\nMariaDB is left out: set-up fetches it where Maven is, on Linux on amd64.")
    elif shop.DATABASE not in protected_databases(stack):
        heading("These policies protect nothing in the example's database")
        named = ", ".join(protected_databases(stack)) or "no database"
        print(f"  They speak of {named}, and the story is about {shop.DATABASE}: it is left out.")
    else:
        try:
            tell(stack)
            if demo_api.is_protected(stack):
                demo_api.tell(stack)
            if demo_mysql.can_tell(stack, mysql):
                demo_mysql.tell(stack, mysql, INSERT, SELECT, CUSTOMERS[0])
        except FAILURES as error:
            print(paint(f"  {error}", RED))
            print("  The story ends here: these policies treat the example in another way than its own do.")


def protected_databases(stack: Stack) -> list[str]:
    return sorted({column["database"] for column in stack.opa.data("fieldveil/columns/protected")})


def tell(stack: Stack) -> None:
    heading("1  The application inserts rows through the sidecar, in plain SQL")
    with stack.connect("app") as app:
        print(f"  app> {INSERT[: INSERT.index(' VALUES')]} VALUES …")
        for customer in CUSTOMERS:
            app.execute(INSERT, customer)
    print(f"  {len(CUSTOMERS)} rows")

    heading("2  One row, four ways")
    with stack.direct() as direct:
        views = {"as stored": direct.execute(SELECT)}
        for user, why in (("support", "masked"), ("billing", "revealed"), ("auditor", "no rule")):
            with stack.connect(user) as connection:
                views[f"{user}: {why}"] = connection.execute(SELECT)
        columns = [column.name for column in views["as stored"].description]
        side_by_side(columns, {title: cursor.fetchone() for title, cursor in views.items()})

    heading("3  An equality search on a sealed (deterministic) column")
    with stack.connect("billing") as billing:
        print(f"  billing> {SEARCH}")
        for row in billing.execute(SEARCH):
            print(f"  {paint('  |  '.join(map(str, row)), GREEN)}")

    heading("4  What can't be done on ciphertext is refused, with the reason")
    with stack.connect("billing") as billing:
        print(f"  billing> {REFUSED}")
        refusal(lambda: billing.execute(REFUSED))
    with stack.connect("support") as support:
        statement = "UPDATE customer SET ssn = '000-00-0000' WHERE id = 1"
        print(f"  support> {statement}")
        refusal(lambda: support.execute(statement))


def refusal(run) -> None:
    try:
        run()
    except psycopg.Error as error:
        print(paint(f"  ERROR {error.sqlstate}: {error.diag.message_primary}", RED))
        for name, text in (("DETAIL", error.diag.message_detail), ("HINT", error.diag.message_hint)):
            if text:
                print(f"  {name}: {text}")
    else:
        raise PartFailed("the statement should have been refused, and was not")


def how_to_connect(stack: Stack, mysql: MySqlStack | None, keep: bool) -> None:
    heading("Connect yourself")
    if not keep:
        print("  make demo KEEP=1 leaves everything running and prints how to connect.")
        return
    psql = shlex.quote(str(stack.postgres.program("psql")))
    folder, past = (shlex.quote(str(path)) for path in (stack.socket_dir, stack.postgres.socket_dir))
    password = f"PGPASSWORD={shlex.quote(shop.PASSWORD)}"
    for user in shop.ROLES:
        print(f"  {password} {psql} -h {folder} -U {user} {shop.DATABASE}")
    print(f"  the API, with x-user: app, billing or any other: {stack.http.url('/customers/1')}")
    print(f"  over TCP: … -h 127.0.0.1 -p {stack.envoy.port('postgres')} …")
    if mysql is not None:
        port, socket = mysql.envoy.port(MYSQL), mysql.envoy.socket(MYSQL)
        print(f"  MariaDB, by the same users: the Unix socket {socket}, or 127.0.0.1 port {port}")
    print(f"  what is stored, past the sidecar: {psql} -h {past} -U postgres {shop.DATABASE}")
    print(f"  logs: {stack.work.path / 'logs'}")


def how_to_begin_a_database(stack: Stack) -> None:
    heading("A database of your own, and keys")
    others = [name for name in protected_databases(stack) if name != shop.DATABASE]
    database = others[0] if others else "crm"
    program = shlex.quote(str(stack.postgres.program("psql")))
    folder, past = (shlex.quote(str(path)) for path in (stack.socket_dir, stack.postgres.socket_dir))
    psql = f"{program} -h {past} -U postgres"
    role = f"CREATE ROLE \\\"{database}\\\" LOGIN PASSWORD '{shop.PASSWORD}'"
    print("  make it and a user past the sidecar, then its tables, with GRANT ALL ON … TO the user:")
    print(f'  {psql} -c "CREATE DATABASE \\"{database}\\"" -c "{role}"')
    print(f"  {psql} {database}")
    print("  use it through the sidecar:")
    print(f"  PGPASSWORD={shlex.quote(shop.PASSWORD)} {program} -h {folder} -U {database} {database}")
    print(f"  keysets: {stack.agent.keysets}, each wrapped by the key in {stack.agent.kek}")
    words = ["--keysets", stack.agent.keysets, "--kek-uri", stack.agent.kek_uri]
    print("  those that the catalogs name and that are not there yet, of a tenant acme where tenants have their own:")
    for name in missing_keysets(stack) or ["NAME"]:
        print(f"  {shlex.join(map(str, [FIELDVEIL, 'keys', 'create', name, *words]))}")


def missing_keysets(stack: Stack) -> list[str]:
    labels = stack.opa.data("fieldveil/columns/labels").values()
    named = {f"{label['keyset']}/acme" if isinstance(label["tenant"], dict) else label["keyset"] for label in labels}
    return sorted(named - set(stack.options.keysets))


def how_to_ship(bundles: Bundles | None, policies: Path | None) -> None:
    if bundles is not None:
        heading("Change the policies")
        command = [FIELDVEIL, "policy", "build", policies, "--out", bundles.out, "--signing-key", bundles.key.private]
        print(f"  edit {policies}, then build them into the bundle that OPA polls every second:")
        print(f"  {shlex.join(map(str, command))}")
        print("  Open sessions follow when their plan is due: ttl_seconds of the catalog, 30 unless told.")


def wait() -> None:
    print(f"\n{paint('Stop it with Ctrl-C here', BOLD)}, or from elsewhere: kill {os.getpid()}", flush=True)
    while True:
        signal.pause()
