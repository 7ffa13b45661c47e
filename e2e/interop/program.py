"""Tink's libraries, each as a program that answers requests, a line of JSON each, until its input ends.

A request has the key-encryption key (`kek`, a cleartext keyset), mostly an encrypted keyset (`keyset`), and `do`:

| `do` | further members | answer |
| --- | --- | --- |
| `add` | `type`, `promote`; without a keyset it makes one | `keyset` |
| `disable` | `key_id` | `keyset` |
| `aead seal`, `aead open`, `deterministic seal`, `deterministic open` | `input`, `associated_data` | `output` |
| `prf` | `input`, `associated_data` (not used), `length` | `output` |

Bytes are in hex. The answer to what the library refuses is `error`.
"""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from dev.layout import E2E, KEYS_MODULE, TINK_JAVA, TINK_TOOL, VENV
from interop.keytypes import KeyType


@dataclass(frozen=True)
class Library:
    title: str
    command: tuple[str | Path, ...]
    # Where its version is pinned, and what stands before the number there.
    pinned: tuple[Path, str]
    # Key types that it does not know, and what it says of them.
    lacks: dict[str, str]


GO, PYTHON, JAVA = "Go", "Python", "Java"
_HERE = E2E / "interop"

LIBRARIES = {
    GO: Library("tink-go", (TINK_TOOL,), (KEYS_MODULE / "go.mod", "github.com/tink-crypto/tink-go/v2 v"), {}),
    PYTHON: Library(
        "Tink for Python",
        (VENV / "bin" / "python", _HERE / "python" / "tink_tool.py"),
        (E2E / "requirements.txt", "tink=="),
        {"chacha20-poly1305": "No manager for type"},
    ),
    JAVA: Library(
        "Tink for Java",
        ("java", "-cp", TINK_JAVA / "*", _HERE / "java" / "TinkTool.java"),
        (_HERE / "java" / "pom.xml", "<tink.version>"),
        {},
    ),
}


def knows(party: str, key_type: KeyType) -> bool:
    """Whether one of the libraries, or the filter, has a key type."""
    return party not in LIBRARIES or key_type.name not in LIBRARIES[party].lacks


class Program:
    def __init__(self, name: str, kek: dict) -> None:
        self._name = name
        self._kek = kek
        command = [str(word) for word in LIBRARIES[name].command]
        # It ends with its input, so with the one that started it.
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def ask(self, do: str, **members: object) -> dict:
        request = {"do": do, "kek": self._kek, "associated_data": "", **members}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the program on {LIBRARIES[self._name].title} ended at: {do}")
        return json.loads(answer)

    def output(self, do: str, **members: object) -> bytes | None:
        """None: the library refuses."""
        answer = self.ask(do, **members)
        return None if "error" in answer else bytes.fromhex(answer["output"])
