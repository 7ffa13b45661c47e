"""What `make lint` and `make test` run: each suite, with the parts of set-up that it needs."""

from dev.schedule.task import Lane
from dev.suites import steps
from dev.suites.suite import Suite

# Of e2e/tests, each with a suite of its own.
FOLDERS = ("charts", "dev", "front_door", "http", "keys", "kubernetes", "mysql", "policies")
# The folders in e2e/tests are suites of their own, and this is what is in none of them.
POSTGRES_E2E = (*(f"--ignore=tests/{folder}" for folder in FOLDERS), "tests")
# What a stack of the end-to-end tests is made of.
STACK = ("python", "filter", "keys")

SUITES = {
    suite.name: suite
    for suite in (
        Suite("rustfmt", "Rust is formatted", steps.rustfmt, ("toolchain",)),
        Suite("clippy", "Rust lints, warnings refused", steps.clippy, ("toolchain",), Lane.CARGO),
        Suite(
            "layering", "crates and modules use what is below them", lambda: [steps.check("layering")], ("toolchain",)
        ),
        Suite("go-layering", "the arrows between Go packages point down only", lambda: [steps.check("go_layering")]),
        Suite("names", "a type's name stands once in a crate, and says what it is", lambda: [steps.check("names")]),
        Suite("sizes", "files and types are small, or say why they are not", lambda: [steps.check("sizes")]),
        Suite("doc-paths", "every path that the documents name exists", lambda: [steps.check("doc_paths")]),
        Suite(
            "facts",
            "crates, versions, targets and limits are as the documents say",
            lambda: [steps.check("facts")],
            ("toolchain",),
        ),
        Suite("ruff", "Python lints and format", steps.python, ("python",)),
        Suite("shell", "shell scripts, by ShellCheck", steps.shell, ("python",)),
        Suite("gofmt", "Go is formatted", steps.gofmt),
        Suite("go-vet", "Go's own lints", steps.go_vet, lane=Lane.GO),
        Suite("rego-lint", "Rego format, strict check against the schemas, Regal", steps.rego_lint, ("keys", "regal")),
        Suite("rust", "unit and property tests of the filter", steps.rust, ("toolchain", "valgrind"), Lane.CARGO),
        Suite(
            "instructions", "no more instructions than before", steps.instructions, ("valgrind", "count-instructions")
        ),
        Suite("growth", "no input's cost grows faster than its length", steps.growth, ("valgrind", "count-growth")),
        Suite("fuzz-corpus", "inputs that fuzzing found, run again", steps.fuzz_corpus, ("toolchain",), Lane.CARGO),
        Suite("fuzz", "every parser under libFuzzer", steps.fuzz, ("toolchain", "valgrind", "count-growth")),
        Suite(
            "sqldiff",
            "the analysis of statements against the servers and PostgreSQL's parser",
            steps.sqldiff,
            ("python", "pg-parse", "analyze", "mariadb", "mysql"),
        ),
        Suite("rego", "tests of the policies, every line covered", steps.rego, ("keys",)),
        Suite(
            "go",
            "tests of key agent, command, load tests' extension and JSON service, with the race detector",
            steps.go,
            ("python", "keys", "vault"),
            Lane.GO,
        ),
        Suite("policies-go", "the Go tests of policies", steps.policies_go, lane=Lane.GO),
        Suite(
            "policies-rust",
            "the filter reads the contract files as the library does",
            steps.policies_rust,
            ("toolchain",),
            Lane.CARGO,
        ),
        Suite("tls-go", "the Go tests of the bridge", steps.tls_go, lane=Lane.GO),
        Suite("json-rust", "the Rust tests of JSON over HTTP", steps.json_rust, ("toolchain",), Lane.CARGO),
        Suite("mysql-rust", "the Rust tests of MySQL and MariaDB", steps.mysql_rust, ("toolchain",), Lane.CARGO),
        Suite("dev", "the tests of set-up, suites and checks themselves", lambda: steps.e2e("tests/dev"), ("python",)),
        Suite(
            "postgres-e2e",
            "the end-to-end tests of PostgreSQL",
            lambda: steps.e2e(*POSTGRES_E2E),
            (*STACK, "pgx", "go-clients", "older-postgres"),
        ),
        Suite(
            "tls-e2e",
            "the end-to-end tests of TLS with databases and their clients",
            lambda: steps.e2e(*steps.TLS_E2E),
            (*STACK, "pgx", "go-clients", "mariadb", "mysql", "older-postgres"),
        ),
        Suite(
            "keys-e2e",
            "the end-to-end tests of keys",
            lambda: steps.e2e("tests/keys"),
            (*STACK, "pgx", "tink-java", "vault", "mariadb"),
        ),
        Suite(
            "policies-e2e",
            "the end-to-end tests of policies",
            lambda: steps.e2e("tests/policies"),
            (*STACK, "pgx", "mariadb", "chromium"),
        ),
        Suite(
            "json-e2e",
            "the end-to-end tests of JSON over HTTP",
            lambda: steps.e2e("tests/http"),
            (*STACK, "shop-api", "http-clients"),
        ),
        Suite(
            "mysql-e2e",
            "the end-to-end tests of MySQL and MariaDB",
            lambda: steps.e2e("tests/mysql"),
            (*STACK, "go-clients", "mariadb", "mysql"),
        ),
        Suite(
            "native-e2e",
            "the end-to-end tests where the shells could differ, on the native module",
            lambda: steps.native_e2e(*steps.NATIVE_E2E),
            (*STACK, "filter-native", "pgx", "mariadb", "mysql", "older-postgres", "shop-api"),
        ),
        Suite(
            "native-postgres-e2e",
            "the end-to-end tests of PostgreSQL, on the native module",
            lambda: steps.native_e2e(*POSTGRES_E2E),
            (*STACK, "filter-native", "pgx", "go-clients", "older-postgres"),
        ),
        Suite(
            "native-mysql-e2e",
            "the end-to-end tests of MySQL and MariaDB, on the native module",
            lambda: steps.native_e2e("tests/mysql"),
            (*STACK, "filter-native", "go-clients", "mariadb", "mysql"),
        ),
        Suite(
            "native-json-e2e",
            "the end-to-end tests of JSON over HTTP, on the native module",
            lambda: steps.native_e2e("tests/http"),
            (*STACK, "filter-native", "shop-api", "http-clients"),
        ),
        Suite(
            "native-policies-e2e",
            "the end-to-end tests of policies, on the native module",
            lambda: steps.native_e2e("tests/policies"),
            (*STACK, "filter-native", "pgx", "mariadb", "chromium"),
        ),
        Suite(
            "native-keys-e2e",
            "the end-to-end tests of keys, on the native module",
            lambda: steps.native_e2e("tests/keys"),
            (*STACK, "filter-native", "pgx", "tink-java", "vault", "mariadb"),
        ),
        Suite(
            "wasm-e2e",
            "the end-to-end tests of policies and keys where the shells could differ, on the WebAssembly modules",
            lambda: steps.e2e(*steps.WASM_E2E),
            (*STACK, "pgx", "vault", "mariadb"),
        ),
        Suite(
            "front-door",
            "the demo in closed, odd and far places, and as another user",
            lambda: steps.e2e("tests/front_door"),
            (*STACK, "mariadb", "mysql", "chromium"),
        ),
        Suite(
            "loadtest-smoke",
            "every answer of the load tests, at every target",
            steps.loadtest_smoke,
            (*STACK, "filter-native", "k6", "bench-sealing-smoke", "mariadb"),
        ),
        Suite(
            "loadtests",
            "the load tests' own parts: no load, no timing",
            steps.loadtests,
            (*STACK, "filter-native", "k6", "plotly", "chromium", "mariadb", "bench-sealing-smoke"),
        ),
        Suite(
            "compat-postgres",
            "PostgreSQL's regression suite answers as without the sidecar",
            lambda: steps.compat("postgres"),
            (*STACK, "postgres-regression"),
        ),
        Suite(
            "compat-mariadb",
            "a part of MariaDB's test suite answers as without the sidecar",
            lambda: steps.compat("mariadb"),
            (*STACK, "mariadb-test"),
        ),
        Suite(
            "charts",
            "lints, unit tests and renderings of the Helm charts, without a cluster",
            steps.charts,
            (*STACK, "filter-native", "shop-api", "helm", "chart-tools", "promtool", "schemas"),
        ),
        Suite(
            "kubernetes",
            "the sidecar in a Kubernetes cluster, as the chart installs it",
            steps.kubernetes,
            (*STACK, "filter-native", "shop-api", "k6", "vault", "helm", "cluster", "older-postgres"),
        ),
    )
}

