"""Packages of Debian, unpacked and not installed, with all that they depend on: what is in them runs for users who are
not root, on any machine that has `apt-get`, `dpkg` and Debian's keys. Their versions are those that the suite has.
"""

import shutil
import subprocess
from pathlib import Path

from dev.setup.runner import ATTEMPTS, Shell

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


def source() -> str | None:
    """Where this machine has Debian's packages from; None: it is none of Debian's."""
    if not all(shutil.which(tool) for tool in ("apt-get", "dpkg")) or not KEYRING.exists():
        return None
    asked = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]
    told = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.split()
    return next((uri for uri in told if uri.rstrip("/").endswith("/debian")), None)


def unpack(shell: Shell, suite: str, whole: tuple[str, ...], alone: tuple[str, ...], folder: Path) -> None:
    """Unpacks packages of the suite into a fresh folder: some with what they depend on, some without."""
    own = folder.with_name(f".{folder.name}.apt")
    fresh = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    apt = _apt(shell, own, f"deb [signed-by={KEYRING}] {source()} {suite} main\n")
    install = ["install", "--yes", "--no-install-recommends", "--download-only"]
    shell.run([*apt, *install, *whole], attempts=ATTEMPTS)
    if alone:
        shell.run([*apt, "download", *alone], cwd=own / "alone", attempts=ATTEMPTS)
    fresh.mkdir()
    for package in (*(own / "cache" / "archives").glob("*.deb"), *(own / "alone").glob("*.deb")):
        shell.run(["dpkg", "--extract", package, fresh])
    shutil.rmtree(own)
    for unneeded in ("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/perl", "etc", "var"):
        shutil.rmtree(fresh / unneeded, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)


def unpack_source(shell: Shell, suite: str, package: str, part: str, folder: Path) -> None:
    """Unpacks one folder of the upstream source of a source package, as a fresh folder."""
    own = folder.with_name(f".{folder.name}.apt")
    apt = _apt(shell, own, f"deb-src [signed-by={KEYRING}] {source()} {suite} main\n")
    shell.run([*apt, "source", "--download-only", package], cwd=own / "alone", attempts=ATTEMPTS)
    archive = next((own / "alone").glob("*.orig.tar.*"))
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    depth = 1 + len(Path(part).parts)
    shell.run(
        ["tar", "--extract", "--file", archive, "--wildcards", f"--strip-components={depth}", f"*/{part}/*"], cwd=folder
    )
    shutil.rmtree(own)


def _apt(shell: Shell, own: Path, sources: str) -> list[str]:
    """An apt-get with up-to-date lists and folders of its own, in which another subfolder is for what is had alone."""
    shutil.rmtree(own, ignore_errors=True)
    for name in ("lists/partial", "cache/archives/partial", "alone"):
        (own / name).mkdir(parents=True)
    # Nothing of the machine's: neither its sources nor what is installed.
    (own / "sources.list").write_text(sources)
    (own / "status").touch()
    options = {
        "Dir::Etc::SourceList": own / "sources.list",
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::State::Lists": own / "lists",
        "Dir::State::status": own / "status",
        "Dir::Cache": own / "cache",
        "Debug::NoLocking": "1",
        "APT::Sandbox::User": "root",
        "Acquire::Languages": "none",
    }
    apt = ["apt-get", *(word for name, value in options.items() for word in ("-o", f"{name}={value}"))]
    shell.run([*apt, "update"], attempts=ATTEMPTS)
    return apt
