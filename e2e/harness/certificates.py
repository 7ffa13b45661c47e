"""Certificates of one run: an authority and what it issued, and an authority that nobody knows."""

from datetime import datetime
from pathlib import Path

import trustme

# What the server's certificate is for: no name that resolves, so that only the name is compared, not the way there.
SERVER_NAME = "db.shop.test"


class Certificates:
    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder, self._authority = folder, trustme.CA()
        authority = self._authority
        self.ca = folder / "ca.pem"
        authority.cert_pem.write_to_path(str(self.ca))
        self.server, self.server_key = _issue(authority, folder, "server", SERVER_NAME)
        self.client, self.client_key = _issue(authority, folder, "client", "sidecar.shop.test")
        self.gateway, self.gateway_key = _issue(authority, folder, "gateway", "localhost")
        self.unknown_ca = folder / "unknown-ca.pem"
        trustme.CA().cert_pem.write_to_path(str(self.unknown_ca))
        # A server may be another user's, and the umask may be anything.
        for path in (folder, *folder.iterdir()):
            path.chmod(0o755 if path == folder else 0o644)

    def renew_server(self, until: datetime) -> None:
        """For the same name, of the same authority."""
        self.server, self.server_key = _issue(self._authority, self._folder, "server", SERVER_NAME, until)


def _issue(
    authority: trustme.CA, folder: Path, name: str, subject: str, until: datetime | None = None
) -> tuple[Path, Path]:
    issued = authority.issue_cert(subject, common_name=subject, not_after=until)
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    for number, part in enumerate(issued.cert_chain_pems):
        part.write_to_path(str(certificate), append=number > 0)
    issued.private_key_pem.write_to_path(str(key))
    return certificate, key
