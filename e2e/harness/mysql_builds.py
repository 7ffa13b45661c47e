"""The servers that speak MySQL's protocol, as set-up has put them: how each is started, and how it is made anew."""

from dataclasses import dataclass, replace
from pathlib import Path

from dev.layout import DEBIAN_SERVERS, MARIADB, MARIADB_VERSIONS
from harness.reachable import within_reach
from harness.workdir import WorkDir

# What makes MariaDB's system tables, in this order; before each name, the server's own.
SYSTEM = ("system_tables", "performance_tables", "system_tables_data", "sys_schema")
PREFIXES = ("mysql", "mariadb")
# The superuser has no password: so only who comes by the socket is it, and only who started the server, or root, may.
ONLY_BY_SOCKET = b"DELETE FROM mysql.global_priv WHERE User <> 'mariadb.sys' AND Host <> 'localhost';\n"


@dataclass(frozen=True)
class Build:
    """One server."""

    name: str
    # The folder that has everything of it.
    home: Path
    program: str = "bin/mariadbd"
    share: str = "share"
    plugins: str = ""
    # MySQL and not MariaDB.
    mysql: bool = False

    @property
    def is_there(self) -> bool:
        return (self.home / self.program).exists()

    def within_reach(self, user: int | None, work: WorkDir) -> "Build":
        """The same, where `user` can reach it."""
        return replace(self, home=within_reach(self.home.parent, (self.home.name,), user, work) / self.home.name)

    def command(self) -> list[str | Path]:
        """What starts it: one of Debian's with all of its own libraries."""
        loader = next((path for path in self._loaders() if path.exists()), None)
        if loader is None:
            return [self.home / self.program]
        libraries = [self.home / part / "lib" / "x86_64-linux-gnu" for part in ("usr", "")]
        # MySQL's own protobuf.
        libraries += [folder / "mysql" / "private" for folder in libraries]
        return [loader, "--library-path", ":".join(map(str, libraries)), self.home / self.program]

    def settings(self) -> dict[str, str]:
        """Where it finds what is its own."""
        found = {"basedir": str(self.home / "usr" if self.plugins else self.home)}
        found["lc-messages-dir"] = str(self.home / self.share)
        if self.plugins:
            found["plugin-dir"] = str(self.home / self.plugins)
            found["character-sets-dir"] = str(self.home / self.share / "charsets")
        return found

    def made_by(self) -> bytes:
        """The statements that make MariaDB's system tables."""
        texts = [self._system(name) for name in SYSTEM]
        return b"".join((b"CREATE DATABASE mysql;\nUSE mysql;\n", *texts, ONLY_BY_SOCKET))

    def _system(self, name: str) -> bytes:
        files = (self.home / self.share / f"{prefix}_{name}.sql" for prefix in PREFIXES)
        return next(file for file in files if file.exists()).read_bytes()

    def _loaders(self) -> tuple[Path, ...]:
        return tuple(self.home / part / "lib64" / "ld-linux-x86-64.so.2" for part in ("usr", ""))


OLDER, NEWER = (Build(f"mariadb-{version}", MARIADB / version) for version in MARIADB_VERSIONS)
# Has the plugins of MariaDB, ed25519's before all.
OF_DEBIAN = Build(
    "mariadb-debian", DEBIAN_SERVERS / "mariadb", "usr/sbin/mariadbd", "usr/share/mysql", "usr/lib/mysql/plugin"
)
MYSQL = Build("mysql", DEBIAN_SERVERS / "mysql", "usr/sbin/mysqld", "usr/share/mysql", "usr/lib/mysql/plugin", True)
EVERY = (OLDER, NEWER, OF_DEBIAN, MYSQL)
