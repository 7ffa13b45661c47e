"""The commands of each suite, and how the output of each is read."""

import os
import shlex
import sys
from dataclasses import replace
from pathlib import Path

from dev.layout import (
    CARGO_TARGET,
    CHARTS,
    CHARTS_MODULE,
    CLIENTS,
    CLUSTER_FOLDER,
    DEPLOY,
    DEV,
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
    VALGRIND_LIBRARIES,
    VALGRIND_PROGRAM,
    VENV,
)
from dev.setup.building import GO_COMPILES, GO_ENVIRONMENT, QUICKER
from dev.suites import formats
from dev.suites.suite import EVERYTHING, Step

REGAL_CONFIG = DEV / "tools" / "regal" / "config.yaml"
VAULT_MODULE = DEV / "tools" / "vault"
# The one with C in it.
PG_PARSE_MODULE = E2E / "sqldiff" / "parse"
GO_MODULES = (
    KEYS_MODULE,
    POLICIES,
    K6_MODULE,
    CLIENTS / "pgx",
    CLIENTS / "go",
    CLIENTS / "http",
    SHOP_API_MODULE,
    PG_PARSE_MODULE,
    CHARTS_MODULE,
    VAULT_MODULE,
)
BUILT_QUICKER = (CHARTS_MODULE, VAULT_MODULE)
TESTED_GO_MODULES = (KEYS_MODULE, K6_MODULE, SHOP_API_MODULE)
FUZZ_WORKSPACE = ("--manifest-path", FUZZ / "Cargo.toml")
FUZZ_TARGET = (*FUZZ_WORKSPACE, "--target-dir", CARGO_TARGET)
# As OPA loads it beside policies of one's own.
LIBRARY = (POLICIES / "fieldveil", f"schemas:{POLICIES / 'schemas'}")


# Memory that is used though it was given back, or never was there. What is not given back at the end does no harm.
VALGRIND_OPTIONS = ("--quiet", "--leak-check=no", "--error-exitcode=1")
# A test that reads all memory of its process, which is much with Valgrind in it, and takes minutes.
SEARCHES_ALL_MEMORY = "keys_of_the_agent"
CARGO_SHOWS = r"^test .*FAILED|^test result|^error|panicked"
OPA_ALONE = ".tools/bin/opa test --verbose --ignore starter policies --run '^{name}$'"


def check(name: str) -> Step:
    return Step([sys.executable, DEV / "checks" / f"{name}.py"])


def rustfmt() -> list[Step]:
    check = ["cargo", "fmt", "--all", "--check"]
    return [Step(check, cwd=folder) for folder in (ROOT, FUZZ, CLIENTS / "rust")]


def clippy() -> list[Step]:
    lint = ["cargo", "clippy", "--workspace", "--all-targets", "--locked"]
    return [Step([*lint, *workspace, "--", "-D", "warnings"]) for workspace in ((), FUZZ_TARGET)]


def python() -> list[Step]:
    ruff = VENV / "bin" / "ruff"
    folders = (DEV, E2E, LOADTESTS, DEPLOY)
    return [Step([ruff, "check", "--no-cache", *folders]), Step([ruff, "format", "--no-cache", "--check", *folders])]


def shell() -> list[Step]:
    scripts = [
        ROOT / ".ci" / "run",
        *(CLUSTER_FOLDER / name for name in ("cluster", "lib/node-init")),
        *(DEPLOY / "images" / name for name in ("assemble", "build-command", "build-native", "version")),
        E2E / "kubernetes" / "images" / "postgres-entrypoint",
    ]
    return [Step([VENV / "bin" / "shellcheck", "--check-sourced", *scripts])]


def gofmt() -> list[Step]:
    # gofmt lists what differs and still ends well.
    script = 'out=$(gofmt -l "$@") && echo "$out" && test -z "$out"'
    return [Step(["bash", "-c", script, "gofmt", *GO_MODULES, CLUSTER_FOLDER / "modules"])]


def go_vet() -> list[Step]:
    return [_go_vet(module) for module in GO_MODULES]


def _go_vet(module: Path) -> Step:
    # As set-up builds, so that what it compiled serves here too.
    quicker = QUICKER if module in BUILT_QUICKER else ()
    vet = ["go", "vet", *GO_COMPILES, *quicker, "./..."]
    environment = {} if module == PG_PARSE_MODULE else GO_ENVIRONMENT
    return Step(["env", *(f"{name}={value}" for name, value in environment.items()), *vet], cwd=module)


def rego_lint() -> list[Step]:
    return [
        Step([OPA, "fmt", "--list", "--fail", POLICIES]),
        Step([OPA, "check", "--strict", "--schema", POLICIES / "schemas", POLICIES]),
        Step([REGAL, "lint", "--config-file", REGAL_CONFIG, POLICIES]),
    ]


def rust() -> list[Step]:
    return [_cargo_test("--workspace"), *_under_valgrind()]


