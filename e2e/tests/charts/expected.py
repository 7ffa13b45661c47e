"""What Envoy's configuration should be for some values of the sidecar, by the templates in `deploy/envoy`.

The one place where the chart's words are put into the templates'.
"""

from pathlib import Path

import jinja2
import yaml

from dev.layout import DEPLOY, ENVOY_HTTP_TEMPLATE, ENVOY_MYSQL_TEMPLATE, ENVOY_TEMPLATE
from harness.parts import OPA_CONNECTIONS

TEMPLATES = {"postgres": ENVOY_TEMPLATE, "mysql": ENVOY_MYSQL_TEMPLATE, "http": ENVOY_HTTP_TEMPLATE}
MODULES = {"postgres": "filter-postgres.wasm", "mysql": "filter-mysql.wasm", "http": "filter-json.wasm"}
NATIVE_MODULE = "libfieldveil.so"
SECRET_TEMPLATE = DEPLOY / "envoy" / "secret.yaml.j2"
MODULES_FOLDER = "/opt/fieldveil/modules"
CONFIG_FOLDER = "/etc/fieldveil/config"
ADMIN = "/run/fieldveil/admin/admin.sock"
# Whoever may open the folder.
EVERYBODY = 0o666
ENVOYS_USER = 0o600


def bootstrap(values: dict) -> dict:
    """The whole configuration: of each protocol's template the listeners, in the order of the upstreams."""
    upstreams = values["upstreams"]
    of_protocol = {protocol: of_template(protocol, values) for protocol in TEMPLATES}
    used = [of_protocol[protocol] for protocol in TEMPLATES if any(up["protocol"] == protocol for up in upstreams)]
    # What is said of a part of the sidecar for HTTP goes for both.
    whole = used[-1]
    listeners = [named(of_protocol[up["protocol"]], "listeners", up["name"]) for up in upstreams]
    clusters = [named(of_protocol[up["protocol"]], "clusters", up["name"]) for up in upstreams]
    return {
        **whole,
        "static_resources": {
            "listeners": [*listeners, named(whole, "listeners", "metrics")],
            "clusters": [*clusters, *(named(whole, "clusters", name) for name in ("opa", "key_agent", "admin"))],
        },
    }


def named(config: dict, kind: str, name: str) -> dict:
    return next(one for one in config["static_resources"][kind] if one["name"] == name)


def of_template(protocol: str, values: dict) -> dict:
    upstreams = [up for up in values["upstreams"] if up["protocol"] == protocol]
    return render(
        TEMPLATES[protocol],
        listeners=[listener(up, values) for up in upstreams],
        clusters=[*(cluster(up) for up in upstreams), *PARTS],
        filter_wasm=f"{MODULES_FOLDER}/{MODULES[protocol]}",
        filter_module=f"{MODULES_FOLDER}/{NATIVE_MODULE}" if values["shell"] == "native" else "",
        admin_path=ADMIN,
        metrics={"address": values["metrics"]["address"], "port": 15020},
    )


def secrets(values: dict) -> dict[str, dict]:
    """The files with certificates, beside the configuration: by name, what each should say."""
    found = {}
    for up in values["upstreams"]:
        # What is the bridge's Envoy does not get.
        name, tls = up["name"], None if is_bridged(up) else up.get("tls")
        folder = f"/etc/fieldveil/upstreams/{name}"
        pairs = {"client": tls and tls.get("clientCertificate"), "server": up.get("http", {}).get("tls")}
        if tls:
            what = {"ca": "ca.crt", "server_name": tls.get("serverName") or up["host"]}
            found[f"{name}-ca.yaml"] = render(SECRET_TEMPLATE, name=f"{name}-ca", folder=folder, **what)
        for file in (file for file, pair in pairs.items() if pair):
            what = {"certificate": f"{file}.crt", "key": f"{file}.key"}
            found[f"{name}-{file}.yaml"] = render(SECRET_TEMPLATE, name=f"{name}-{file}", folder=folder, **what)
    return found


def render(template: Path, **parameters: object) -> dict:
    loader = jinja2.FileSystemLoader(template.parent)
    environment = jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined, autoescape=False)
    return yaml.load(environment.get_template(template.name).render(parameters), yaml.CSafeLoader)


def part(name: str, path: str, connections: int) -> dict:
    return {"name": name, "path": path, "tls": None, "connections": connections, "http2": False}


