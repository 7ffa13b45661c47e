"""The folder that becomes an image: programs of this machine with the libraries they need, and a few files."""

import re
import shutil
import subprocess
from pathlib import Path

# As `ldd` shows a library that it found, and the loader.
LIBRARY = re.compile(r"^\t(?:\S+ => )?(/\S+) \(0x[0-9a-f]+\)$", re.MULTILINE)
# Whom an image's processes may be; a pod that says another number works too, without a name.
USERS = {"root": 0, "postgres": 999, "app": 1000, "sidecar": 10101, "nobody": 65534, "nonroot": 65532}
NSSWITCH = "hosts: files dns\n"
AUTHORITIES = Path("/etc/ssl/certs/ca-certificates.crt")


class Rootfs:
    """Builds the folder; paths in it are absolute, as the container sees them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.add_text("/etc/passwd", "".join(f"{name}:x:{id}:{id}::/tmp:/bin/sh\n" for name, id in USERS.items()))
        self.add_text("/etc/group", "".join(f"{name}:x:{id}:\n" for name, id in USERS.items()))
        self.add_text("/etc/nsswitch.conf", NSSWITCH)
        if AUTHORITIES.exists():
            self.add_file(AUTHORITIES, str(AUTHORITIES))
        self._at("/tmp").mkdir()
        self._at("/tmp").chmod(0o1777)

    def add_text(self, path: str, text: str, mode: int = 0o644) -> None:
        place = self._place(path)
        place.write_text(text)
        place.chmod(mode)

    def add_file(self, source: Path, path: str) -> None:
        """What a link leads to, not the link."""
        place = self._place(path)
        shutil.copyfile(source, place)
        place.chmod(0o755 if source.stat().st_mode & 0o100 else 0o644)

    def add_program(self, source: Path, path: str) -> None:
        self.add_file(source, path)
        self._add_libraries(source)

    def add_folder(self, source: Path, path: str, leave_out: tuple[str, ...] = ()) -> None:
        """With the libraries of its programs, but for those that it has itself."""
        shutil.copytree(source, self._at(path), symlinks=True, ignore=shutil.ignore_patterns(*leave_out))
        for program in sorted((source / "bin").iterdir()):
            if (self._at(path) / "bin" / program.name).exists():
                self._add_libraries(program, but=source)

    def _add_libraries(self, program: Path, but: Path | None = None) -> None:
        # It ends badly for a static program, of which it has nothing to say.
        shown = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
        if "not found" in shown.stdout:
            raise FileNotFoundError(f"{program} lacks a library:\n{shown.stdout}")
        for found in LIBRARY.findall(shown.stdout):
            library = Path(found)
            its_own = but is not None and library.resolve().is_relative_to(but.resolve())
            if not its_own and not self._at(found).exists():
                self.add_file(library, found)

    def _place(self, path: str) -> Path:
        place = self._at(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    def _at(self, path: str) -> Path:
        return self.folder / path.lstrip("/")
