"""Certificates that are renewed under a running Envoy, as a mounted Secret's are: links are swapped in one step."""

from pathlib import Path

import jinja2

from dev.layout import ENVOY_TEMPLATE

TEMPLATE = ENVOY_TEMPLATE.parent / "secret.yaml.j2"


class Renewal:
    """Of one cluster: an authority, and a certificate of the sidecar's own."""

    def __init__(self, folder: Path, cluster: str, server_name: str) -> None:
        self._certificates = folder / "certificates"
        self.secrets = folder / "secrets"
        for made in (self._certificates, self.secrets):
            made.mkdir(parents=True)
        self._count = 0
        self._describe(f"{cluster}-ca", ca="ca.crt", server_name=server_name)
        self._describe(f"{cluster}-client", certificate="client.crt", key="client.key")

    def publish(self, *, ca: Path, certificate: Path, key: Path) -> None:
        """All of them at once, or none."""
        self._count += 1
        version = self._certificates / f"..{self._count}"
        version.mkdir()
        for name, source in {"ca.crt": ca, "client.crt": certificate, "client.key": key}.items():
            (version / name).write_bytes(source.read_bytes())
            link = self._certificates / name
            if not link.is_symlink():
                link.symlink_to(Path("..data") / name)
        new = self._certificates / "..new"
        new.symlink_to(version.name)
        new.rename(self._certificates / "..data")

    def _describe(self, name: str, **values: str) -> None:
        environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False)
        text = environment.from_string(TEMPLATE.read_text()).render(name=name, folder=str(self._certificates), **values)
        (self.secrets / f"{name}.yaml").write_text(text)
