"""What a machine must bring. Each missing thing is one line: its name and how to get it."""

import importlib.util
import re
import shutil
import subprocess
from collections.abc import Iterable

# The newest that a `go.mod` of ours asks for: `dev/checks/facts.py` compares.
GO = (1, 26, 7)
# From here on Go fetches the toolchain that a module asks for by itself, unless GOTOOLCHAIN keeps it from that, as it
# does in the packages of most distributions.
FETCHING_GO = (1, 21)

RUSTUP = "Rust through rustup: https://rustup.rs"
HOW = {
    "cc": "a C compiler and linker: `apt install build-essential`, `xcode-select --install` or the like",
    "cargo": RUSTUP,
    "rustup": RUSTUP + " (a cargo without rustup can't add the wasm32-wasip1 target)",
    "go": f"Go {'.'.join(map(str, GO))} or newer, or 1.21 or newer with GOTOOLCHAIN=auto: https://go.dev/dl",
    "javac": "a JDK, 17 or newer, for Tink's Java library and the Java clients: `apt install default-jdk-headless`",
    "mvn": "Maven, for Tink's Java library and the Java clients: `apt install maven`",
    "node": "Node.js, 20 or newer, for the Node.js clients of `make e2e`: https://nodejs.org",
    "npm": "npm, for the Node.js clients of `make e2e`: it comes with Node.js, or `apt install npm`",
    "venv": "Python's venv with pip: `apt install python3-venv` on Debian and Ubuntu",
}


def missing(tools: Iterable[str]) -> list[str]:
    """One line per tool of `tools` that this machine lacks."""
    return [f"missing: {HOW[tool]}" for tool in sorted(tools) if not _present(tool)]


def _present(tool: str) -> bool:
    if tool == "venv":
        return all(importlib.util.find_spec(module) for module in ("venv", "ensurepip"))
    if shutil.which(tool) is None:
        return False
    return _go_is_new_enough() if tool == "go" else True


def _go_is_new_enough() -> bool:
    shown = subprocess.run(["go", "env", "GOVERSION", "GOTOOLCHAIN"], capture_output=True, text=True, check=False)
    version, _, toolchain = shown.stdout.partition("\n")
    found = re.search(r"go(\d+)\.(\d+)(?:\.(\d+))?", version)
    # A development build ("devel go…") is taken at its word.
    if found is None:
        return True
    known = tuple(int(number or 0) for number in found.groups())
    return known >= GO or (known >= FETCHING_GO and toolchain.strip().endswith("auto"))
