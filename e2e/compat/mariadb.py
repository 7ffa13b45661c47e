"""A part of MariaDB's own test suite, straight and through the sidecar, in a database with a protected table."""

import re
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from compat import mariadb_suite
from compat.mariadb_suite import DATABASE, Runner
from compat.protected import COLUMNS, LISTED, PLAINTEXT, TABLE
from dev.layout import E2E
from harness import policies
from harness.mysql_stack import MySqlOptions, MySqlStack
from harness.mysqld import SUPERUSER
from harness.process import PartFailed
from harness.sidecar import Progress

SUFFIX = ".out"
CREATE_TABLE = f"CREATE TABLE {DATABASE}.{TABLE} {LISTED}"
# The tester says it of a statement that failed and was not expected to.
FAILED = re.compile(rb"^mysqltest: |^It did not end in time", re.M)
# The files of the suite that are run.
FILES = E2E / "compat" / "known" / "mariadb_files.txt"


def is_there() -> bool:
    return mariadb_suite.is_there()


def run(straight: Path, through: Path, progress: Progress) -> None:
    """Each run has a new server of its own, and leaves what it printed in a folder."""
    names = FILES.read_text().split()
    with tempfile.TemporaryDirectory() as folder:
        written = policies.write_for_table(Path(folder), DATABASE, TABLE, COLUMNS, SUPERUSER, "mysql")
        progress("the suite, straight and through")

        def run_by(results: Path) -> None:
            options = MySqlOptions(
                build=mariadb_suite.BUILD,
                filter=results is through,
                policies=(written,),
                settings=mariadb_suite.SETTINGS,
            )
            with MySqlStack(options).start() as stack:
                _run_files(stack, names, results)
                if results is through:
                    _require_protection(stack)

        # Each mostly waits for its tester, so both go at once.
        with ThreadPoolExecutor() as pool:
            for done in [pool.submit(run_by, results) for results in (straight, through)]:
                done.result()
    _require_success(straight)


def _require_success(straight: Path) -> None:
    """A file whose statements fail on the server alone says little about the sidecar."""
    failed = [file.stem for file in sorted(straight.glob(f"*{SUFFIX}")) if FAILED.search(file.read_bytes())]
    if failed:
        raise PartFailed(f"without the sidecar fail: {', '.join(failed)}; take them from {FILES}")


def _run_files(stack: MySqlStack, names: list[str], results: Path) -> None:
    results.mkdir()
    socket = stack.envoy.socket("mysql") if stack.options.filter else stack.server.socket
    temporary = stack.work.path / "tmp"
    temporary.mkdir()
    # The server writes into it too, as another user perhaps.
    temporary.chmod(0o777)
    runner = Runner(stack.server.build, socket, lambda: stack.direct(database=None), [CREATE_TABLE])
    for name in names:
        printed = runner.run(name, temporary)
        # The folder of the run differs, and so does the socket; where the suite is, from machine to machine.
        placeholders = {socket: b"SOCKET", stack.server.build.home: b"SERVER", stack.work.path: b"FOLDER"}
        for path, placeholder in placeholders.items():
            printed = printed.replace(str(path).encode(), placeholder)
        (results / f"{name}{SUFFIX}").write_bytes(printed)
    # As every file finds it.
    runner.start_over()


def _require_protection(stack: MySqlStack) -> None:
    """The way that the suite took is one that protects, or the comparison would show nothing."""
    with stack.connect(SUPERUSER, DATABASE, password="") as sidecar, sidecar.cursor() as cursor:
        cursor.execute(f"INSERT INTO {TABLE} VALUES (1, %s, %s)", [PLAINTEXT, PLAINTEXT])
        cursor.execute(f"SELECT email, notes FROM {TABLE}")
        opened = cursor.fetchone()
    stored = stack.stored(f"SELECT email, notes FROM {DATABASE}.{TABLE}")
    if opened != (PLAINTEXT, PLAINTEXT) or not stored or any(PLAINTEXT in value for value in stored[0]):
        raise PartFailed(f"the table {TABLE} was not protected on the way that the suite took")
