"""What `make lint` and `make test` run."""

import os
import shlex
import sys
from pathlib import Path

from tools.layout import (
    CARGO_TARGET,
    CHARTS,
    CHARTS_MODULE,
    CLIENTS,
    CLUSTER_FOLDER,
    DEPLOY,
    E2E,
    FUZZ,
    HELM,
    HELM_UNITTEST,
    K6_MODULE,
    KEYS_MODULE,
    LOADTESTS,
    OPA,
    POLICIES,
    REGAL,
    ROOT,
    SHOP_API_MODULE,
    VENV,
)
from tools.suites.suite import Step, Suite, cargo, checks, go, opa, pytest, unittest

REGAL_CONFIG = E2E / "tools" / "regal" / "config.yaml"
GO_MODULES = (
    KEYS_MODULE,
    POLICIES,
    K6_MODULE,
    CLIENTS / "pgx",
    CLIENTS / "go",
    CLIENTS / "http",
    SHOP_API_MODULE,
    E2E / "sqldiff" / "parse",
    CHARTS_MODULE,
)
TESTED_GO_MODULES = (KEYS_MODULE, K6_MODULE, SHOP_API_MODULE)
FUZZ_WORKSPACE = ("--manifest-path", FUZZ / "Cargo.toml")
FUZZ_TARGET = (*FUZZ_WORKSPACE, "--target-dir", CARGO_TARGET)
EVERYTHING = "."
# As OPA loads it beside policies of one's own.
LIBRARY = (POLICIES / "fieldveil", f"schemas:{POLICIES / 'schemas'}")


def _check(name: str) -> Step:
    return Step([sys.executable, E2E / "tools" / "checks" / f"{name}.py"])


def _rustfmt() -> list[Step]:
    check = ["cargo", "fmt", "--all", "--check"]
    return [Step(check, cwd=folder) for folder in (ROOT, FUZZ, CLIENTS / "rust")]


def _clippy() -> list[Step]:
    lint = ["cargo", "clippy", "--workspace", "--all-targets", "--locked"]
    return [Step([*lint, *workspace, "--", "-D", "warnings"]) for workspace in ((), FUZZ_TARGET)]


def _python() -> list[Step]:
    ruff = VENV / "bin" / "ruff"
    folders = (E2E, LOADTESTS, DEPLOY)
    return [Step([ruff, "check", "--no-cache", *folders]), Step([ruff, "format", "--no-cache", "--check", *folders])]


def _shell() -> list[Step]:
    scripts = [
        ROOT / ".ci" / "run",
        *(CLUSTER_FOLDER / name for name in ("cluster", "lib/node-init")),
        *(DEPLOY / "images" / name for name in ("assemble", "build-command", "version")),
        E2E / "images" / "postgres-entrypoint",
    ]
    return [Step([VENV / "bin" / "shellcheck", "--check-sourced", *scripts])]


def _gofmt() -> list[Step]:
    # gofmt lists what differs and still ends well.
    script = 'out=$(gofmt -l "$@") && echo "$out" && test -z "$out"'
    return [Step(["bash", "-c", script, "gofmt", *GO_MODULES, CLUSTER_FOLDER / "modules"])]


def _go_vet() -> list[Step]:
    # With the flag that the set-up builds with, so that what it compiled serves here too.
    return [Step(["go", "vet", "-trimpath", "./..."], cwd=module) for module in GO_MODULES]


def _rego_lint() -> list[Step]:
    return [
        Step([OPA, "fmt", "--list", "--fail", POLICIES]),
        Step([OPA, "check", "--strict", "--schema", POLICIES / "schemas", POLICIES]),
        Step([REGAL, "lint", "--config-file", REGAL_CONFIG, POLICIES]),
    ]


def _rust() -> list[Step]:
    return [
        Step(["cargo", "test", "--workspace", "--locked"], cargo, show=r"^test .*FAILED|^test result|^error|panicked")
    ]


def _fuzz_corpus() -> list[Step]:
    test = ["cargo", "test", "--workspace", "--locked", *FUZZ_TARGET]
    return [Step(test, cargo, show=r"^test .*FAILED|^test result|^error|panicked")]


def _fuzz() -> list[Step]:
    return [Step([sys.executable, E2E / "tools" / "fuzz.py"], checks, show=EVERYTHING)]


def _instructions() -> list[Step]:
    return [Step([sys.executable, E2E / "tools" / "instructions.py"], checks, show=EVERYTHING)]


def _growth() -> list[Step]:
    return [Step([sys.executable, E2E / "tools" / "growth.py"], checks, show=EVERYTHING)]


