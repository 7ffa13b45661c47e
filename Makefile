# The one front door. `make help` lists the targets. CI runs .ci/run, which calls lint, test and fuzz.
# What is fetched or built for demo and tests goes to .tools/ and target/. Cargo, Go, pip, npm and Maven keep their own caches besides.

PYTHON ?= python3
SETUP   = $(PYTHON) dev/setup
SUITES  = $(PYTHON) dev/suites
# exec: a signal to make's child reaches Python, not a shell before it.
VENV_PYTHON = exec env PYTHONPATH=e2e:. .tools/venv/bin/python
LOADTESTS = $(VENV_PYTHON) -m loadtests

export PYTHONDONTWRITEBYTECODE = 1
# Whatever the locale: files are UTF-8, and so are paths, which Java would not find in the locale C.
export PYTHONUTF8 = 1
ifneq ($(filter C POSIX,$(LC_ALL)),)
export LC_ALL = C.UTF-8
endif

.DEFAULT_GOAL := help
.PHONY: help python demo policy-tools build setup test test-rust test-rego test-go test-keys test-policies test-json test-mysql test-tls test-native test-charts test-e2e interop instructions growth lint format loadtest loadtest-smoke loadtest-compare canary kills test-sqldiff test-compat fuzz e2e e2e-kubernetes soak charts-readme clean clean-all

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# The one prerequisite that set-up can't check itself.
python:
	@command -v $(PYTHON) >/dev/null 2>&1 || { echo "missing: Python 3.11 or newer, as $(PYTHON): https://www.python.org/downloads/" >&2; exit 1; }

demo: python ## show the main job, from a client's INSERT to the stored ciphertext (KEEP=1 leaves it running; POLICIES=DIR uses your policies; ENVOY_SHELL=native runs the filters natively)
	@$(SETUP) python filter keys $(if $(filter native,$(ENVOY_SHELL)),filter-native) $(if $(and $(shell command -v mvn),$(shell command -v javac)),mariadb)
	@$(VENV_PYTHON) e2e/demo.py $(if $(KEEP),--keep) $(if $(POLICIES),--policies "$(POLICIES)")

policy-tools: python ## build the tools for writing policies: .tools/bin/fieldveil and .tools/bin/opa
	@$(SETUP) keys

build: python ## build the filters and the key agent
	@$(SETUP) filter keys

setup: python ## fetch and build every tool that the other targets use
	@$(SETUP)

# Not in a cluster that somebody happens to work with: `make e2e-kubernetes` takes that.
test: python ## run every test: Rust, Rego, Go, charts, and end to end against the real parts, in a cluster too
	@env -u KUBECONFIG $(SUITES) test

test-rust: python ## run the Rust unit and property tests
	@$(SUITES) rust

instructions: python ## count the instructions that the filter executes, and compare them with filters/bench/instructions.json (WRITE=1 writes it)
	@$(if $(WRITE),$(SETUP) valgrind count-instructions && $(PYTHON) dev/instructions.py --write,$(SUITES) instructions)

growth: python ## find inputs whose cost grows faster than their length, for every parser (NUMBERS="7 12" shows single cases)
	@$(if $(NUMBERS),$(SETUP) valgrind count-growth && $(PYTHON) dev/growth.py --number $(NUMBERS),$(SUITES) growth)

test-sqldiff: python ## compare the analysis of SQL with PostgreSQL's own parser
	@$(SUITES) sqldiff

test-compat: python ## run the databases' own test suites with and without the sidecar, and compare (some 5 minutes; WRITE=1 writes e2e/compat/known)
	@$(if $(WRITE),COMPAT_WRITE=1 )$(SUITES) compat

fuzz: python ## fuzz every parser, and search for inputs that cost more than their length (FUZZ_SECONDS=60 each; FUZZ_TARGETS="sql growth" picks some)
	@$(SUITES) fuzz

test-rego: python ## run the tests of the policies
	@$(SUITES) rego

test-go: python ## run the tests of the key agent, the command and the load tests' extension
	@$(SUITES) go

test-keys: python ## run all tests of keys: those of Go, and end to end (PYTEST_ARGS="-k name" picks some of these)
	@$(SUITES) keys

test-policies: python ## run all tests of policies: Rego, Go, Rust, and end to end (PYTEST_ARGS="-k name" picks some of these)
	@$(SUITES) policies

test-json: python ## run all tests of JSON over HTTP: Rust, and end to end (PYTEST_ARGS="-k name" picks some of these)
	@$(SUITES) json

test-mysql: python ## run all tests of MySQL and MariaDB: Rust, and end to end (PYTEST_ARGS="-k name" picks some of these)
	@$(SUITES) mysql

