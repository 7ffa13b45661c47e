"""Writes `docs/reference/interop.md` from what came of an exchange. The same libraries give the same text."""

import re
from pathlib import Path

from dev.layout import ROOT
from interop.exchange import FAULTS, INDEXING, KEY, KEY_BYTES, PARTIES, Exchange
from interop.keytypes import KEY_TYPES, PRF, KeyType
from interop.program import LIBRARIES

DOCUMENT = ROOT / "docs" / "reference" / "interop.md"

TEXT = """\
# Tink in other languages

Written by `make interop` from a real run, and checked by `make test`; don't edit.

Keysets are Tink's, and so is what an envelope holds. So whoever may use a key-encryption key can read and write both
with a stock Tink library. This says which library does so with which key type. It is found out by trying: the libraries
and the `fieldveil` command make keysets under one key-encryption key, the key agent serves all of them, and each
library and the filter open what each of them sealed.

{versions}

## Key types

{key_types}

- **yes**: it reads the encrypted keysets (JSON, empty associated data) that each of the others wrote: with one key,
  with a second one that another of them added, and with one that another of them disabled. It opens what each of the
  others sealed, and each of them opens what it sealed, with the associated data of
  [the envelope](envelope.md#associated-data). With AES-SIV all give the same bytes; with a PRF, all give the same
  output, which is the primary key's.
- **no**: the library does not know the key type: it neither makes nor uses such keys.
- **`fieldveil keys create`**: the command makes such keys, and did here. The key agent serves keysets of every type.
- **A key for FF1**: the PRF gives the {key_bytes} bytes that a format-preserving label needs.

No library opens a keyset with another key-encryption key than it was written with. Neither a library nor the filter
opens a ciphertext with one of these faults:

{faults}

## What to know of each

- **Output prefixes.** AEAD and deterministic keys have the output prefix `TINK`, PRF keys have `RAW`. Keys with
  another, and other key types that Tink has, are refused by `fieldveil` (`keys/internal/keystore/purpose.go`) and by
  the filter (`filters/crypto/tink`).
- **Tink for Python** makes and reads keysets, and has nothing to change one with: add, promote and disable keys with
  `fieldveil keys`.
- **Tink for Java** takes AES-GCM-SIV from a security provider, and the JDK has none: add Conscrypt
  (`Security.addProvider(Conscrypt.newProvider())`).

The programs to copy from: `keys/cmd/tink-tool`, `e2e/interop/python`, `e2e/interop/java`.
"""


def render(done: Exchange) -> str:
    versions = [(library.title, _version(*library.pinned)) for library in LIBRARIES.values()]
    key_types = [
        (
            key_type.title,
            key_type.purpose,
            _yes(key_type.made_with is not None),
            *(_yes(exchanges(done, key_type, party)) for party in PARTIES),
            _yes(gives_key(done, key_type)) if key_type.purpose == PRF else "",
        )
        for key_type in KEY_TYPES
    ]
    heads = ("key type", "purpose", "`fieldveil keys create`", *PARTIES, "a key for FF1")
    return TEXT.format(
        versions=_table(("library", "version"), versions),
        key_types=_table(heads, key_types),
        key_bytes=KEY_BYTES,
        faults="\n".join(f"- {fault}" for fault in FAULTS),
    )


def exchanges(done: Exchange, key_type: KeyType, party: str) -> bool:
    """Whether one has part in the exchange, and everything that it made or opened came out right."""
    if key_type.purpose == PRF:
        right = [
            output is not None and output == done.outputs[keyset, what, party]
            for (keyset, what, _), output in done.outputs.items()
            if keyset.type == key_type and (keyset, what, party) in done.outputs and what == INDEXING
        ]
    else:
        right = [
            opened == sealed.expected
            for (sealed, opener), opened in done.opened.items()
            if sealed.keyset.type == key_type and party in (opener, sealed.sealer, sealed.keyset.writer)
        ]
    return bool(right) and all(right)


def gives_key(done: Exchange, key_type: KeyType) -> bool:
    return all(
        output is not None
        for (keyset, what, _), output in done.outputs.items()
        if keyset.type == key_type and what == KEY
    )


def _version(file: Path, before: str) -> str:
    return re.search(re.escape(before) + r"(\d[\w.-]*)", file.read_text())[1]


def _yes(it_is: bool) -> str:
    return "yes" if it_is else "no"


def _table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [heads, ("---",) * len(heads), *rows])
