"""Vault in a pod, with the transit engine and its login method for Kubernetes, which asks the cluster about tokens."""

import base64
import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

import hvac
import trustme

from kubernetes import pods
from kubernetes.namespace import Namespace

PORT = 8200
USER = 65532
ROOT_TOKEN = "root"
KEY = "fieldveil"
ROLE = "fieldveil"
AUDIENCE = "vault"
# As docs/guides/kms.md says: the agent needs the second line alone.
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
        with self._client() as (client, _):
            for name, text in POLICIES.items():
                client.sys.create_or_update_policy(name, text)
            client.sys.enable_secrets_engine("transit")
            client.secrets.transit.create_key(KEY)
            client.sys.enable_auth_method("kubernetes")
            # Its own service account asks: the binding of `system:auth-delegator` allows that.
            client.auth.kubernetes.configure("https://kubernetes.default.svc")

    def allow(self, *accounts: str) -> None:
        """These service accounts may log in as the chart's role, and open keysets."""
        with self._client() as (client, _):
            client.auth.kubernetes.create_role(
                ROLE, list(accounts), [self.namespace.name], ttl="10m", policies=["agent"], audience=AUDIENCE
            )

    @contextlib.contextmanager
    def operator(self) -> Iterator[dict[str, str]]:
        """What `fieldveil keys` finds it with from here, as somebody who may wrap and open keysets."""
        with self._client() as (client, environment):
            token = client.auth.token.create(policies=["operator"])["auth"]["client_token"]
            yield {**environment, "VAULT_TOKEN": token}

    @contextlib.contextmanager
    def _client(self) -> Iterator[tuple[hvac.Client, dict[str, str]]]:
        """As root, from here, and where others find it from here."""
        with tempfile.TemporaryDirectory() as folder, self.namespace.forward(f"service/{self.name}", PORT) as port:
            ca = Path(folder) / "ca.pem"
            self._authority.cert_pem.write_to_path(str(ca))
            address = f"https://127.0.0.1:{port}"
            client = hvac.Client(url=address, token=ROOT_TOKEN, verify=str(ca))
            yield client, {"VAULT_ADDR": address, "VAULT_CACERT": str(ca)}

    def _objects(self) -> list[dict]:
        issued = self._authority.issue_cert(self.host, "localhost", "127.0.0.1")
        files = {
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
                f"-listen=:{PORT}", f"-root-token={ROOT_TOKEN}", "-cert=/etc/vault/tls.crt", "-key=/etc/vault/tls.key",
            ],
            ports=[{"name": "https", "containerPort": PORT}],
            readinessProbe=pods.ready_at("/v1/sys/health", PORT),
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
