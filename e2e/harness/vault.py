"""Vault in memory, with TLS: a transit key, and a token that may use that key alone."""

import re
import ssl

import hvac
import requests
import trustme

from dev.layout import VAULT
from harness.ports import LOOPBACK, free_port
from harness.process import Process
from harness.workdir import WorkDir

ROOT_TOKEN = "root"
KEY = "fieldveil"
POLICY = f"""\
path "transit/encrypt/{KEY}" {{ capabilities = ["update"] }}
path "transit/decrypt/{KEY}" {{ capabilities = ["update"] }}
"""


class Vault:
    def __init__(self, work: WorkDir) -> None:
        self._certificates = work.path / "vault"
        self.ca = self._certificates / "vault-ca.pem"
        self._port = free_port()
        self._token = ""
        self.process = Process("vault", work.log("vault"))

    @property
    def address(self) -> str:
        return f"https://{LOOPBACK}:{self._port}"

    @property
    def kek_uri(self) -> str:
        return self.uri(KEY)

    def uri(self, key: str) -> str:
        return f"hcvault://{LOOPBACK}:{self._port}/transit/keys/{key}"

    @property
    def environment(self) -> dict[str, str]:
        return {"VAULT_ADDR": self.address, "VAULT_CACERT": str(self.ca), "VAULT_TOKEN": self._token}

    def start(self) -> None:
        self._certificates.mkdir()
        authority = trustme.CA()
        issued = authority.issue_cert(LOOPBACK)
        certificate, key = self._certificates / "server.pem", self._certificates / "server.key"
        certificate.write_bytes(b"".join(part.bytes() for part in issued.cert_chain_pems))
        issued.private_key_pem.write_to_path(str(key))
        authority.cert_pem.write_to_path(str(self.ca))
        command = [
            VAULT, f"-listen={LOOPBACK}:{self._port}", f"-root-token={ROOT_TOKEN}",
            f"-cert={certificate}", f"-key={key}",
        ]  # fmt: skip
        self.process.start(command)
        self.process.wait_until(self._is_ready)
        root = self.client()
        root.sys.enable_secrets_engine("transit")
        root.secrets.transit.create_key(KEY)
        root.sys.create_or_update_policy(KEY, POLICY)
        self._token = root.auth.token.create(policies=[KEY])["auth"]["client_token"]

    def stop(self) -> None:
        self.process.stop()

    def seal(self) -> None:
        """It forgets its keys and answers nobody, as after a restart."""
        self.client().sys.seal()

    def unseal(self) -> None:
        key = re.search(r"^Unseal Key: (\S+)$", self.process.log.read_text(), re.MULTILINE)
        self.client().sys.submit_unseal_key(key[1])
        self.process.wait_until(self._is_ready)

    def client(self, token: str = ROOT_TOKEN) -> hvac.Client:
        return hvac.Client(url=self.address, token=token, verify=str(self.ca))

    def _is_ready(self) -> bool:
        try:
            return self.client().sys.is_initialized() and not self.client().sys.is_sealed()
        except (OSError, requests.RequestException, ssl.SSLError, hvac.exceptions.VaultError):
            return False