def _sqldiff() -> list[Step]:
    return [
        Step([VENV / "bin" / "pytest", "-q", "-s", "sqldiff"], pytest, cwd=E2E, show=r"^\d+ texts|^DISAGREED|^FAILED")
    ]


def _rego() -> list[Step]:
    # With --coverage OPA prints no results, so the tests run twice; they take seconds. A test has more than OPA's five,
    # for where other things run too.
    test = [OPA, "test", "--timeout", "60s"]
    return [
        Step([*test, "--verbose", "--ignore", "starter", POLICIES], opa),
        Step([*test, "--coverage", "--threshold", "100", "--ignore", "starter", POLICIES]),
        # What one copies to begin with is a root of its own, beside the library.
        Step([*test, "--verbose", "--run", r"^data\.starter_test", *LIBRARY, POLICIES / "starter"], opa),
    ]


def _go() -> list[Step]:
    return [_go_test(module, "./...") for module in TESTED_GO_MODULES]


def _go_test(module: Path, *words: str) -> Step:
    # Go ends a package after ten minutes, which the race detector on a busy machine can take.
    command = ["go", "test", "-race", "-json", "-timeout", "30m", *words]
    return Step(command, go, cwd=module, show=r'"Action":"fail"|--- FAIL|_test\.go:\d+: |panic: ')


# Of the module and of its command what policies are about.
POLICY_PACKAGES = (("./internal/policy/...",), ("-run", "Policy", "./internal/cli"))


def _policies_go() -> list[Step]:
    return [_go_test(KEYS_MODULE, *words) for words in POLICY_PACKAGES]


def _policies_rust() -> list[Step]:
    command = ["cargo", "test", "--locked", "-p", "fieldveil-plan"]
    return [Step(command, cargo, show=r"^test .*FAILED|^test result|^error|panicked")]


def _json_rust() -> list[Step]:
    test = ["cargo", "test", "--locked"]
    of_bodies = [*test, "-p", "fieldveil-json-stream"]
    of_exchanges = [*test, "-p", "fieldveil-engine", "--test", "http_*"]
    of_the_parts = [*test, "-p", "fieldveil-engine", "--lib", "http::"]
    show = r"^test .*FAILED|^test result|^error|panicked"
    return [Step(command, cargo, show=show) for command in (of_bodies, of_exchanges, of_the_parts)]


def _mysql_rust() -> list[Step]:
    test = ["cargo", "test", "--locked"]
    of_messages = [*test, "-p", "fieldveil-mysql-wire"]
    # What its statements, values and sessions are, in the crates that know the other databases too.
    of_the_parts = [[*test, "-p", f"fieldveil-{crate}", "mysql"] for crate in ("sql", "values", "engine")]
    show = r"^test .*FAILED|^test result|^error|panicked"
    return [Step(command, cargo, show=show) for command in (of_messages, *of_the_parts)]


def _e2e(*tests: str) -> list[Step]:
    # Two at a time: each has a server, an OPA, an agent and an Envoy of its own.
    workers = os.environ.get("E2E_WORKERS", "2")
    command = [VENV / "bin" / "pytest", "-n", workers, "--dist", "loadfile", "-q", *tests, *_extra_arguments()]
    return [Step(command, pytest, cwd=E2E, show=EVERYTHING)]


# Values with which the application chart is whole.
CHART_VALUES = ("http", "several", "everything")


def _charts() -> list[Step]:
    chart, own = CHARTS / "fieldveil", CHARTS / "testdata" / "own-deployment"
    lint = [HELM, "lint", "--strict", "--quiet", "--kube-version", "1.36.3"]
    values = [CHARTS / "testdata" / "values" / f"{name}.yaml" for name in CHART_VALUES]
    lints = [[*lint, chart, "--values", file] for file in values]
    lints += [[*lint, chart / "charts" / "fieldveil-sidecar"], [*lint, own]]
    # Two at a time, as end to end: most of it is Helm, which renders in a process of its own.
    # A file at a time: one starts both sidecars.
    workers = os.environ.get("E2E_WORKERS", "2")
    pytests = [VENV / "bin" / "pytest", "-n", workers, "--dist", "loadfile", "-q", "tests/charts"]
    return [
        *(Step(words) for words in lints),
        Step([HELM_UNITTEST, "--strict", chart, own], unittest, show=r"^\s*FAIL|^\t- |^Tests:"),
        Step([*pytests, *_extra_arguments()], pytest, cwd=E2E, show=EVERYTHING),
    ]