PARTS = (
    part("opa", "/run/fieldveil/opa/opa.sock", OPA_CONNECTIONS),
    part("key_agent", "/run/fieldveil/agent/agent.sock", 0),
)


def listener(upstream: dict, values: dict) -> dict:
    folder, http = f"/etc/fieldveil/upstreams/{upstream['name']}", upstream.get("http", {})
    return {
        "name": upstream["name"],
        "addresses": addresses(upstream),
        "proxy_protocol": takes_tls(upstream),
        "upstream": upstream["name"],
        "filter": filter_configuration(upstream, values),
        "tls": {"secrets": CONFIG_FOLDER} if http.get("tls", {}).get("secret") else None,
        "jwt": [
            {
                "name": issuer["name"],
                "issuer": issuer["issuer"],
                "audiences": issuer.get("audiences", []),
                "jwks": f"{folder}/jwks-{issuer['name']}.json",
                "payload": "claims",
            }
            for issuer in http.get("identity", {}).get("jwt", [])
        ],
        "token_required": http.get("tokenRequired", False),
        "authority": http.get("authority", ""),
    }


def addresses(upstream: dict) -> list[dict]:
    told = upstream["listener"]
    if takes_tls(upstream):
        return [{"path": f"/run/fieldveil/bridges/{upstream['name']}.clients.sock", "mode": ENVOYS_USER}]
    port = told.get("port", 0)
    protocol = upstream["protocol"]
    file = f".s.PGSQL.{port or 5432}" if protocol == "postgres" else f"{protocol}.sock"
    tcp = {"path": "", "address": told.get("address", "127.0.0.1"), "port": port}
    socket = {"path": f"/run/fieldveil/sockets/{upstream['name']}/{file}", "mode": EVERYBODY}
    return [tcp] * (port != 0) + [socket] * told.get("socket", False)


def filter_configuration(upstream: dict, values: dict) -> dict:
    workload = {"from": "environment"}
    if values["identity"]["spiffe"]["enabled"]:
        workload["spiffe_id_from"] = "key_agent"
    config = {
        "listener": upstream["name"],
        "workload": workload,
        "policy": {"cluster": "opa", "path": "/v1/data/fieldveil/plan", "timeout_ms": 1000},
        "keys": {
            "cluster": "key_agent",
            "path": "/v1/keysets",
            "timeout_ms": 1000,
            "refresh_seconds": 5,
            "max_stale_seconds": 600,
        },
        "audit": {"interval_seconds": values["audit"]["intervalSeconds"]},
    }
    if "limits" in upstream:
        config["limits"] = upstream["limits"]
    if upstream["protocol"] == "http":
        config["http"] = http_configuration(upstream["http"])
    return config


def http_configuration(http: dict) -> dict:
    told = http.get("identity", {})
    words = {"user_header": told.get("userHeader"), "purpose_header": told.get("purposeHeader")}
    identity = {"headers": told.get("headers", []), **{name: word for name, word in words.items() if word}}
    if told.get("jwt"):
        identity["jwt_payload"] = "claims"
    if told.get("claimsLeftOut"):
        identity["claims_left_out"] = told["claimsLeftOut"]
    limits = {"limits": http["limits"]} if "limits" in http else {}
    return {"service": http["service"], "identity": identity, **limits}


def cluster(upstream: dict) -> dict:
    if is_bridged(upstream):
        path = f"/run/fieldveil/bridges/{upstream['name']}.sock"
        return part(upstream["name"], path, upstream.get("connections", 0))
    return {
        "name": upstream["name"],
        "path": "",
        "address": upstream["host"],
        "port": upstream["port"],
        "connections": upstream.get("connections", 0),
        "http2": upstream.get("http", {}).get("http2", False),
        "tls": client_tls(upstream) if "tls" in upstream else None,
    }


def is_bridged(upstream: dict) -> bool:
    return upstream.get("tls", {}).get("by") == "bridge"


def takes_tls(upstream: dict) -> bool:
    return "tls" in upstream["listener"]


def client_tls(upstream: dict) -> dict:
    told = upstream["tls"]
    return {
        "secrets": CONFIG_FOLDER,
        "server_name": told.get("serverName") or upstream["host"],
        "certificate": bool(told.get("clientCertificate", {}).get("secret")),
        "ssl_request": told.get("by") == "filter",
    }
