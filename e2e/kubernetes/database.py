"""A PostgreSQL server in a pod of its own, with SCRAM for all but its superuser, and TLS if asked for."""

import base64
from pathlib import Path

from harness import shop
from harness.certificates import Certificates
from kubernetes import pods
from kubernetes.namespace import Namespace

PORT = 5432
POSTGRES = 999
DATA = "/var/lib/postgresql"
TLS = "/etc/postgresql/tls"


class Database:
    """Reached by its name from pods of its namespace, and by `host` from all."""

    def __init__(
        self, namespace: Namespace, name: str = "db", *, tls: Certificates | None = None, image: str = "postgres"
    ) -> None:
        self.name = name
        self._image = image
        self.namespace = namespace
        self._tls = tls

    @property
    def host(self) -> str:
        return f"{self.name}.{self.namespace.name}.svc.cluster.local"

    @property
    def ca_config_map(self) -> str:
        """Of clients, if there is TLS: whom to trust, under `ca.crt`."""
        return f"{self.name}-ca"

    def start(self) -> None:
        """It accepts connections when this returns."""
        self.create()
        self.wait_ready()

    def create(self) -> None:
        objects = [
            pods.service(self.name, PORT),
            pods.workload("StatefulSet", self.name, self._spec()),
        ]
        if self._tls:
            self.show_certificate(self._tls)
            authority = {"ca.crt": self._tls.ca.read_text()}
            objects.append(
                {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": self.ca_config_map}, "data": authority}
            )
        self.namespace.apply(*objects)

    def show_certificate(self, certificates: Certificates) -> None:
        """A server that runs shows a renewed one once the kubelet has brought it and the server reads it anew."""
        self.namespace.apply(_tls_secret(f"{self.name}-tls", certificates))

    def wait_ready(self) -> None:
        self.namespace.wait_ready(f"app={self.name}")

    def sql(self, text: str, database: str = "postgres") -> str:
        """As superuser, straight to the server: rows without headings, columns parted by |."""
        psql = ("psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "/tmp", "-U", "postgres", "-d", database)
        return self.namespace.exec(f"statefulset/{self.name}", *psql, stdin=text).rstrip("\n")

    def create_shop(self) -> None:
        """The example's database with its roles, as the example's catalog and rules know them."""
        roles = [f"CREATE ROLE {role} LOGIN PASSWORD '{shop.PASSWORD}';" for role in shop.ROLES]
        self.sql("\n".join([f"CREATE DATABASE {shop.DATABASE};", *roles]))
        grants = [f"GRANT ALL ON {shop.TABLE} TO {role};" for role in shop.ROLES]
        self.sql("\n".join([f"{shop.CREATE_TABLE};", *grants]), shop.DATABASE)

    def _spec(self) -> dict:
        image = self.namespace.cluster.image(self._image).reference
        tls = [f"ssl={'on' if self._tls else 'off'}"]
        if self._tls:
            tls += [f"ssl_cert_file={TLS}/tls.crt", f"ssl_key_file={TLS}/tls.key", f"ssl_ca_file={TLS}/ca.crt"]
        accepts = "hostssl" if self._tls else "host"
        server = pods.container(
            "postgres",
            image,
            POSTGRES,
            args=[word for setting in tls for word in ("-c", setting)],
            env=[
                {"name": "PGDATA", "value": f"{DATA}/data"},
                {"name": "POSTGRES_PASSWORD", "value": shop.PASSWORD},
                {"name": "FIELDVEIL_TEST_HBA", "value": f"{accepts} all all all scram-sha-256"},
            ],
            ports=[{"name": "postgres", "containerPort": PORT}],
            # Not by the Unix socket: it is there before the address is.
            readinessProbe=pods.ready_when("pg_isready", "-q", "-h", "127.0.0.1"),
            volumeMounts=[{"name": "data", "mountPath": DATA}, *self._tls_mounts()],
        )
        volumes = [{"name": "data", "emptyDir": {}}]
        if self._tls:
            # The group may read it; the server refuses a key that is open to more.
            volumes.append({"name": "tls", "secret": {"secretName": f"{self.name}-tls", "defaultMode": 0o640}})
        context = {"runAsUser": POSTGRES, "runAsGroup": POSTGRES, "fsGroup": POSTGRES}
        return {
            "containers": [server],
            "volumes": volumes,
            "securityContext": context,
            # It would wait for its clients.
            "terminationGracePeriodSeconds": 1,
        }

    def _tls_mounts(self) -> list[dict]:
        return [{"name": "tls", "mountPath": TLS, "readOnly": True}] if self._tls else []


def _tls_secret(name: str, certificates: Certificates) -> dict:
    files = {"tls.crt": certificates.server, "tls.key": certificates.server_key, "ca.crt": certificates.ca}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "kubernetes.io/tls",
        "metadata": {"name": name},
        "data": {key: _encoded(file) for key, file in files.items()},
    }


def _encoded(file: Path) -> str:
    return base64.b64encode(file.read_bytes()).decode()
