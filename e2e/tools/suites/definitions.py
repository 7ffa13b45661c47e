"""What `make lint` and `make test` run."""

import os
import shlex
import sys

from tools.layout import E2E, KEYS_MODULE, OPA, POLICIES, REGAL, ROOT, VENV
from tools.suites.suite import Step, Suite, cargo, go, opa, pytest

REGAL_CONFIG = E2E / "tools" / "regal" / "config.yaml"
GO_MODULES = (KEYS_MODULE, E2E / "clients" / "pgx")
EVERYTHING = "."


def _check(name: str) -> Step:
    return Step([sys.executable, E2E / "tools" / "checks" / f"{name}.py"])


def _rustfmt() -> list[Step]:
    return [Step(["cargo", "fmt", "--all", "--check"])]


def _clippy() -> list[Step]:
    lint = ["cargo", "clippy", "--workspace", "--all-targets", "--locked"]
    return [Step([*lint, "--", "-D", "warnings"])]


def _python() -> list[Step]:
    ruff = VENV / "bin" / "ruff"
    return [Step([ruff, "check", "--no-cache", E2E]), Step([ruff, "format", "--no-cache", "--check", E2E])]


def _shell() -> list[Step]:
    return [Step(["bash", "-n", ROOT / ".ci" / "run"])]


def _gofmt() -> list[Step]:
    # gofmt lists what differs and still ends well.
    script = 'out=$(gofmt -l "$@") && echo "$out" && test -z "$out"'
    return [Step(["bash", "-c", script, "gofmt", *GO_MODULES])]


def _go_vet() -> list[Step]:
    return [Step(["go", "vet", "./..."], cwd=module) for module in GO_MODULES]


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


def _rego() -> list[Step]:
    # With --coverage OPA prints no results, so the tests run twice; they take a second.
    return [
        Step([OPA, "test", "--verbose", POLICIES], opa),
        Step([OPA, "test", "--coverage", "--threshold", "100", POLICIES]),
    ]


def _go() -> list[Step]:
    return [Step(["go", "test", "-race", "-json", "./..."], go, cwd=KEYS_MODULE)]


def _e2e() -> list[Step]:
    # Two at a time: each has a server, an OPA, an agent and an Envoy of its own.
    workers = os.environ.get("E2E_WORKERS", "2")
    command = [VENV / "bin" / "pytest", "-n", workers, "--dist", "loadfile", "-q", *_extra_arguments()]
    return [Step(command, pytest, cwd=E2E, show=EVERYTHING)]


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
        Suite("shell", "shell scripts parse", _shell),
        Suite("gofmt", "Go is formatted", _gofmt),
        Suite("go-vet", "Go's own lints", _go_vet),
        Suite("rego-lint", "Rego format, strict check against the schemas, Regal", _rego_lint),
        Suite("rust", "unit and property tests of the filter", _rust),
        Suite("rego", "tests of the policies, every line covered", _rego),
        Suite("go", "tests of the key agent and command, with the race detector", _go),
        Suite("e2e", "the filter in Envoy, against the real parts", _e2e),
    )
}

LINTS = ("rustfmt", "clippy", "layering", "doc-paths", "ruff", "shell", "gofmt", "go-vet", "rego-lint")
TESTS = ("rust", "rego", "go", "e2e")
GROUPS = {"lint": LINTS, "test": TESTS}
