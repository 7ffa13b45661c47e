"""What the chart makes for Prometheus and Grafana: as their schemas have it, and of one piece with the pods."""

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from dev.layout import CHARTS, HELM, KUBECONFORM, ROOT, SCHEMAS
from tests.charts import queries

OWN_DEPLOYMENT = CHARTS / "testdata" / "own-deployment"
PODMONITOR, RULES, DASHBOARD = "podmonitor", "rules", "dashboard"
WIDTH = 24


@pytest.fixture(scope="module")
def own() -> list[dict]:
    """Objects of an own chart with the sidecar."""
    command = [HELM, "template", "orders", OWN_DEPLOYMENT, "--namespace", queries.NAMESPACE]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [document for document in yaml.safe_load_all(done.stdout) if document]


@pytest.fixture(scope="module")
def pod(own: list[dict]) -> dict:
    (deployment,) = [document for document in own if document["kind"] == "Deployment"]
    return deployment["spec"]["template"]


@pytest.fixture(scope="module")
def envoy(own: list[dict]) -> dict:
    """Its configuration."""
    (text,) = [document["data"]["envoy.yaml"] for document in own if "envoy.yaml" in document.get("data", {})]
    return yaml.safe_load(text)["static_resources"]


@pytest.fixture(scope="module")
def panels() -> list[dict]:
    return json.loads(queries.DASHBOARD.read_text())["panels"]


def test_objects_are_what_the_apis_take() -> None:
    objects = queries.rendered(
        PODMONITOR,
        RULES,
        DASHBOARD,
        podMonitor={"enabled": True, "interval": "30s", "relabelings": [{"targetLabel": "a", "replacement": "b"}]},
        rules={"enabled": True},
        dashboard={"enabled": True},
    )
    assert sorted(each["kind"] for each in objects) == ["ConfigMap", "PodMonitor", "PrometheusRule"]
    of_the_operator = str(SCHEMAS / "operators" / "{{ .ResourceKind }}{{ .KindSuffix }}.json")
    of_kubernetes = str(SCHEMAS / "1.36" / "{{ .ResourceKind }}{{ .KindSuffix }}.json")
    places = ["-schema-location", of_kubernetes, "-schema-location", of_the_operator]
    done = subprocess.run(
        [KUBECONFORM, "-strict", "-summary", *places],
        input=yaml.safe_dump_all(objects),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 resources" in done.stdout
    assert "Skipped: 0" in done.stdout


def test_every_port_that_is_scraped_is_a_port_of_the_pod(pod: dict) -> None:
    (monitor,) = queries.rendered(PODMONITOR, podMonitor={"enabled": True})
    scraped = {endpoint["port"] for endpoint in monitor["spec"]["podMetricsEndpoints"]}
    ports = {port["name"] for part in pod["spec"]["initContainers"] for port in part.get("ports", [])}
    assert scraped == ports


def test_the_scrape_configuration_of_the_document_finds_these_ports(pod: dict, tmp_path: Path) -> None:
    document = (ROOT / "docs" / "guides" / "alerts.md").read_text()
    (text,) = re.findall(r"^```yaml\n(scrape_configs:.*?)^```", document, flags=re.MULTILINE | re.DOTALL)
    config = yaml.safe_load(text)
    (job,) = config["scrape_configs"]
    keep, *_ = job["relabel_configs"]
    ports = {port["name"] for part in pod["spec"]["initContainers"] for port in part.get("ports", [])}
    assert {port for port in ports if re.fullmatch(keep["regex"], port)} == ports
    assert {rule.get("target_label") for rule in job["relabel_configs"]} >= {"namespace", "pod", "container"}
    # Without the client of Kubernetes promtool knows no such way to find targets.
    assert job.pop("kubernetes_sd_configs") == [{"role": "pod"}]
    (tmp_path / "prometheus.yaml").write_text(yaml.safe_dump(config))
    queries.promtool("check", "config", "--syntax-only", "prometheus.yaml", folder=tmp_path)


def test_pods_that_are_scraped_are_told_by_labels_that_they_have(pod: dict) -> None:
    (monitor,) = queries.rendered(PODMONITOR, podMonitor={"enabled": True})
    assert monitor["spec"]["selector"]["matchLabels"].keys() <= pod["metadata"]["labels"].keys()


def test_parts_that_alerts_name_are_containers_of_the_pod(pod: dict) -> None:
    (rules,) = queries.rendered(RULES, rules={"enabled": True})
    named = re.findall(r'container=~"([^"]+)"', json.dumps(rules).replace('\\"', '"'))
    containers = [part["name"] for part in pod["spec"]["initContainers"] if part.get("ports")]
    assert named
    for pattern in named:
        assert all(re.fullmatch(pattern, container) for container in containers)


def test_the_dashboard_is_shipped_as_it_is() -> None:
    (config_map,) = queries.rendered(DASHBOARD, dashboard={"enabled": True})
    assert json.loads(config_map["data"]["fieldveil.json"]) == json.loads(queries.DASHBOARD.read_text())


def test_no_two_panels_stand_in_one_place(panels: list[dict]) -> None:
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= WIDTH, panel["title"]
        cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert not cells & taken, panel["title"]
        taken |= cells


def test_panels_are_told_apart_and_say_what_they_show(panels: list[dict]) -> None:
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert [panel["title"] for panel in panels if panel["type"] != "row" and not panel["description"]] == []


def test_every_panel_goes_by_the_choice_of_namespace_and_pod(panels: list[dict]) -> None:
    for target in (target for panel in panels if panel["type"] != "row" for target in panel["targets"]):
        for _, matchers in queries.SELECTOR.findall(target["expr"]):
            assert matchers.startswith('namespace=~"$namespace",pod=~"$pod"'), target["expr"]
        assert target["datasource"]["uid"] == "${datasource}"


def test_the_dashboard_counts_the_containers_whose_being_down_is_an_alert() -> None:
    alerts = (queries.CHART / "rules" / "availability.yaml").read_text()
    (down,) = re.findall(r'up\{\$\{selector\},container=~("[^"]+")\} == 0', alerts)
    assert [query.of for query in queries.of_dashboard() if f"container=~{down}" in query.expr] == [
        "Parts that do not answer"
    ]


def test_what_the_dashboard_leaves_out_is_what_leads_to_no_server(envoy: dict) -> None:
    """Its panels of servers and services speak of upstreams alone."""
    upstreams = {listener["name"] for listener in envoy["listeners"]} - {"metrics"}
    others = {cluster["name"] for cluster in envoy["clusters"]} - upstreams
    text = queries.DASHBOARD.read_text()
    assert {frozenset(names.split("|")) for names in re.findall(r'envoy_cluster_name!~\\"([^"\\]+)', text)} == {
        frozenset(others)
    }
    prefixes = set(re.findall(r'envoy_http_conn_manager_prefix!~\\"([^"\\]+)', text))
    assert prefixes == {"admin|metrics"}
    assert _stat_prefixes(envoy) == upstreams | {"metrics"}


def _stat_prefixes(of: object) -> set[str]:
    if isinstance(of, list):
        return set().union(*map(_stat_prefixes, of))
    if not isinstance(of, dict):
        return set()
    own = {of["stat_prefix"]} if "stat_prefix" in of else set()
    return own.union(*map(_stat_prefixes, of.values()))
