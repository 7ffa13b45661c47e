"""Go's driver pgx, in a program that runs every mode of its queries."""

import subprocess

from dev.layout import PGX_CLIENT
from harness import Stack
from harness import shop as example
from harness.waiting import patience


def runs_every_query_mode(stack: Stack, port: int) -> None:
    """It comes in by TLS at this port, in its strictest mode."""
    with stack.direct() as direct:
        direct.execute("TRUNCATE customer")
    dsn = (
        f"host=localhost port={port} user=app password='{example.PASSWORD}' "
        f"dbname={example.DATABASE} sslmode=verify-full sslrootcert={stack.certificates.ca}"
    )
    done = subprocess.run([PGX_CLIENT, dsn], capture_output=True, text=True, check=False, timeout=patience(90))
    assert done.returncode == 0, done.stderr
