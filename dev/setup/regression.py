"""The databases' own test suites, each with the server of the same source, for users who are not root.

PostgreSQL's is in Debian's source package. What runs it, and the server's headers for the one library that it needs,
are in the packages that Debian builds of that source. MariaDB's is a package itself. Both come with a server of the
suite's exact version.
"""

import platform
import shutil
import sys

from dev.layout import MARIADB_TEST, POSTGRES_REGRESSION, POSTGRES_SUITE
from dev.setup import debian
from dev.setup.runner import Part, Shell, say

MAJOR = "15"
VERSION = "15.18-0+deb12u1"
# What the programs are linked with.
LIBRARIES = (
    *("libgssapi-krb5-2", "libldap-2.5-0", "liblz4-1", "libpam0g", "libpq5", "libreadline8", "libssl3", "libsystemd0"),
    *("libxml2", "libzstd1"),
)
PACKAGES = tuple(f"{name}-{MAJOR}={VERSION}" for name in ("postgresql", "postgresql-client", "postgresql-server-dev"))
# Of the C library, which the machine has itself, no older and fitting its loader.
C_LIBRARY = (
    *("ld-linux*", "libBrokenLocale", "libanl", "libc", "libc_malloc_debug", "libdl", "libm", "libmemusage", "libmvec"),
    *("libnsl", "libnss_*", "libpcprofile", "libpthread", "libresolv", "librt", "libthread_db", "libutil"),
)
MARIADB_VERSION = "1:10.11.18-0+deb12u1"
# What runs the tests is linked with the second.
MARIADB_PACKAGES = (f"mariadb-server-core={MARIADB_VERSION}", "libpcre2-posix3")
MARIADB_ALONE = tuple(f"{name}={MARIADB_VERSION}" for name in ("mariadb-server", "mariadb-test", "mariadb-test-data"))


def is_possible() -> bool:
    """Whether Debian's programs can run here."""
    return sys.platform == "linux" and platform.machine() == "x86_64"


def _regression(shell: Shell) -> None:
    if debian.source() is None:
        say(f"  {shell.name}: skipped: this machine has no Debian package source")
        return
    fresh = POSTGRES_REGRESSION.with_name(f".{POSTGRES_REGRESSION.name}.made")
    debian.unpack(shell, "bookworm", LIBRARIES, PACKAGES, fresh)
    for library in C_LIBRARY:
        for file in (fresh / "lib" / "x86_64-linux-gnu").glob(f"{library}.so*"):
            file.unlink()
    suite = fresh / POSTGRES_SUITE.relative_to(POSTGRES_REGRESSION)
    debian.unpack_source(shell, "bookworm", f"postgresql-{MAJOR}={VERSION}", "src/test/regress", suite)
    headers = fresh / "usr" / "include" / "postgresql"
    include = [f"-I{headers / MAJOR / 'server'}", f"-I{headers / 'internal'}", f"-I{headers}"]
    shell.run(["cc", "-O1", "-shared", "-fPIC", *include, "-o", suite / "regress.so", suite / "regress.c"])
    shutil.rmtree(POSTGRES_REGRESSION, ignore_errors=True)
    fresh.rename(POSTGRES_REGRESSION)


def _mariadb(shell: Shell) -> None:
    if debian.source() is None:
        say(f"  {shell.name}: skipped: this machine has no Debian package source")
        return
    debian.unpack(shell, "bookworm", MARIADB_PACKAGES, MARIADB_ALONE, MARIADB_TEST)


def _nothing(shell: Shell) -> None:
    """The suite does not run on this machine."""


PARTS = (
    Part(
        "postgres-regression",
        f"PostgreSQL {VERSION} of Debian and its regression suite, where the machine has Debian's packages",
        _regression if is_possible() else _nothing,
        (),
        frozenset({"cc"}) if is_possible() else frozenset(),
        (VERSION, *LIBRARIES),
        on_demand=True,
    ),
    Part(
        "mariadb-test",
        f"MariaDB {MARIADB_VERSION} of Debian and its test suite, where the machine has Debian's packages",
        _mariadb if is_possible() else _nothing,
        (),
        frozenset(),
        (*MARIADB_PACKAGES, *MARIADB_ALONE),
        on_demand=True,
    ),
)
