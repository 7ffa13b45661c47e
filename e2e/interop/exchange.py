"""Everybody seals, everybody opens: what came of it all."""

import base64
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from interop.keysets import ALL, DISABLED, MADE, ROTATED, Folder, Keyset
from interop.keytypes import KEY_TYPES, PRF, KeyType
from interop.program import LIBRARIES, Program, knows
from interop.sidecar import INDEX, Sidecar

FILTER = "filter"
PARTIES = (*LIBRARIES, FILTER)

VALUES = (b"078-05-1120", b"", "ein längerer Wert ☃ ".encode() * 40)

# Why a ciphertext is not to open; none: it is.
ABSENT = "sealed under a key that the keyset does not hold"
DISABLED_KEY = "sealed under a key that is disabled"
TENANT = "sealed for another tenant"
LABEL = "sealed for another label"
ALTERED = "altered in one bit"
FAULTS = (ABSENT, DISABLED_KEY, TENANT, LABEL, ALTERED)
# Where a ciphertext is from that a keyset of a state is to open besides its own: the state, and the fault.
ACROSS = {MADE: (ROTATED, ABSENT), ROTATED: (MADE, None), DISABLED: (MADE, DISABLED_KEY)}

# What is asked of a PRF: the index of a value, the bytes of a key, and the same of all states of a keyset.
INDEXING, KEY, ALIKE = "index", "key", "alike"
KEY_BYTES = 32


@dataclass(frozen=True)
class Sealed:
    """A ciphertext, and what it is to be opened with."""

    keyset: Keyset
    associated_data: bytes
    sealer: str
    plaintext: bytes
    ciphertext: bytes
    fault: str | None = None

    @property
    def expected(self) -> bytes | None:
        return None if self.fault else self.plaintext


@dataclass
class Exchange:
    # What each party read; none: an error.
    opened: dict[tuple[Sealed, str], bytes | None] = field(default_factory=dict)
    # What each party's PRF gave, by what was asked; none: an error.
    outputs: dict[tuple[Keyset, str, str], bytes | None] = field(default_factory=dict)
    # What a library says of a keyset under another key-encryption key; none: it used it.
    other_kek: dict[tuple[Keyset, str], str | None] = field(default_factory=dict)
    # What a library says when it is to make, and to use, keys of a type that it lacks; none: it did.
    lacking: dict[tuple[KeyType, str], list[str | None]] = field(default_factory=dict)


def run(policies: Path) -> Exchange:
    done = Exchange()
    with ExitStack() as parts:
        sidecar = parts.enter_context(Sidecar(policies))
        programs = {name: parts.enter_context(Program(name, sidecar.folder.kek)) for name in LIBRARIES}
        sidecar.serve(programs)
        sealed = list(_seal_by_filter(sidecar, done))
        for name, program in programs.items():
            sealed += _seal(name, program, sidecar.folder)
            _compute(name, program, sidecar.folder, done)
            _try_what_it_lacks(name, program, sidecar.folder, done)
            _try_another_kek(name, program, sidecar.folder, done)
        for each in sealed:
            # The filter opens as the column's label, which is of no tenant.
            if each.associated_data == each.keyset.associated_data():
                done.opened[each, FILTER] = sidecar.open(each.keyset, each.ciphertext)
            for name, program in programs.items():
                if knows(name, each.keyset.type):
                    done.opened[each, name] = _open(program, sidecar.folder, each)
    return done


def _seal_by_filter(sidecar: Sidecar, done: Exchange) -> Iterator[Sealed]:
    for plaintext in VALUES:
        for keyset, stored in sidecar.seal(plaintext).items():
            if keyset.type.purpose != PRF:
                yield Sealed(keyset, keyset.associated_data(), FILTER, plaintext, stored)
            elif plaintext == VALUES[0]:
                done.outputs[keyset, INDEXING, FILTER] = stored


def _seal(name: str, program: Program, folder: Folder) -> Iterator[Sealed]:
    for keyset in _usable(name):
        if keyset.type.purpose == PRF:
            continue
        for plaintext, state, sealed_as, opened_as, fault in _attempts(keyset):
            ciphertext = program.output(
                f"{keyset.type.purpose} seal", keyset=folder.read(replace(keyset, state=state)),
                input=plaintext.hex(), associated_data=sealed_as.hex(),
            )  # fmt: skip
            if fault == ALTERED:
                ciphertext = ciphertext[:-1] + bytes([ciphertext[-1] ^ 1])
            yield Sealed(keyset, opened_as, name, plaintext, ciphertext, fault)


def _attempts(keyset: Keyset) -> Iterator[tuple[bytes, str, bytes, bytes, str | None]]:
    """A value, the state and the associated data to seal it with, those to open it with, and the fault in that."""
    value, state, own = VALUES[0], keyset.state, keyset.associated_data()
    of_tenant, of_label = keyset.associated_data(tenant="acme"), keyset.associated_data(label="public.other.column")
    for plaintext in VALUES:
        yield plaintext, state, own, own, None
    yield value, state, of_tenant, of_tenant, None
    yield value, state, of_tenant, own, TENANT
    yield value, state, of_label, own, LABEL
    yield value, state, own, own, ALTERED
    across, fault = ACROSS[state]
    yield value, across, own, own, fault


def _open(program: Program, folder: Folder, sealed: Sealed) -> bytes | None:
    return program.output(
        f"{sealed.keyset.type.purpose} open", keyset=folder.read(sealed.keyset),
        input=sealed.ciphertext.hex(), associated_data=sealed.associated_data.hex(),
    )  # fmt: skip


def _compute(name: str, program: Program, folder: Folder, done: Exchange) -> None:
    for keyset in _usable(name):
        if keyset.type.purpose == PRF:
            index = keyset.index_input(VALUES[0])
            for what, given, length in ((INDEXING, index, INDEX), (KEY, index, KEY_BYTES), (ALIKE, VALUES[0], INDEX)):
                output = program.output("prf", keyset=folder.read(keyset), input=given.hex(), length=length)
                done.outputs[keyset, what, name] = output


def _try_another_kek(name: str, program: Program, folder: Folder, done: Exchange) -> None:
    for keyset in _usable(name):
        done.other_kek[keyset, name] = _use(program, folder, keyset, kek=_another(folder.kek))


def _try_what_it_lacks(name: str, program: Program, folder: Folder, done: Exchange) -> None:
    for key_type in KEY_TYPES:
        if not knows(name, key_type):
            said = [program.ask("add", type=key_type.name, promote=True).get("error")]
            said += [_use(program, folder, keyset) for keyset in ALL if keyset.type == key_type]
            done.lacking[key_type, name] = said


def _use(program: Program, folder: Folder, keyset: Keyset, **members: object) -> str | None:
    """Does the smallest thing that can be done with it; what the library says if it can not."""
    do = "prf" if keyset.type.purpose == PRF else f"{keyset.type.purpose} seal"
    return program.ask(do, keyset=folder.read(keyset), input="", length=1, **members).get("error")


def _usable(name: str) -> list[Keyset]:
    return [keyset for keyset in ALL if knows(name, keyset.type)]


def _another(kek: dict) -> dict:
    """A key-encryption key that differs in its bytes alone: an AesGcmKey of 32 zero bytes."""
    (key,) = kek["key"]
    value = base64.b64encode(b"\x1a\x20" + bytes(32)).decode()
    return {**kek, "key": [{**key, "keyData": {**key["keyData"], "value": value}}]}