def _kubernetes() -> list[Step]:
    command = [VENV / "bin" / "python", "-m", "kubernetes", *_extra_arguments()]
    return [Step(["env", f"PYTHONPATH={E2E}", *command], pytest, show=EVERYTHING)]


def _loadtest_smoke() -> list[Step]:
    command = [VENV / "bin" / "python", "-m", "loadtests", "smoke"]
    environment = ["env", f"PYTHONPATH={E2E}:{ROOT}"]
    return [Step([*environment, *command], checks, show=r"^[\w-]+: |WRONG|k6 \||^\w+Error")]


def _loadtests() -> list[Step]:
    return [Step([VENV / "bin" / "pytest", "-q", *_extra_arguments()], pytest, cwd=LOADTESTS, show=EVERYTHING)]


def _extra_arguments() -> list[str]:
    return shlex.split(os.environ.get("PYTEST_ARGS", ""))


SUITES = {
    suite.name: suite
    for suite in (
        Suite("rustfmt", "Rust is formatted", _rustfmt),
        Suite("clippy", "Rust lints, warnings refused", _clippy),
        Suite("layering", "the arrows between crates point down only", lambda: [_check("layering")]),
        Suite("doc-paths", "every path that the documents name exists", lambda: [_check("doc_paths")]),
        Suite("ruff", "Python lints and format", _python),
        Suite("shell", "shell scripts, by ShellCheck", _shell),
        Suite("gofmt", "Go is formatted", _gofmt),
        Suite("go-vet", "Go's own lints", _go_vet),
        Suite("rego-lint", "Rego format, strict check against the schemas, Regal", _rego_lint),
        Suite("rust", "unit and property tests of the filter", _rust),
        Suite("instructions", "no more instructions than before", _instructions),
        Suite("growth", "no input costs more than its length", _growth),
        Suite("fuzz-corpus", "what fuzzing found worth keeping, run again", _fuzz_corpus),
        Suite("fuzz", "every parser under libFuzzer", _fuzz),
        Suite(
            "sqldiff",
            "the analysis of statements against the servers and PostgreSQL's parser",
            _sqldiff,
        ),
        Suite("rego", "tests of the policies, every line covered", _rego),
        Suite(
            "go",
            "tests of key agent, command, load tests' extension and JSON service, with the race detector",
            _go,
        ),
        Suite("keys-e2e", "the end-to-end tests of keys", lambda: _e2e("tests/keys")),
        Suite("policies-go", "the Go tests of policies", _policies_go),
        Suite("policies-rust", "the filter reads the contract files as the library does", _policies_rust),
        Suite("policies-e2e", "the end-to-end tests of policies", lambda: _e2e("tests/policies")),
        Suite("json-rust", "the Rust tests of JSON over HTTP", _json_rust),
        Suite("json-e2e", "the end-to-end tests of JSON over HTTP", lambda: _e2e("tests/http")),
        Suite("mysql-rust", "the Rust tests of MySQL and MariaDB", _mysql_rust),
        Suite("mysql-e2e", "the end-to-end tests of MySQL and MariaDB", lambda: _e2e("tests/mysql")),
        Suite("loadtest-smoke", "every answer of the load tests, at every target", _loadtest_smoke),
        Suite("loadtests", "the load tests' own parts: no load, no timing", _loadtests),
        Suite("charts", "lints, unit tests and renderings of the Helm charts, without a cluster", _charts),
        # The charts have a suite of their own, and so has a cluster.
        Suite(
            "e2e",
            "the filter in Envoy, against the real parts",
            lambda: _e2e("--ignore=tests/charts", "--ignore=tests/kubernetes"),
        ),
        Suite("kubernetes", "the sidecar in a Kubernetes cluster, as the chart installs it", _kubernetes),
    )
}

LINTS = ("rustfmt", "clippy", "layering", "doc-paths", "ruff", "shell", "gofmt", "go-vet", "rego-lint")
TESTS = (
    *("rust", "instructions", "growth", "fuzz-corpus", "sqldiff", "rego", "go"),
    *("loadtests", "loadtest-smoke", "charts", "e2e", "kubernetes"),
)
# The e2e tests of keys, of policies, of JSON and of MySQL are folders of their own, so that none is forgotten here.
KEYS = ("go", "keys-e2e")
# Each is a part of a suite of TESTS, or one.
POLICY = ("rego", "policies-go", "policies-rust", "policies-e2e")
JSON = ("json-rust", "json-e2e")
MYSQL = ("mysql-rust", "mysql-e2e")
GROUPS = {"lint": LINTS, "test": TESTS, "keys": KEYS, "policies": POLICY, "json": JSON, "mysql": MYSQL}
