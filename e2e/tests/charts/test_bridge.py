"""The bridges of a pod: the command takes what the chart tells it, and no other part has what is a bridge's."""

import re
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme

from dev.layout import FIELDVEIL
from harness.ports import free_port
from harness.process import Process
from harness.workdir import WorkDir
from tests.charts.expected import is_bridged, takes_tls
from tests.charts.pods import container, pods
from tests.charts.rendering import manifests, of_kind, sidecar_of

RENDERING = "own-deployment/bridge"
UPSTREAMS = {upstream["name"]: upstream for upstream in sidecar_of(RENDERING)["upstreams"]}
BRIDGED = tuple(name for name, upstream in UPSTREAMS.items() if is_bridged(upstream))
FROM_CLIENTS = tuple(name for name, upstream in UPSTREAMS.items() if takes_tls(upstream))
CONTAINERS = (
    *(f"fieldveil-bridge-{name}" for name in BRIDGED),
    *(f"fieldveil-clients-{name}" for name in FROM_CLIENTS),
)


def bridge(upstream: str) -> dict:
    return container(RENDERING, f"fieldveil-bridge-{upstream}")


def from_clients(upstream: str) -> dict:
    return container(RENDERING, f"fieldveil-clients-{upstream}")


@pytest.fixture
def process(work: WorkDir) -> Iterator[Process]:
    started = Process("bridge", work.log("bridge"))
    yield started
    started.stop()


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the pod's volumes bring to a bridge: to a server, and from clients."""
    folder = tmp_path_factory.mktemp("certificates")
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "ca.crt"))
    issued = authority.issue_cert("client.example.org")
    for name in ("client", "tls"):
        issued.private_key_pem.write_to_path(str(folder / f"{name}.key"))
        issued.cert_chain_pems[0].write_to_path(str(folder / f"{name}.crt"))
    return folder


BY_SPIRE = "archive-db"


@pytest.mark.parametrize("name", [name for name in CONTAINERS if name != f"fieldveil-clients-{BY_SPIRE}"])
def test_bridge_takes_its_arguments_and_answers_its_probe(
    name: str, process: Process, work: WorkDir, certificates: Path
) -> None:
    told, port = container(RENDERING, name), free_port()
    upstream = name.split("-", 2)[2]
    in_place = {
        f"/etc/fieldveil/upstreams/{upstream}": str(certificates),
        f"/etc/fieldveil/clients/{upstream}": str(certificates),
        "/run/fieldveil/bridges": str(work.path),
        f"0.0.0.0:{told['ports'][0]['containerPort']}": f"127.0.0.1:{port}",
        f":{UPSTREAMS[upstream]['listener']['port']}": f":{free_port()}",
    }
    words = told["args"]
    for of_pod, here in in_place.items():
        words = [word.replace(of_pod, here) for word in words]
    process.start([FIELDVEIL, *words])
    probe = told["startupProbe"]["httpGet"]
    process.wait_until(lambda: answers(port, probe["path"]))
    assert probe["port"] == told["ports"][0]["containerPort"]
    if name == f"fieldveil-bridge-{upstream}":
        assert (work.path / f"{upstream}.sock").stat().st_mode & 0o777 == 0o600


def answers(port: int, path: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}") as answer:
            return answer.status == 200
    except OSError:
        return False


def test_bridge_verifies_as_the_values_say_and_in_full_unless_they_do() -> None:
    verifies = {name: [word for word in bridge(name)["args"] if word.startswith("--verify")] for name in BRIDGED}
    less = {"archive-db": ["--verify=verify-ca"]}
    assert verifies == {name: ["--verify=verify-full"] for name in BRIDGED} | less
    names = {name: [word for word in bridge(name)["args"] if word.startswith("--server-name=")] for name in BRIDGED}
    told = {name: UPSTREAMS[name]["tls"].get("serverName", UPSTREAMS[name]["host"]) for name in BRIDGED}
    assert names == {name: [f"--server-name={server}"] for name, server in told.items()}


def test_each_bridge_has_a_port_of_its_own() -> None:
    ports = [port for one in init_containers() for port in one.get("ports", [])]
    assert len({port["containerPort"] for port in ports}) == len(ports)
    assert len({port["name"] for port in ports}) == len(ports) == len(CONTAINERS) + 3
    scraped = [
        endpoint["port"]
        for monitor in of_kind(manifests("fieldveil/bridge"), "PodMonitor")
        for endpoint in monitor["spec"]["podMetricsEndpoints"]
    ]
    assert sorted(scraped) == sorted(port["name"] for port in ports)