test-tls: python ## run the tests of TLS with databases and their clients: of the bridge and of Envoy
	@$(SUITES) tls

test-native: python ## run the end-to-end tests on the native module (PYTEST_ARGS="-k name" picks some of these)
	@$(SUITES) native

test-charts: python ## run all tests of the Helm charts, without a cluster (PYTEST_ARGS="-k name" picks some; UPDATE_GOLDENS=1 writes what they render)
	@$(SUITES) charts

test-e2e: python ## run the end-to-end tests (PYTEST_ARGS="-k name" picks some)
	@$(SUITES) e2e

e2e: python ## run every driver and write docs/reference/drivers.md and docs/reference/mysql-drivers.md (CLIENTS="psql pgx" runs some and writes nothing)
	@$(SETUP) python filter keys go-clients rust-clients java-clients node-clients mariadb mysql mysqlclient
	@$(VENV_PYTHON) e2e/matrix $(CLIENTS)

interop: python ## let Tink's Go, Python and Java libraries read each other and write docs/reference/interop.md
	@$(SETUP) python filter keys pgx tink-java
	@$(VENV_PYTHON) -m interop

lint: python ## run the linters and format checks, and compare crates and documents with the code
	@$(SUITES) lint

format: python ## format Rust, Go, Rego and Python
	@$(SETUP) python keys toolchain
	cargo fmt --all
	cargo fmt --all --manifest-path filters/fuzz/Cargo.toml
	cargo fmt --all --manifest-path e2e/clients/rust/Cargo.toml
	gofmt -w keys loadtests/k6 e2e/clients/pgx e2e/clients/go e2e/clients/http e2e/services/shop-api e2e/sqldiff/parse dev/tools/charts e2e/kubernetes/node/modules
	.tools/bin/opa fmt --write policies
	.tools/venv/bin/ruff check --fix --quiet --no-cache dev e2e loadtests deploy
	.tools/venv/bin/ruff format --quiet --no-cache dev e2e loadtests deploy

loadtest: python ## measure latency and CPU, direct against proxied, and write a report (SUITE=oltp,rows SCALE=1 ROUNDS=3; some 35 minutes)
	@$(SETUP) python filter filter-native keys k6 plotly bench-sealing mariadb
	@$(LOADTESTS) run $(if $(SUITE),--suite "$(SUITE)") $(if $(SCALE),--scale "$(SCALE)") $(if $(ROUNDS),--rounds "$(ROUNDS)")

loadtest-smoke: python ## check every answer of every load test once, without timing (about a minute)
	@$(SUITES) loadtest-smoke

loadtest-compare: python ## show which differences between two runs exceed the noise: make loadtest-compare A.json B.json
	@$(SETUP) python
	@$(LOADTESTS) compare $(filter-out $@,$(MAKECMDGOALS))

# The words after loadtest-compare are files, which nothing makes.
%.json: ;

canary: python ## run random statements through the sidecar and against a plaintext database, compare them, and look for leaked values (SEED=1 COUNT=20000 DATABASE=mariadb)
	@$(SETUP) python filter keys mariadb mysql
	@$(VENV_PYTHON) -m canary $(if $(SEED),--seed $(SEED)) $(if $(COUNT),--count $(COUNT)) $(if $(DATABASE),--database $(DATABASE))

kills: python ## kill Envoy at random moments under load, and look for rows that are lost, wrong or stored in clear (SEED=1 KILLS=50 DATABASE=mariadb)
	@$(SETUP) python filter filter-native keys mariadb
	@$(VENV_PYTHON) -m kills $(if $(SEED),--seed $(SEED)) $(if $(KILLS),--kills $(KILLS)) $(if $(DATABASE),--database $(DATABASE))

e2e-kubernetes: python ## test the charts in the cluster of KUBECONFIG, or in one that it starts itself (root on Linux on amd64)
	@$(SUITES) kubernetes

soak: python ## run clients for MINUTES=10 and say whether the sidecar's memory and descriptors are flat
	@$(SETUP) python filter keys
	@$(VENV_PYTHON) e2e/soak.py $(if $(MINUTES),--minutes $(MINUTES))

charts-readme: python ## write the README of each chart from its values
	@$(SETUP) python chart-tools
	@$(VENV_PYTHON) -m dev.charts_readme

clean: ## remove what was built (target/, the built programs, modules and images)
	rm -rf target .tools/bin .tools/images .tools/*.wasm

# A cluster that was left running could not be ended without its files.
clean-all: clean ## remove the fetched tools too
	@[ ! -e .tools/cluster/run ] || e2e/kubernetes/node/cluster down
	rm -rf .tools
