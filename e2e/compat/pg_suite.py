"""PostgreSQL's regression suite against one server, by one way: what psql printed for each of its files."""

import os
import shutil
import subprocess
from pathlib import Path

from dev.layout import POSTGRES_REGRESSION, POSTGRES_SUITE
from harness.install import Unpacked
from harness.postgres import SUPERUSER, Postgres
from harness.process import PartFailed
from harness.reachable import within_reach
from harness.workdir import WorkDir

MAJOR = "15"
DATABASE = "regression"
LIBRARIES = ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu")
UNPACKED = Unpacked(POSTGRES_REGRESSION, f"usr/lib/postgresql/{MAJOR}", LIBRARIES)
SERVER_SETTINGS = {
    # The suite has tests of prepared transactions.
    "max_prepared_transactions": "2",
    # Statistics that arrive at any time change plans, and so what two runs print.
    "autovacuum": "off",
    # The server would compile some questions of the sidecar's to its catalog, at 0.1 to 3 s each.
    "jit": "off",
}
# What pg_regress sets for a database that it makes itself.
DATABASE_SETTINGS = {
    **{f"lc_{name}": "C" for name in ("messages", "monetary", "numeric", "time")},
    "bytea_output": "hex",
    "timezone_abbreviations": "Default",
}


def is_there() -> bool:
    return (POSTGRES_SUITE / "regress.so").exists()


def server(work: WorkDir, name: str) -> Postgres:
    """A server of the suite's version, not started."""
    return Postgres(work, SERVER_SETTINGS, name=name, unpacked=UNPACKED)


def create_database(server: Postgres) -> None:
    with server.connect() as superuser:
        superuser.execute(f"CREATE DATABASE {DATABASE}")
        for name, value in DATABASE_SETTINGS.items():
            superuser.execute(f"ALTER DATABASE {DATABASE} SET {name} TO '{value}'")


def run(server: Postgres, work: WorkDir, host: Path, port: int, results: Path) -> None:
    """Runs every file of the suite against the server as it is reached there, and keeps what psql printed."""
    suite = within_reach(POSTGRES_REGRESSION, (POSTGRES_SUITE.name,), server.user, work) / POSTGRES_SUITE.name
    # Its name is in what psql prints: the same for every run.
    output = work.path / "regress"
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir()
    # The server writes into it too, as another user perhaps.
    (output / "results").mkdir()
    for folder in (output, output / "results"):
        folder.chmod(0o777)
    programs = server.program("psql").parent
    command = [
        programs.parent / "lib" / "pgxs" / "src" / "test" / "regress" / "pg_regress", "--use-existing",
        f"--dbname={DATABASE}", "--max-connections=1", f"--inputdir={suite}", f"--outputdir={output}",
        f"--dlpath={suite}", f"--bindir={programs}", f"--schedule={suite / 'parallel_schedule'}",
        f"--host={host}", f"--port={port}", f"--user={SUPERUSER}",
    ]  # fmt: skip
    environment = {**os.environ, **server.environment}
    log = work.log(f"pg_regress-{results.name}")
    with log.open("wb") as out:
        # It ends badly where a result is not the expected one, as many are not in another locale.
        subprocess.run(command, env=environment, stdout=out, stderr=subprocess.STDOUT, check=False)
    (output / "results").rename(results)
    if not list(results.glob("*.out")):
        raise PartFailed(f"pg_regress ran no test\n{log.read_text(errors='replace')[-2000:]}")
