"""Tink's Go, Python and Java libraries, the `fieldveil` command and the filter read each other's keysets and values."""

from itertools import product

import pytest

from interop import document, exchange
from interop.exchange import ACROSS, ALIKE, FAULTS, FILTER, INDEXING, KEY, PARTIES, VALUES, Exchange, Sealed
from interop.keysets import ALL, Keyset
from interop.keytypes import DETERMINISTIC, KEY_TYPES, PRF, KeyType
from interop.program import LIBRARIES, knows

SEALING = [key_type for key_type in KEY_TYPES if key_type.purpose != PRF]
COMPUTING = [key_type for key_type in KEY_TYPES if key_type.purpose == PRF]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Exchange:
    return exchange.run(tmp_path_factory.mktemp("policies"))


def keysets(key_type: KeyType) -> list[Keyset]:
    return [keyset for keyset in ALL if keyset.type == key_type]


def users(key_type: KeyType) -> set[str]:
    return {party for party in PARTIES if knows(party, key_type)}


def openers(sealed: Sealed) -> set[str]:
    """The filter's table is of no tenant."""
    own = sealed.associated_data == sealed.keyset.associated_data()
    return users(sealed.keyset.type) - (set() if own else {FILTER})


def sealed_by(done: Exchange, key_type: KeyType, fault: str | None) -> list[Sealed]:
    return list({sealed: None for sealed, _ in done.opened if sealed.keyset.type == key_type and sealed.fault == fault})


@pytest.mark.parametrize("key_type", SEALING, ids=lambda it: it.name)
def test_everybody_opens_what_anybody_sealed_under_anybodys_keyset(done: Exchange, key_type: KeyType) -> None:
    sealed = sealed_by(done, key_type, None)
    everything = set(product(keysets(key_type), users(key_type), VALUES))
    assert {(each.keyset, each.sealer, each.plaintext) for each in sealed} == everything
    for each in sealed:
        for party in openers(each):
            assert done.opened[each, party] == each.plaintext, (party, each)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("key_type", SEALING, ids=lambda it: it.name)
def test_nobody_opens_what_has_a_fault(done: Exchange, key_type: KeyType, fault: str) -> None:
    sealed = sealed_by(done, key_type, fault)
    across = {of for _, of in ACROSS.values()}
    tried = [keyset for keyset in keysets(key_type) if fault not in across or ACROSS[keyset.state][1] == fault]
    sealers = users(key_type) - {FILTER}
    assert {(each.keyset, each.sealer) for each in sealed} == set(product(tried, sealers))
    for each in sealed:
        assert {party: done.opened[each, party] for party in users(key_type)} == dict.fromkeys(users(key_type)), each


def test_deterministic_ciphertexts_are_the_same_bytes_from_everybody(done: Exchange) -> None:
    (key_type,) = (each for each in SEALING if each.purpose == DETERMINISTIC)
    for keyset in keysets(key_type):
        of_keyset = [each for each in sealed_by(done, key_type, None) if each.keyset == keyset]
        for value in VALUES[1:]:
            sealed = [each for each in of_keyset if each.plaintext == value]
            assert {each.sealer for each in sealed} == set(PARTIES)
            assert len({each.ciphertext for each in sealed}) == 1, keyset


@pytest.mark.parametrize("key_type", COMPUTING, ids=lambda it: it.name)
def test_prf_outputs_are_the_same_from_everybody(done: Exchange, key_type: KeyType) -> None:
    for keyset in keysets(key_type):
        (index,) = {done.outputs[keyset, INDEXING, party] for party in PARTIES}
        assert index
        (key,) = {done.outputs[keyset, KEY, party] for party in LIBRARIES}
        # AES-CMAC gives 16 bytes.
        assert (key is None) == (key_type.name == "aes-cmac"), keyset


@pytest.mark.parametrize("key_type", COMPUTING, ids=lambda it: it.name)
def test_prf_output_is_the_primary_keys_whatever_other_keys_there_are(done: Exchange, key_type: KeyType) -> None:
    for writer in LIBRARIES:
        of_writer = [keyset for keyset in keysets(key_type) if keyset.writer == writer]
        assert len({done.outputs[keyset, ALIKE, party] for keyset in of_writer for party in LIBRARIES}) == 1, writer


@pytest.mark.parametrize("key_type", KEY_TYPES, ids=lambda it: it.name)
def test_no_keyset_opens_with_another_key_encryption_key(done: Exchange, key_type: KeyType) -> None:
    for keyset in keysets(key_type):
        for library in users(key_type) - {FILTER}:
            assert done.other_kek[keyset, library], (keyset, library)


def test_libraries_lack_the_key_types_that_are_known_to_be_lacking(done: Exchange) -> None:
    known = {(each, name) for name in LIBRARIES for each in KEY_TYPES if not knows(name, each)}
    assert set(done.lacking) == known
    for (key_type, name), said in done.lacking.items():
        for text in said:
            assert LIBRARIES[name].lacks[key_type.name] in (text or "it works"), (name, text)


def test_document_says_what_was_found(done: Exchange) -> None:
    assert document.DOCUMENT.read_text() == document.render(done), "run: make interop"
