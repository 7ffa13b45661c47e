#!/usr/bin/env python3
"""Write a container image, with no container tool.

usage: archive.py OUT.tar NAME:TAG ROOTFS_DIR [ENTRYPOINT...]

One layer, everything owned by root and readable by all, times at zero, so that equal trees give equal images. The
output is a docker archive: docker, podman, kind and k3d take it, and its short names ("app:1") are to containerd what
Kubernetes means.
Standard library only: the cluster makes its own images with it.
"""

import hashlib
import io
import json
import os
import platform
import sys
import tarfile
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True)
class Config:
    """What a container runs, unless its pod says otherwise."""

    entrypoint: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    user: str = ""
    environment: dict[str, str] = field(default_factory=dict)

    def as_json(self) -> dict:
        return {
            "Entrypoint": list(self.entrypoint) or None,
            "Cmd": list(self.command) or None,
            "User": self.user,
            "Env": [f"{name}={value}" for name, value in {"PATH": PATH, **self.environment}.items()],
        }


def write(out: Path, name: str, rootfs: Path, config: Config) -> None:
    """The image of a folder, in the place of an earlier one."""
    fresh = out.with_name(f".{out.name}.{os.getpid()}")
    with tempfile.TemporaryFile(dir=out.parent) as layer:
        _write_layer(rootfs, layer)
        size, digest = layer.tell(), _digest(layer)
        described = {
            "architecture": ARCHITECTURES.get(platform.machine(), platform.machine()),
            "os": "linux",
            "config": config.as_json(),
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
        }
        config_name = hashlib.sha256(json.dumps(described).encode()).hexdigest() + ".json"
        layer_name = f"{digest}/layer.tar"
        manifest = [{"Config": config_name, "RepoTags": [name], "Layers": [layer_name]}]
        with tarfile.open(fresh, "w") as archive:
            _add_json(archive, "manifest.json", manifest)
            _add_json(archive, config_name, described)
            _add(archive, layer_name, size, layer)
    fresh.replace(out)


def _write_layer(rootfs: Path, out: io.IOBase) -> None:
    with tarfile.open(fileobj=out, mode="w") as layer:
        for entry in sorted(os.listdir(rootfs)):
            layer.add(os.path.join(rootfs, entry), arcname=entry, filter=_as_root)


def _as_root(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = "root"
    # Whatever the umask of who builds it: a container runs as somebody else.
    member.mode |= 0o755 if member.mode & 0o100 else 0o644
    return member


def _digest(stream: io.IOBase) -> str:
    stream.seek(0)
    return hashlib.file_digest(stream, "sha256").hexdigest()


def _add(archive: tarfile.TarFile, name: str, size: int, stream: io.IOBase) -> None:
    member = tarfile.TarInfo(name)
    member.size = size
    stream.seek(0)
    archive.addfile(member, stream)


def _add_json(archive: tarfile.TarFile, name: str, value: object) -> None:
    data = json.dumps(value).encode()
    _add(archive, name, len(data), io.BytesIO(data))


def _main(out: str, name: str, rootfs: str, *entrypoint: str) -> None:
    if not os.path.isdir(rootfs):
        sys.exit(f"archive.py: not a folder: {rootfs}")
    command = () if entrypoint else ("/bin/sh",)
    write(Path(out), name, Path(rootfs), Config(entrypoint, command))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__.strip())
    _main(*sys.argv[1:])