LINTS = (
    *("rustfmt", "clippy", "layering", "go-layering", "names", "sizes", "doc-paths", "facts"),
    *("ruff", "shell", "gofmt", "go-vet", "rego-lint"),
)
# In the order in which they begin where several could, and in which their parts are made. Those that take long, and on
# whose parts much waits, come first.
TESTS = (
    *("dev", "rego", "postgres-e2e", "mysql-e2e", "json-e2e", "kubernetes", "rust", "wasm-e2e"),
    *(
        "native-policies-e2e",
        "native-keys-e2e",
        "native-e2e",
        "front-door",
        "charts",
        "go",
        "loadtests",
        "loadtest-smoke",
        "sqldiff",
        "fuzz-corpus",
        "growth",
        "instructions",
    ),
)
E2E_SUITES = ("dev", "postgres-e2e", "mysql-e2e", "json-e2e", "policies-e2e", "keys-e2e", "front-door")
KEYS = ("go", "keys-e2e")
# The whole suites on the WebAssembly modules are here; TESTS runs most of them natively.
POLICY = ("rego", "policies-go", "policies-rust", "policies-e2e")
JSON = ("json-rust", "json-e2e")
MYSQL = ("mysql-rust", "mysql-e2e")
TLS = ("tls-go", "tls-e2e")
# The whole suites on the native module; a part of them is in TESTS.
NATIVE = ("native-postgres-e2e", "native-mysql-e2e", "native-json-e2e", "native-policies-e2e", "native-keys-e2e")
# Not in TESTS: they compare what the end-to-end tests do not protect, and take minutes.
COMPAT = ("compat-postgres", "compat-mariadb")
GROUPS = {
    "lint": LINTS,
    "test": TESTS,
    "e2e": E2E_SUITES,
    "keys": KEYS,
    "policies": POLICY,
    "json": JSON,
    "mysql": MYSQL,
    "tls": TLS,
    "native": NATIVE,
    "compat": COMPAT,
}
