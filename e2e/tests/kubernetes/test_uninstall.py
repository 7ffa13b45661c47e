"""What `helm uninstall` leaves: nothing, neither in the namespace nor in the cluster."""

from pathlib import Path

from kubernetes import Cluster, Keysets, Namespace, Release
from tests.kubernetes.sidecar import BILLING, Bundle, values

# Come and go by themselves.
PASSING = {"events", "events.events.k8s.io", "leases.coordination.k8s.io"}


def objects(namespace: Namespace) -> set[str]:
    """All there is in the namespace, and all of the cluster that bears its name."""
    found = set()
    for scoped in ("true", "false"):
        kinds = namespace.kubectl("api-resources", "--verbs=list", f"--namespaced={scoped}", "--output=name").split()
        wanted = ",".join(kind for kind in kinds if kind not in PASSING)
        named = namespace.kubectl("get", wanted, "--output=name", "--ignore-not-found").split()
        found |= {name for name in named if scoped == "true" or namespace.name in name}
    return found


def test_uninstall_leaves_nothing(cluster: Cluster, namespace: Namespace, tmp_path: Path) -> None:
    keysets = Keysets(namespace)
    keysets.create("pii", "payments")
    before = objects(namespace)
    policies = Bundle(tmp_path).values(BILLING, revision="only")
    release = Release(namespace, values("db", policies, keysets.values))
    release.install()
    installed = objects(namespace) - before
    kinds = {name.partition("/")[0] for name in installed}
    assert {
        "configmap",
        "mutatingadmissionpolicy.admissionregistration.k8s.io",
        "mutatingadmissionpolicybinding.admissionregistration.k8s.io",
        "validatingadmissionpolicy.admissionregistration.k8s.io",
        "validatingadmissionpolicybinding.admissionregistration.k8s.io",
    } <= kinds
    release.uninstall()
    assert objects(namespace) == before
