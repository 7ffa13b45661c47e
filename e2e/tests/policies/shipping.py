"""A stack whose OPA polls bundles, and the policies that go into them: the example's, renewed every second."""

import json
import shutil
from pathlib import Path

import yaml

from dev.layout import POLICIES
from harness import Options, Stack, bundles
from harness import shop as example
from harness.bundles import Bundles
from harness.waiting import until_equal

TTL_SECONDS = 1
APPLICATION = {
    "name": "the application works with everything",
    "who": {"session": {"user": ["app"]}},
    "labels": ["customer.*"],
    "read": {"treatment": "reveal"},
    "write": "seal",
}
SUPPORT = {"name": "support", "who": {"session": {"user": ["support"]}}, "labels": ["customer.*"]}
MASKED = {"treatment": "mask", "format": "last4"}
REVEALED = {"treatment": "reveal"}
# What the filter asks for support.
ASKED = {
    "protocol": "postgres",
    "listener": "orders-db",
    "workload": {"namespace": "", "service_account": "", "spiffe_id": ""},
    "session": {
        "user": "support", "role": "support", "database": example.DATABASE, "application_name": "",
        "source": "127.0.0.1", "purpose": "",
    },
    "token": "",
    "comment": {"purpose": "", "token": ""},
    "claims": {},
}  # fmt: skip


class Shipping:
    """Writes policies, packs them, gives them out, and waits for what OPA makes of them."""

    def __init__(self, folder: Path, *, max_stale_seconds: int = 300, **options: object) -> None:
        self.bundles = Bundles(folder)
        self.policies = folder / "policies"
        shutil.copytree(POLICIES, self.policies, ignore=bundles.left_out)
        self.catalog = yaml.safe_load((self.policies / "catalog" / "shop" / "data.yaml").read_text())
        for kind in ("catalog", "rules"):
            (self.policies / kind / "shop" / "data.yaml").unlink()
        # What support reads of every label.
        self.support = MASKED
        for database in self.catalog["databases"]:
            database |= {"ttl_seconds": TTL_SECONDS, "max_stale_seconds": max_stale_seconds}
        self.stack = Stack(Options(bundles=self.bundles, **options))

    def pack(self, revision: str, **how: object) -> bytes:
        """Catalog and rules as they are now, signed unless told otherwise, whatever is wrong with them."""
        self._write_all()
        return bundles.pack(self.policies, revision=revision, **{"key": self.bundles.key, **how})

    def publish(self, revision: str) -> None:
        """Builds a bundle of them as a user does, and gives it out."""
        self._write_all()
        self.bundles.publish(self.bundles.build(self.policies, revision=revision))

    def activate(self, revision: str) -> None:
        """Publishes it, and waits until OPA decides by it."""
        self.publish(revision)
        self.wait_for(revision)

    def wait_for(self, revision: str) -> None:
        until_equal(self.active, revision)

    def active(self) -> str | None:
        """The revision that OPA decides by."""
        manifest = self.stack.opa.data(f"system/bundles/{bundles.NAME}/manifest")
        return manifest["revision"] if manifest else None

    def failures(self) -> float:
        return sum(self.stack.opa.metrics("bundle_failed_load_counter").values())

    def _write_all(self) -> None:
        self._write("catalog", self.catalog)
        self._write("rules", {"rules": [APPLICATION, {**SUPPORT, "read": self.support}]})

    def _write(self, kind: str, data: dict) -> None:
        (self.policies / kind / "shop" / "data.json").write_text(json.dumps(data))
