//! The frozen envelopes, sealed by stock Tink, open; deterministic ones are sealed again to the same bytes.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used
)]

use std::collections::BTreeMap;

use fieldveil_tink::{Aead, CryptError, DeterministicAead, Keyset, Prf};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Frozen {
    keysets: BTreeMap<String, Box<RawValue>>,
    vectors: Vec<Vector>,
}

#[derive(Deserialize)]
struct Vector {
    name: String,
    keyset: String,
    protection: String,
    label: String,
    tenant: String,
    plaintext_hex: String,
    envelope_hex: String,
}

/// Magic, version, label tag.
const ENVELOPE_HEADER: usize = 6;

fn unhex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

fn frozen() -> Frozen {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../envelope/testdata/v1.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

impl Frozen {
    fn keyset(&self, name: &str) -> Keyset {
        Keyset::from_json(self.keysets[name].get().as_bytes()).unwrap()
    }

    fn open(&self, vector: &Vector, body: &[u8], associated_data: &[u8]) -> Result<Vec<u8>, CryptError> {
        let keyset = self.keyset(&vector.keyset);
        let opened = match vector.protection.as_str() {
            "randomized" => Aead::new(&keyset).unwrap().decrypt(body, associated_data),
            _ => DeterministicAead::new(&keyset).unwrap().decrypt(body, associated_data),
        };
        opened.map(|plaintext| plaintext.to_vec())
    }
}

impl Vector {
    fn associated_data(&self) -> Vec<u8> {
        ["fieldveil/v1", &self.label, &self.tenant].join("\0").into_bytes()
    }

    fn body(&self) -> Vec<u8> {
        unhex(&self.envelope_hex).split_off(ENVELOPE_HEADER)
    }
}

#[test]
fn frozen_envelopes_open() {
    let frozen = frozen();
    assert!(frozen.vectors.len() >= 66, "{}", frozen.vectors.len());
    for vector in &frozen.vectors {
        let opened = frozen.open(vector, &vector.body(), &vector.associated_data());
        assert_eq!(opened, Ok(unhex(&vector.plaintext_hex)), "{}", vector.name);
    }
}

#[test]
fn deterministic_envelopes_of_the_primary_key_are_sealed_to_the_same_bytes() {
    let frozen = frozen();
    let mut same = 0;
    for vector in frozen.vectors.iter().filter(|v| v.protection == "deterministic") {
        let keyset = frozen.keyset(&vector.keyset);
        let body = vector.body();
        if body[1..5] != keyset.primary_key_id().to_be_bytes() {
            continue;
        }
        let daead = DeterministicAead::new(&keyset).unwrap();
        let sealed = daead.encrypt(&unhex(&vector.plaintext_hex), &vector.associated_data()).unwrap();
        assert_eq!(sealed, body, "{}", vector.name);
        same += 1;
    }
    assert!(same >= 8, "{same}");
}

#[test]
fn changed_truncated_and_misplaced_envelopes_do_not_open() {
    let frozen = frozen();
    for vector in frozen.vectors.iter().filter(|v| v.plaintext_hex.len() < 200) {
        let (body, ad) = (vector.body(), vector.associated_data());
        for at in 0..body.len() {
            let mut changed = body.clone();
            changed[at] ^= 1;
            assert!(frozen.open(vector, &changed, &ad).is_err(), "{} at {at}", vector.name);
            assert!(frozen.open(vector, &body[..at], &ad).is_err(), "{} cut at {at}", vector.name);
        }
        assert_eq!(frozen.open(vector, &body, b"another"), Err(CryptError::NotAuthentic), "{}", vector.name);
    }
}

#[derive(Deserialize)]
struct FrozenIndexed {
    keysets: BTreeMap<String, BTreeMap<String, Box<RawValue>>>,
    vectors: Vec<Vector>,
}

#[test]
fn frozen_version_2_envelopes_open_and_their_index_is_the_prf_of_label_tenant_and_value() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../envelope/testdata/v2.json");
    let frozen: FrozenIndexed = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    for vector in &frozen.vectors {
        let keyset =
            |purpose| Keyset::from_json(frozen.keysets[&vector.keyset][purpose].get().as_bytes()).unwrap();
        let (index, plaintext) = (vector.body()[..16].to_vec(), unhex(&vector.plaintext_hex));
        let opened =
            Aead::new(&keyset("aead")).unwrap().decrypt(&vector.body()[16..], &vector.associated_data());
        assert_eq!(opened.unwrap().as_slice(), plaintext, "{}", vector.name);
        let mut input = ["fieldveil/index/v1", &vector.label, &vector.tenant, ""].join("\0").into_bytes();
        input.extend_from_slice(&plaintext);
        let computed = Prf::new(&keyset("prf")).unwrap().compute_primary(&input, 16).unwrap();
        assert_eq!(*computed, index, "{}", vector.name);
    }
    assert!(frozen.vectors.len() >= 26, "frozen vectors may grow, never shrink");
}

#[test]
fn aeads_that_do_not_bear_two_random_nonces_alike_are_told_apart() {
    let short = ["aes128-gcm", "aes256-gcm", "chacha20-poly1305"];
    let bearing = ["aes128-gcm-siv", "aes256-gcm-siv", "xchacha20-poly1305"];
    let has = |name: &&str| Aead::new(&frozen().keyset(name)).unwrap().has_short_random_nonces();
    assert!(short.iter().all(has) && !bearing.iter().any(has));
}
