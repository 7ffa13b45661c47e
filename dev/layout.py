"""Where things are: one place for the folders that the tools and the harness share."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DEV = ROOT / "dev"
E2E = ROOT / "e2e"
LOADTESTS = ROOT / "loadtests"
TOOLS = ROOT / ".tools"
BIN = TOOLS / "bin"
VENV = TOOLS / "venv"
LOGS = TOOLS / "logs"
LOCKS = TOOLS / "locks"
STAMPS = TOOLS / "stamps"

# Kept per target directory: cargo's own lock serialises several builds into one.
CARGO_TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))

FILTER_WASM = TOOLS / "filter-postgres.wasm"
MYSQL_FILTER_WASM = TOOLS / "filter-mysql.wasm"
JSON_FILTER_WASM = TOOLS / "filter-json.wasm"
FILTER_NATIVE = TOOLS / "libfieldveil.so"
FIELDVEIL = BIN / "fieldveil"
TINK_TOOL = BIN / "tink-tool"
PGX_CLIENT = BIN / "pgx-client"
CLIENTS = E2E / "clients"
GO_CLIENTS = {name: BIN / f"client-{name}" for name in ("pgx", "pq", "gorm", "mysql")}
HTTP_CLIENTS = {name: BIN / f"client-{name}" for name in ("nethttp", "bodies")}
RUST_CLIENTS = {name: BIN / f"client-{name}" for name in ("tokio-postgres", "sqlx", "sqlx-mysql")}
JAVA_CLIENTS = TOOLS / "java"
TINK_JAVA = TOOLS / "tink-java"
NODE_CLIENTS = TOOLS / "node"
MYSQLCLIENT = "2.3.1"
MYSQLCLIENT_FOLDER = TOOLS / "mysqlclient"
MYSQLCLIENT_LIBRARY = MYSQLCLIENT_FOLDER / "library"
MYSQLCLIENT_PACKAGES = MYSQLCLIENT_FOLDER / "packages"
# The line that is the oldest tried, and a newer one.
MARIADB_VERSIONS = ("10.11.5", "11.4.5")
MARIADB = TOOLS / "mariadb"
DEBIAN_SERVERS = TOOLS / "debian"
# Those that take TLS after an SSLRequest alone.
OLDER_POSTGRES_VERSIONS = ("13", "14", "15", "16")
OLDER_POSTGRES = TOOLS / "older-postgres"
POSTGRES_REGRESSION = TOOLS / "postgres-regression"
POSTGRES_SUITE = POSTGRES_REGRESSION / "suite"
MARIADB_TEST = TOOLS / "mariadb-test"
MARIADB_SUITE = MARIADB_TEST / "usr" / "share" / "mysql" / "mysql-test"
OPA = BIN / "opa"
REGAL = BIN / "regal"
VAULT = BIN / "vault"
CHROMIUM = TOOLS / "chromium"
PLOTLY = TOOLS / "plotly-basic.min.js"
K6 = BIN / "k6"
SHOP_API = BIN / "shop-api"
BODYSTORE = BIN / "bodystore"
BENCH_SEALING = BIN / "bench-sealing"
# The same for tests, which time nothing: built with the Rust tests' own profile.
BENCH_SEALING_SMOKE = BIN / "bench-sealing-smoke"
BENCH_SEALING_WASM = TOOLS / "bench-sealing.wasm"
COUNT_INSTRUCTIONS = BIN / "count-instructions"
GROWTH = BIN / "growth"
VALGRIND = TOOLS / "valgrind"
VALGRIND_PROGRAM = VALGRIND / "usr" / "bin" / "valgrind.bin"
VALGRIND_LIBRARIES = VALGRIND / "usr" / "libexec" / "valgrind"
PG_PARSE = BIN / "pg-parse"
ANALYZE = BIN / "analyze"
HELM = BIN / "helm"
HELM_3 = BIN / "helm-3"
HELM_UNITTEST = BIN / "helm-unittest"
HELM_DOCS = BIN / "helm-docs"
KUBECONFORM = BIN / "kubeconform"
POD_SECURITY = BIN / "pod-security"
PROMTOOL = BIN / "promtool"
SCHEMAS = TOOLS / "schemas"
IMAGE_ARCHIVES = TOOLS / "images"
# What the command of `e2e/kubernetes/node` keeps.
CLUSTER_STATE = Path(os.environ.get("FIELDVEIL_CLUSTER_DIR", TOOLS / "cluster"))
CLUSTER_BIN = CLUSTER_STATE / "bin"

KEYS_MODULE = ROOT / "keys"
K6_MODULE = ROOT / "loadtests" / "k6"
FUZZ = ROOT / "filters" / "fuzz"
SHOP_API_MODULE = E2E / "services" / "shop-api"
POLICIES = ROOT / "policies"
DEPLOY = ROOT / "deploy"
CHARTS = ROOT / "charts"
CHARTS_MODULE = DEV / "tools" / "charts"
CLUSTER_FOLDER = E2E / "kubernetes" / "node"
CLUSTER = CLUSTER_FOLDER / "cluster"
ENVOY_TEMPLATE = DEPLOY / "envoy" / "postgres.yaml.j2"
ENVOY_MYSQL_TEMPLATE = DEPLOY / "envoy" / "mysql.yaml.j2"
ENVOY_HTTP_TEMPLATE = DEPLOY / "envoy" / "http.yaml.j2"
OPA_CONFIG = DEPLOY / "opa" / "opa.yaml"
