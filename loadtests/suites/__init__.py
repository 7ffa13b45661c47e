"""Every suite, in the order in which they run."""

from harness import mysql_builds
from loadtests.scenario import Suite
from loadtests.suites import (
    db2_backup,
    fieldproc,
    ims_osam,
    json_bodies,
    latency,
    mysql,
    oltp,
    rows,
    sidecar,
    sqlcredit,
    tls,
    ztpf_crypto,
)

_ALL = (
    sidecar.SUITE,
    oltp.SUITE,
    rows.SUITE,
    fieldproc.SUITE,
    sqlcredit.SUITE,
    ims_osam.SUITE,
    ztpf_crypto.SUITE,
    db2_backup.SUITE,
    mysql.SUITE,
    json_bodies.SUITE,
    latency.POSTGRES,
    latency.MYSQL,
    latency.HTTP,
    tls.SUITE,
)
SUITES: dict[str, Suite] = {suite.name: suite for suite in _ALL}


def present() -> list[Suite]:
    """Those that run unless others are named, and that this machine has the servers for."""
    ours = [suite for suite in _ALL if not suite.tls]
    return [suite for suite in ours if suite.protocol != "mysql" or mysql_builds.OLDER.is_there]
