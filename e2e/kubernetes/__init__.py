"""What tests in a Kubernetes cluster use: any cluster that kubectl reaches, or the one of `e2e/kubernetes/node`.

`python -m kubernetes [PYTEST ARGUMENT…]` runs them; `KUBECONFIG` names the cluster, without it one is started.
"""

from kubernetes.application import Application
from kubernetes.cluster import Cluster
from kubernetes.database import Database
from kubernetes.keysets import Keysets
from kubernetes.kubectl import CommandFailed
from kubernetes.namespace import Namespace
from kubernetes.policies import Policies
from kubernetes.release import Release
from kubernetes.vault import Vault

__all__ = [
    "Application",
    "Cluster",
    "CommandFailed",
    "Database",
    "Keysets",
    "Namespace",
    "Policies",
    "Release",
    "Vault",
]
