"""Vault in a pod, with the transit engine and its login method for Kubernetes, which asks the cluster about tokens."""

import base64
import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

import trustme

from kubernetes import pods
from kubernetes.namespace import Namespace

PORT = 8200
# Of the pod alone, without TLS: for the commands that set it up.
INSIDE = 8202
USER = 65532
ROOT_TOKEN = "root"
KEY = "fieldveil"
ROLE = "fieldveil"
AUDIENCE = "vault"
CONFIG = f"""\
disable_mlock = true
disable_clustering = true
listener "tcp" {{
  address = "0.0.0.0:{PORT}"
  tls_cert_file = "/etc/vault/tls.crt"
  tls_key_file = "/etc/vault/tls.key"
}}
"""
# As docs/kms.md says: the agent needs the second line alone.
POLICIES = {
    "operator": f'path "transit/encrypt/{KEY}" {{ capabilities = ["update"] }}\n'
    f'path "transit/decrypt/{KEY}" {{ capabilities = ["update"] }}\n',
    "agent": f'path "transit/decrypt/{KEY}" {{ capabilities = ["update"] }}\n',
}


class Vault:
    """`values` tell the chart; `operator` tells the command, from here."""

    def __init__(self, namespace: Namespace, name: str = "vault") -> None:
        self.name = name
        self.namespace = namespace
        self._authority = trustme.CA()
        # The server is in the environment: from here it has another address than in the cluster.
        self.kek_uri = f"hcvault:///transit/keys/{KEY}"

    @property
    def host(self) -> str:
        return f"{self.name}.{self.namespace.name}.svc.cluster.local"

    @property
    def ca_config_map(self) -> str:
        return f"{self.name}-ca"

    @property
    def values(self) -> dict:
        """Of the chart: `sidecar.keys`, beside those of the keysets."""
        address = f"https://{self.host}:{PORT}"
        ca = {"configMap": self.ca_config_map, "key": "ca.crt"}
        return {"kekUri": self.kek_uri, "vault": {"address": address, "role": ROLE, "audience": AUDIENCE, "ca": ca}}

    def start(self) -> None:
        """With a key, and nobody who may log in yet."""
        self.namespace.at_end(self._remove_binding)
        self.namespace.apply(*self._objects())
        self.namespace.wait_ready(f"app={self.name}")
        for name, text in POLICIES.items():
            self.command("policy", "write", name, "-", stdin=text)
        self.command("secrets", "enable", "transit")
        self.command("write", "-f", f"transit/keys/{KEY}")
        self.command("auth", "enable", "-path=kubernetes", "vault-plugin-auth-kubernetes")
        # Its own service account asks: the binding of `system:auth-delegator` allows that.
        self.command("write", "auth/kubernetes/config", "kubernetes_host=https://kubernetes.default.svc")

    def allow(self, *accounts: str) -> None:
        """These service accounts may log in as the chart's role, and open keysets."""
        self.command(
            "write", f"auth/kubernetes/role/{ROLE}", f"bound_service_account_names={','.join(accounts)}",
            f"bound_service_account_namespaces={self.namespace.name}", f"audience={AUDIENCE}",
            "token_policies=agent", "token_ttl=10m",
        )  # fmt: skip

    def command(self, *words: str, stdin: str | None = None) -> str:
        """`vault …` as root, in the pod."""
        environment = (f"VAULT_ADDR=http://127.0.0.1:{INSIDE}", f"VAULT_TOKEN={ROOT_TOKEN}", "HOME=/tmp")
        return self.namespace.exec(f"deployment/{self.name}", "env", *environment, "vault", *words, stdin=stdin)

    @contextlib.contextmanager
    def operator(self) -> Iterator[dict[str, str]]:
        """What `fieldveil keys` finds it with from here, as somebody who may wrap and open keysets."""
        token = self.command("token", "create", "-policy=operator", "-field=token").strip()
        with tempfile.TemporaryDirectory() as folder, self.namespace.forward(f"service/{self.name}", PORT) as port:
            ca = Path(folder) / "ca.pem"
            self._authority.cert_pem.write_to_path(str(ca))
            yield {"VAULT_ADDR": f"https://127.0.0.1:{port}", "VAULT_CACERT": str(ca), "VAULT_TOKEN": token}

    def _objects(self) -> list[dict]:
        issued = self._authority.issue_cert(self.host, "localhost", "127.0.0.1")
        files = {
            "config.hcl": CONFIG.encode(),
            "tls.crt": b"".join(part.bytes() for part in issued.cert_chain_pems),
            "tls.key": issued.private_key_pem.bytes(),
        }
        ca = self._authority.cert_pem.bytes().decode()
        return [
            {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": self.name}},
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": self.name},
                "data": {name: base64.b64encode(content).decode() for name, content in files.items()},
            },
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": self.ca_config_map},
                "data": {"ca.crt": ca},
            },
            self._binding(),
            pods.service(self.name, PORT),
            pods.workload("Deployment", self.name, self._spec()),
        ]

    def _binding(self) -> dict:
        """Of the whole cluster, and so it bears its namespace's name."""
        return {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": f"{self.namespace.name}-{self.name}"},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": "system:auth-delegator",
            },
            "subjects": [{"kind": "ServiceAccount", "name": self.name, "namespace": self.namespace.name}],
        }

    def _spec(self) -> dict:
        server = pods.container(
            "vault",
            self.namespace.cluster.image("vault").reference,
            USER,
            args=[
                "server", "-dev", "-config=/etc/vault/config.hcl", "-dev-plugin-dir=/vault/plugins",
                f"-dev-root-token-id={ROOT_TOKEN}", f"-dev-listen-address=127.0.0.1:{INSIDE}", "-dev-no-store-token",
            ],
            env=[{"name": "HOME", "value": "/tmp"}],
            ports=[{"name": "https", "containerPort": PORT}],
            readinessProbe=pods.ready_when("vault", "status", f"-address=http://127.0.0.1:{INSIDE}"),
            volumeMounts=[{"name": "config", "mountPath": "/etc/vault", "readOnly": True}],
        )  # fmt: skip
        return {
            "serviceAccountName": self.name,
            "containers": [server],
            "volumes": [{"name": "config", "secret": {"secretName": self.name}}],
            "terminationGracePeriodSeconds": 2,
        }

    def _remove_binding(self) -> None:
        name = self._binding()["metadata"]["name"]
        self.namespace.cluster.kubectl("delete", "clusterrolebinding", name, "--ignore-not-found")
