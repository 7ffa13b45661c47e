"""The keysets of an exchange: of each key type one of each writer, in three states.

What `fieldveil keys` can do it does; the libraries' programs, the rest.
"""

import hashlib
import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from harness.agent import Agent
from interop.keytypes import COMPANION, KEY_TYPES, PRF, KeyType
from interop.program import GO, JAVA, LIBRARIES, PYTHON, Program, knows

# One key; a second one besides, which is the primary now (of a PRF: it is not); the same with the first one disabled
# (of a PRF: the second).
MADE, ROTATED, DISABLED = "made", "rotated", "disabled"
STATES = (MADE, ROTATED, DISABLED)

# Whose keysets are changed by whom: another one than wrote them. Tink for Python can not.
CHANGED_BY = {GO: JAVA, PYTHON: GO, JAVA: GO}

TABLE = "exchange"


@dataclass(frozen=True)
class Keyset:
    type: KeyType
    writer: str
    state: str

    @property
    def name(self) -> str:
        return f"{self.type.name}-{self.writer}-{self.state}".lower()

    @property
    def column(self) -> str:
        return self.name.replace("-", "_")

    @property
    def label(self) -> str:
        """The catalog names none, so it is that of the column."""
        return f"public.{TABLE}.{self.column}"

    def associated_data(self, label: str = "", tenant: str = "") -> bytes:
        return b"\0".join([b"fieldveil/v1", (label or self.label).encode(), tenant.encode()])

    def index_input(self, plaintext: bytes) -> bytes:
        return b"\0".join([b"fieldveil/index/v1", self.label.encode(), b"", plaintext])

    def envelope_head(self) -> bytes:
        """Magic, version and label tag."""
        version = b"\x02" if self.type.purpose == PRF else b"\x01"
        return b"\xf7" + version + hashlib.sha256(b"fieldveil label\0" + self.label.encode()).digest()[:4]


ALL = [
    Keyset(key_type, writer, state)
    for key_type in KEY_TYPES
    for writer in LIBRARIES
    if knows(writer, key_type)
    for state in STATES
]


class Folder:
    """Their files, as the key agent serves them."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self.kek: dict = json.loads(Path(agent.kek_uri.partition("://")[2]).read_text())

    def read(self, keyset: Keyset) -> dict:
        return json.loads(self._file(keyset).read_text())

    def write_all(self, programs: dict[str, Program]) -> None:
        for keyset in ALL:
            earlier = replace(keyset, state=STATES[STATES.index(keyset.state) - 1])
            if keyset.state == MADE:
                self._make(keyset, programs[keyset.writer])
            elif keyset.state == ROTATED:
                shutil.copy(self._file(earlier), self._file(keyset))
                self._rotate(keyset, programs[CHANGED_BY[keyset.writer]])
            else:
                self._disable(self.read(earlier), keyset, programs[CHANGED_BY[keyset.writer]])
        for keyset in ALL:
            if keyset.type.purpose == PRF:
                companion = self._file(replace(keyset, type=COMPANION))
                shutil.copy(companion, companion.with_name(f"{keyset.name}.{COMPANION.purpose}.json"))

    def _make(self, keyset: Keyset, program: Program) -> None:
        if keyset.writer == GO and keyset.type.made_with is not None:
            purpose = ("--purpose", keyset.type.purpose)
            self._agent.keys("create", keyset.name, *purpose, *keyset.type.made_with)
        else:
            self._write(keyset, program.ask("add", type=keyset.type.name, promote=True))

    def _rotate(self, keyset: Keyset, program: Program) -> None:
        # The primary key of a PRF is never changed.
        promote = keyset.type.purpose != PRF
        if promote and CHANGED_BY[keyset.writer] == GO:
            self._agent.keys("rotate", keyset.name, "--purpose", keyset.type.purpose)
        else:
            there = self.read(keyset)
            self._write(keyset, program.ask("add", keyset=there, type=keyset.type.name, promote=promote))

    def _disable(self, rotated: dict, keyset: Keyset, program: Program) -> None:
        info = rotated["keysetInfo"]
        (key_id,) = {key["keyId"] for key in info["keyInfo"]} - {info["primaryKeyId"]}
        self._write(keyset, program.ask("disable", keyset=rotated, key_id=key_id))

    def _write(self, keyset: Keyset, answer: dict) -> None:
        if "error" in answer:
            raise RuntimeError(f"{keyset.name} could not be written: {answer['error']}")
        self._file(keyset).write_text(json.dumps(answer["keyset"]))

    def _file(self, keyset: Keyset) -> Path:
        return self._agent.keysets / f"{keyset.name}.{keyset.type.purpose}.json"