def _under_valgrind() -> list[Step]:
    """The tests of the native module, which has unsafe code of ours: what uses memory that it must not use fails."""
    if not VALGRIND_PROGRAM.exists():
        return []
    runner = f"CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER={VALGRIND_PROGRAM} {' '.join(VALGRIND_OPTIONS)}"
    tests = _cargo_test("-p", "filter-native", "-p", "fieldveil-native", "--", "--skip", SEARCHES_ALL_MEMORY)
    environment = ["env", f"VALGRIND_LIB={VALGRIND_LIBRARIES}", runner]
    return [
        replace(
            tests,
            command=[*environment, *tests.command],
            alone="cargo test -p filter-native -p fieldveil-native {name}",
        )
    ]


def _cargo_test(*words: str | Path) -> Step:
    # The tests of all crates run, whatever fails in one.
    test = ["cargo", "test", "--locked", "--no-fail-fast", *words]
    return Step(test, formats.CARGO, show=CARGO_SHOWS, alone=f"{_typed(test)} {{name}} -- --exact")


def fuzz_corpus() -> list[Step]:
    return [_cargo_test("--workspace", *FUZZ_TARGET)]


def fuzz() -> list[Step]:
    return [_measuring("fuzz")]


def instructions() -> list[Step]:
    return [_measuring("instructions")]


def growth() -> list[Step]:
    return [_measuring("growth")]


def _measuring(name: str) -> Step:
    return Step([sys.executable, DEV / f"{name}.py"], formats.CHECKS, show=EVERYTHING)


def sqldiff() -> list[Step]:
    return [_pytest(E2E, "-s", "sqldiff", show=r"^\d+ texts|^DISAGREED|^FAILED")]


def rego() -> list[Step]:
    # With --coverage OPA prints no results, so the tests run twice. A test has more than OPA's five seconds, which is
    # for a test that hangs: where both cores do other things too, the longest has been seen to take a minute.
    # With less garbage collection they take a fifth less of the processor.
    test = ["env", "GOGC=400", OPA, "test", "--timeout", "10m"]
    # Not --verbose, with which OPA traces every test and takes seven times as long.
    listed = [*test, "--format", "json"]
    return [
        Step([*listed, "--ignore", "starter", POLICIES], formats.OPA, alone=OPA_ALONE),
        Step([*test, "--coverage", "--threshold", "100", "--ignore", "starter", POLICIES]),
        # What one copies to begin with is a root of its own, beside the library.
        Step([*listed, "--run", r"^data\.starter_test", *LIBRARY, POLICIES / "starter"], formats.OPA),
    ]


def go() -> list[Step]:
    return [_go_test(module, "./...") for module in TESTED_GO_MODULES]


def _go_test(module: Path, *words: str) -> Step:
    # Go ends a package after ten minutes, which the race detector on a busy machine can take. A quarter less to compile
    # without what a debugger reads, and without the lints that go-vet runs.
    quicker = ("-vet=off", "-gcflags=all=-dwarf=false")
    command = ["go", "test", "-race", "-json", "-timeout", "30m", *quicker, *words]
    show = r'"Action":"fail"|--- FAIL|_test\.go:\d+: |panic: '
    alone = f"cd {module.relative_to(ROOT)} && go test -race {{name}}"
    return Step(command, formats.GO, cwd=module, show=show, alone=alone)


def policies_go() -> list[Step]:
    return [_go_test(KEYS_MODULE, "./internal/policy/...", "./internal/cli/policy")]


# What is about TLS with servers and with clients.
TLS_E2E = (
    *(f"tests/test_{name}.py" for name in ("tls", "bridge", "bridge_clients", "bridge_drivers", "bridge_older")),
    *(f"tests/mysql/test_{name}.py" for name in ("tls", "bridge", "bridge_clients", "bridge_drivers")),
)


def tls_go() -> list[Step]:
    return [_go_test(KEYS_MODULE, "./internal/bridge/...", "./internal/cli/bridge")]


def policies_rust() -> list[Step]:
    return [_cargo_test("-p", "fieldveil-plan")]


def json_rust() -> list[Step]:
    return [
        _cargo_test("-p", "fieldveil-json-stream"),
        _cargo_test("-p", "fieldveil-engine", "--test", "http*"),
        _cargo_test("-p", "fieldveil-engine", "--lib", "http::"),
    ]


def mysql_rust() -> list[Step]:
    # What its statements, values and sessions are, in the crates that know the other databases too.
    of_the_parts = (_cargo_test("-p", f"fieldveil-{crate}", "mysql") for crate in ("sql", "values", "engine"))
    of_sessions = _cargo_test("-p", "fieldveil-engine", "--test", "mysql*")
    return [_cargo_test("-p", "fieldveil-mysql-wire"), *of_the_parts, of_sessions]


