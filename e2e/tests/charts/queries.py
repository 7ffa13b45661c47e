"""What dashboard and alerts ask of Prometheus: their queries, and the metrics and labels in each."""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import yaml

from dev.layout import CHARTS, HELM, PROMTOOL

CHART = CHARTS / "fieldveil"
DASHBOARD = CHART / "dashboards" / "fieldveil.json"
RULES = ("availability", "bridge", "data", "keys", "policy")
# What the alerts' tests are written for.
NAMESPACE = "shop"
# The least that the chart renders with.
VALUES = {
    "sidecar": {
        "upstreams": [
            {"name": "orders-db", "protocol": "postgres", "host": "db", "port": 5432, "listener": {"port": 15432}}
        ],
        "policies": {"configMap": "policies", "verification": {"configMap": "policy-key"}},
        "keys": {
            "keysets": {"secret": "keysets"},
            "kekUri": "hcvault:///transit/keys/fieldveil",
            "vault": {"address": "https://vault.example.com", "role": "shop"},
        },
    },
    "injection": {"enabled": False},
}
# What Grafana puts in.
VARIABLES = {"$__rate_interval": "5m", "$__range": "10m", "$namespace": NAMESPACE, "$pod": ".+"}
SELECTOR = re.compile(r"([a-zA-Z_:][\w:]*)\{([^}]*)\}")
MATCHER = re.compile(r'([a-zA-Z_]\w*)(?:=~|!~|!=|=)"')
GROUPING = re.compile(r"\bby \(([^)]*)\)")


@dataclass(frozen=True)
class Query:
    # Which alert or panel.
    of: str
    expr: str
    # How a panel names a series.
    legend: str = ""

    @property
    def asked(self) -> dict[str, set[str]]:
        """By metric the labels by which its series are picked."""
        found: dict[str, set[str]] = {}
        for metric, matchers in SELECTOR.findall(self.expr):
            found.setdefault(metric, set()).update(MATCHER.findall(matchers))
        return found

    @property
    def shown(self) -> set[str]:
        """Labels that it groups by, or that its legend names."""
        grouped = {name for names in GROUPING.findall(self.expr) for name in re.split(r"[,\s]+", names)}
        return grouped | set(re.findall(r"\{\{(\w+)\}\}", self.legend))

    @property
    def words(self) -> set[str]:
        """Of PromQL, beside selectors: a metric without braces would stand here."""
        rest = GROUPING.sub(" ", re.sub(r"\[[^]]*\]|\boffset \w+", " ", SELECTOR.sub(" ", self.expr)))
        return set(re.findall(r"[a-zA-Z_]\w*", re.sub(r"\b\d+(e\d+)?\b", " ", rest)))


def rendered(*templates: str, **monitoring: dict) -> list[dict]:
    """Objects of the chart's `templates/monitoring`."""
    values = json.dumps(VALUES | {"monitoring": monitoring})
    shown = [word for name in templates for word in ("--show-only", f"templates/monitoring/{name}.yaml")]
    command = [HELM, "template", "fieldveil", CHART, "--namespace", NAMESPACE, "--values", "-", *shown]
    done = subprocess.run(command, input=values, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [document for document in yaml.safe_load_all(done.stdout) if document]


def alerts_file(folder: Path) -> Path:
    """The alerts as Prometheus reads them."""
    (config_map,) = rendered("rules", rules={"enabled": True, "kind": "ConfigMap"})
    path = folder / "rules.yaml"
    path.write_text(config_map["data"]["fieldveil-alerts.yaml"])
    return path


def alerts(file: Path) -> list[dict]:
    return [rule for group in yaml.safe_load(file.read_text())["groups"] for rule in group["rules"]]


def panels() -> list[dict]:
    return [panel for panel in json.loads(DASHBOARD.read_text())["panels"] if panel["type"] != "row"]


def of_dashboard() -> list[Query]:
    """Of its panels, and of its variables; what Grafana puts in is put in."""
    found = [
        Query(panel["title"], _put_in(target["expr"]), target["legendFormat"])
        for panel in panels()
        for target in panel["targets"]
    ]
    for variable in json.loads(DASHBOARD.read_text())["templating"]["list"]:
        if variable["type"] == "query":
            asks = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"]["query"])
            selector = asks[1] if "{" in asks[1] else f"{asks[1]}{{}}"
            found.append(Query(f"variable {variable['name']}", f"count by ({asks[2]}) ({_put_in(selector)})"))
    return found


def promtool(*words: str | Path, folder: Path) -> str:
    """What it says; with all of it where it ends badly."""
    done = subprocess.run([PROMTOOL, *words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"promtool {' '.join(map(str, words))}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def _put_in(expr: str) -> str:
    for name, value in VARIABLES.items():
        expr = expr.replace(name, value)
    assert "$" not in expr, expr
    return expr
