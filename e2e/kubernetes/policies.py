"""Policies as a cluster has them: a signed bundle in a ConfigMap, and the key that it is checked with."""

import base64
import tempfile
from pathlib import Path

from dev.layout import POLICIES
from harness.bundles import Bundles, SigningKey
from kubernetes.namespace import Namespace

FILE = "fieldveil.tar.gz"


class Policies:
    """One ConfigMap, whose bundle can be replaced as a platform's pipeline would."""

    def __init__(self, namespace: Namespace, bundles: Bundles | None = None, name: str = "policies") -> None:
        """With a signing key of its own, unless `bundles` have one."""
        self.name = name
        self._namespace = namespace
        self._scratch = tempfile.TemporaryDirectory(prefix="fieldveil-policies-")
        self._bundles = bundles or Bundles(Path(self._scratch.name))

    @property
    def key(self) -> SigningKey:
        return self._bundles.key

    @property
    def values(self) -> dict:
        """Of the chart: `sidecar.policies`. The shortest polling that OPA takes, as tests wait for it."""
        return {
            "configMap": self.name,
            "verification": {"publicKey": self.key.public.read_text()},
            "polling": {"minSeconds": 1, "maxSeconds": 1},
        }

    def publish(self, revision: str) -> None:
        """The example's policies."""
        self.publish_bundle(self._bundles.build(POLICIES, revision=revision))

    def publish_bundle(self, bundle: bytes) -> None:
        self._namespace.apply(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": self.name},
                "binaryData": {FILE: base64.b64encode(bundle).decode()},
            }
        )
