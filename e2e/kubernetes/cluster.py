"""The cluster that tests run in, and how images come to it."""

import contextlib
import fcntl
import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

from dev.layout import CLUSTER
from harness.waiting import patience
from kubernetes import kubectl
from kubernetes.images.build import build
from kubernetes.images.definitions import IMAGES, Image
from kubernetes.kubectl import RUN, CommandFailed

# What loads an archive, whose name is added; not asked for when FIELDVEIL_IMAGES names a registry that has them.
LOADER = "FIELDVEIL_IMAGE_LOADER"
REGISTRY = "FIELDVEIL_IMAGES"
# Set by the runner when it is the one of `e2e/kubernetes/node`.
OWN = "FIELDVEIL_OWN_CLUSTER"


class Cluster:
    def __init__(self) -> None:
        self._run = Path(os.environ[RUN])
        self.version = kubectl.parsed(self.kubectl("version", "--output=json"))["serverVersion"]
        self._on_their_way_out: list[str] = []

    @property
    def minor(self) -> int:
        """36 of 1.36; some clouds write 36+."""
        return int(self.version["minor"].rstrip("+"))

    @property
    def is_own(self) -> bool:
        """Whether it is that of `e2e/kubernetes/node`, which enforces no NetworkPolicy and reaches nothing outside."""
        return bool(os.environ.get(OWN))

    def kubectl(self, *words: str | Path, stdin: str | bytes | None = None, seconds: float = 60.0) -> str:
        return kubectl.run("kubectl", *words, stdin=stdin, seconds=seconds)

    def get(self, *words: str) -> dict:
        return kubectl.parsed(self.kubectl("get", *words, "--output=json"))

    def remove_namespace(self, name: str) -> None:
        """It is on its way out when this returns; `close` waits for it."""
        self.kubectl("delete", "namespace", name, "--wait=false")
        self._on_their_way_out.append(name)

    def close(self) -> None:
        for name in self._on_their_way_out:
            # One that is gone already is no error for `delete`.
            self.kubectl(
                "delete", "namespace", name, "--ignore-not-found", f"--timeout={patience(100):.0f}s", seconds=110
            )

    def image(self, name: str) -> Image:
        """The image, which the cluster has by now."""
        image = IMAGES[name]
        if not os.environ.get(REGISTRY):
            with self._once(f"image-{name}") as is_first:
                if is_first:
                    _load(build(name))
        return image

    @contextlib.contextmanager
    def _once(self, what: str) -> Iterator[bool]:
        """Whether this is the first time in this run; the others wait until it is done."""
        done = self._run / what
        with (self._run / f"{what}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield not done.exists()
            done.touch()


def _load(archive: Path) -> None:
    given = os.environ.get(LOADER)
    command = shlex.split(given) if given else [str(CLUSTER), "load"]
    done = subprocess.run([*command, archive], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CommandFailed(f"$ {shlex.join([*command, str(archive)])}\n{done.stderr}{done.stdout}")
