"""Makes the archives, each anew only when something in it changed."""

import fcntl
import hashlib
import tempfile
from pathlib import Path

from dev.layout import E2E, IMAGE_ARCHIVES
from kubernetes.images import archive
from kubernetes.images.definitions import IMAGES, Image
from kubernetes.images.rootfs import Rootfs


def build(name: str) -> Path:
    """The image as a docker archive."""
    image = IMAGES[name]
    IMAGE_ARCHIVES.mkdir(parents=True, exist_ok=True)
    out, stamp = IMAGE_ARCHIVES / f"{name}.tar", IMAGE_ARCHIVES / f".{name}.stamp"
    with (IMAGE_ARCHIVES / f".{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        fingerprint = _fingerprint(image)
        if not (out.exists() and stamp.exists() and stamp.read_text() == fingerprint):
            stamp.unlink(missing_ok=True)
            _make(image, out)
            stamp.write_text(fingerprint)
    return out


def _make(image: Image, out: Path) -> None:
    with tempfile.TemporaryDirectory(dir=IMAGE_ARCHIVES, prefix=f".{image.name}-") as scratch:
        folder = Path(scratch) / "rootfs"
        folder.mkdir(mode=0o755)
        image.fill(Rootfs(folder))
        archive.write(out, image.reference, folder, image.config)


def _fingerprint(image: Image) -> str:
    """By size and time: reading hundreds of megabytes would take longer than most of what is spared."""
    digest = hashlib.sha256(repr((image.reference, image.config)).encode())
    for path in (E2E / "kubernetes" / "images", *image.inputs()):
        for file in sorted(path.rglob("*.go" if path.name == "keys" else "*")) if path.is_dir() else (path,):
            if file.is_file() and "__pycache__" not in file.parts:
                status = file.stat()
                digest.update(f"{file}\0{status.st_size}\0{status.st_mtime_ns}\0".encode())
    return digest.hexdigest()