def e2e(*tests: str) -> list[Step]:
    # A file at a time for each of two workers: each has a server, an OPA, an agent and an Envoy of its own.
    return [_pytest(E2E, "-n", _workers(), "--dist", "loadfile", *tests)]


# What reads bytes, waits, shares and ends: where one shell could do otherwise than the other.
NATIVE_E2E = (
    *(
        f"tests/test_{name}.py"
        for name in ("native", "native_statistics", "round_trip", "prepared", "copy", "bulk", "outages", "pools")
    ),
    *(f"tests/test_{name}.py" for name in ("last_word", "malformed", "memory", "bridge_clients", "canary")),
    *(f"tests/test_{name}.py" for name in ("kills", "hot_restart", "no_memory")),
    *(f"tests/test_native_tls_{name}.py" for name in ("clients", "servers", "older")),
    *(
        f"tests/mysql/test_{name}.py"
        for name in ("round_trip", "prepared", "load", "outages", "authentication", "kills", "native_tls")
    ),
    *(
        f"tests/http/test_{name}.py"
        for name in ("native", "gateway", "both_ways", "heads", "leaks", "outages", "problems", "streams")
    ),
)


# Of policies and keys: what waits, counts, is told of Envoy's surroundings or traps. The rest is about the policy, the
# keys and the command, which know no shell: `make test` runs it on the native module alone, which is ready at once.
WASM_E2E = (
    *(f"tests/policies/test_{name}.py" for name in ("audit", "budgets", "flip", "floods", "opa_outages", "workload")),
    *(f"tests/keys/test_{name}.py" for name in ("agent", "rotation", "rotation_prepared", "table_traps")),
)


def native_e2e(*tests: str) -> list[Step]:
    """The same tests on the native shell."""
    return [_native(step) for step in e2e(*tests)]


def _native(step: Step) -> Step:
    alone = step.alone.replace("../.tools", "ENVOY_SHELL=native ../.tools")
    return replace(step, command=["env", "ENVOY_SHELL=native", *step.command], alone=alone)


def _pytest(folder: Path, *words: str, show: str = EVERYTHING) -> Step:
    command = [VENV / "bin" / "pytest", "-q", *words, *_extra_arguments()]
    alone = f"cd {folder.relative_to(ROOT)} && ../.tools/venv/bin/pytest '{{name}}'"
    return Step(command, formats.PYTEST, cwd=folder, show=show, alone=alone)


def _workers() -> str:
    return os.environ.get("E2E_WORKERS", "2")


# Values with which the application chart is whole.
CHART_VALUES = ("bridge", "http", "native", "several", "everything")


def charts() -> list[Step]:
    chart, own = CHARTS / "fieldveil", CHARTS / "testdata" / "own-deployment"
    lint = [HELM, "lint", "--strict", "--quiet", "--kube-version", "1.36.3"]
    values = [CHARTS / "testdata" / "values" / f"{name}.yaml" for name in CHART_VALUES]
    lints = [[*lint, chart, "--values", file] for file in values]
    lints += [[*lint, chart / "charts" / "fieldveil-sidecar"], [*lint, own]]
    return [
        *(Step(words) for words in lints),
        Step([HELM_UNITTEST, "--strict", chart, own], formats.HELM_UNITTEST, show=r"^\s*FAIL|^\t- |^Tests:"),
        # As end to end: most of it is Helm, which renders in a process of its own, and one file starts both sidecars.
        *e2e("tests/charts"),
    ]


def kubernetes() -> list[Step]:
    command = [VENV / "bin" / "python", "-m", "kubernetes", *_extra_arguments()]
    alone = "make e2e-kubernetes PYTEST_ARGS='{name}'"
    return [Step(["env", f"PYTHONPATH={E2E}:{ROOT}", *command], formats.PYTEST, show=EVERYTHING, alone=alone)]


def loadtest_smoke() -> list[Step]:
    command = [VENV / "bin" / "python", "-m", "loadtests", "smoke"]
    environment = ["env", f"PYTHONPATH={E2E}:{ROOT}"]
    return [Step([*environment, *command], formats.CHECKS, show=r"^[\w-]+: |WRONG|k6 \||^\w+Error")]


def compat(database: str) -> list[Step]:
    command = [VENV / "bin" / "python", "-m", "compat", database]
    words = ["--write"] if os.environ.get("COMPAT_WRITE") else []
    return [Step(["env", f"PYTHONPATH={E2E}:{ROOT}", *command, *words], formats.CHECKS, show=EVERYTHING)]


def loadtests() -> list[Step]:
    return [_pytest(LOADTESTS)]


def _typed(command: list[str | Path]) -> str:
    """As one types it in the project's folder."""
    return shlex.join(str(word).replace(f"{ROOT}/", "") for word in command)


def _extra_arguments() -> list[str]:
    return shlex.split(os.environ.get("PYTEST_ARGS", ""))