def test_certificates_of_an_upstream_are_its_bridges_alone() -> None:
    holders = {
        name: [one["name"] for one in init_containers() if f"fieldveil-upstream-{name}" in mounts(one)]
        for name in UPSTREAMS
    }
    own = {name: [f"fieldveil-bridge-{name}"] for name in BRIDGED if "ca" in UPSTREAMS[name]["tls"]}
    assert holders == {"events-db": ["fieldveil-envoy"], "customers-db": [], **own}
    for name in FROM_CLIENTS:
        holders = [one["name"] for one in init_containers() if f"fieldveil-clients-{name}" in mounts(one)]
        assert holders == ([] if name == BY_SPIRE else [f"fieldveil-clients-{name}"])


def test_certificate_of_spire_comes_by_its_socket() -> None:
    told = from_clients(BY_SPIRE)
    assert "--spiffe-socket=unix:///run/spiffe/spire-agent.sock" in told["args"]
    assert {"name": "fieldveil-spiffe", "mountPath": "/run/spiffe", "readOnly": True} in told["volumeMounts"]
    assert not [word for word in told["args"] if word.startswith(("--certificate", "--key"))]


def test_sockets_of_bridges_are_in_a_volume_that_only_they_and_envoy_mount() -> None:
    (pod,) = pods(RENDERING).values()
    every = [*pod["spec"]["initContainers"], *pod["spec"]["containers"]]
    holders = {one["name"] for one in every if "fieldveil-bridges" in mounts(one)}
    assert holders == {"fieldveil-envoy", *CONTAINERS}
    for name in CONTAINERS:
        security = container(RENDERING, name)["securityContext"]
        assert security == container(RENDERING, "fieldveil-envoy")["securityContext"]


def test_bridges_from_clients_start_behind_envoy_and_so_end_before_it() -> None:
    names = [one["name"] for one in init_containers()]
    assert [name for name in names[names.index("fieldveil-envoy") :] if name != "fieldveil-envoy"] == [
        f"fieldveil-clients-{name}" for name in FROM_CLIENTS
    ]


def test_clients_are_taken_as_the_values_say_and_within_tls_alone_unless_they_do() -> None:
    def said(name: str, *flags: str) -> list[str]:
        return [word for word in from_clients(name)["args"] if word.startswith(flags)]

    less = "--allow-plain", "--pass-scram"
    assert {name: said(name, *less) for name in FROM_CLIENTS} == {name: [] for name in FROM_CLIENTS} | {
        "reports-db": list(less)
    }
    assert {name: said(name, "--client-certificates") for name in FROM_CLIENTS} == {
        "reports-db": ["--client-certificates=optional"],
        "events-db": [],
        "customers-db": ["--client-certificates=required"],
        BY_SPIRE: [],
    }
    listens = {name: said(name, "--listen") for name in FROM_CLIENTS}
    assert listens["customers-db"] == [f"--listen=[::1]:{UPSTREAMS['customers-db']['listener']['port']}"]


def test_admission_holds_each_bridge_to_the_rendering_and_keeps_its_files_from_others() -> None:
    (policy, _) = of_kind(manifests("fieldveil/bridge"), "ValidatingAdmissionPolicy")
    variables = {one["name"]: one["expression"] for one in policy["spec"]["variables"]}
    assert len(variables) == len(policy["spec"]["variables"])
    for name in BRIDGED:
        said = variables[f"fieldveil_bridge_{name.replace('-', '_')}_differs"]
        assert f'"--server={server(UPSTREAMS[name])}"' in said
    for name in FROM_CLIENTS:
        said = variables[f"fieldveil_clients_{name.replace('-', '_')}_differs"]
        assert f'"--envoy=/run/fieldveil/bridges/{name}.clients.sock"' in said
    assert set(re.findall(r'"([^"]+)"', variables["sidecars"])) >= set(CONTAINERS)
    assert '"fieldveil-bridges"' in variables["privateVolumes"]
    assert '"fieldveil-clients-events-db"' in variables["privateVolumes"]
    for secret in ("shop-database-client", "events-db-listener"):
        assert f'"{secret}"' in variables["privateSecrets"]


def test_a_name_that_no_certificate_proves_may_not_be_led_elsewhere_by_the_pod() -> None:
    """A bridge that does not compare the name takes any server of the authority."""
    (policy, _) = of_kind(manifests("fieldveil/bridge"), "ValidatingAdmissionPolicy")
    (taken,) = [one["expression"] for one in policy["spec"]["variables"] if one["name"] == "namesTaken"]
    unproven = {upstream["host"] for upstream in UPSTREAMS.values() if f'"{upstream["host"]}"' in taken}
    assert unproven == {UPSTREAMS["archive-db"]["host"]}


def server(upstream: dict) -> str:
    host = f"[{upstream['host']}]" if ":" in upstream["host"] else upstream["host"]
    return f"{host}:{upstream['port']}"


def init_containers() -> list[dict]:
    (pod,) = pods(RENDERING).values()
    return pod["spec"]["initContainers"]


def mounts(one: dict) -> set[str]:
    return {mount["name"] for mount in one.get("volumeMounts") or []}
