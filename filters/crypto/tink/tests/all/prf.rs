//! PRFs: outputs that stock Tink and Wycheproof know, and keysets that must be refused.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used
)]

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fieldveil_tink::{Aead, CryptError, Keyset, KeysetError, Prf};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// `HashType`.
const SHA1: u8 = 1;
const SHA384: u8 = 2;
const SHA256: u8 = 3;
const SHA512: u8 = 4;

fn unhex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

/// A protobuf field of bytes, shorter than 128.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, u8::try_from(bytes.len()).unwrap()][..], bytes].concat()
}

fn hash_key(hash: u8, salt: &[u8], key: &[u8]) -> Vec<u8> {
    let params = [vec![0x08, hash], field(2, salt)].concat();
    [field(2, &params), [&[0x1a][..], &varint(key.len()), key].concat()].concat()
}

fn varint(len: usize) -> Vec<u8> {
    match len {
        ..128 => vec![len as u8],
        _ => vec![len as u8 | 0x80, (len >> 7) as u8],
    }
}

fn key(id: u32, algorithm: &str, value: &[u8]) -> Value {
    json!({"keyData": {"typeUrl": format!("type.googleapis.com/google.crypto.tink.{algorithm}"),
        "value": STANDARD.encode(value), "keyMaterialType": "SYMMETRIC"},
        "status": "ENABLED", "keyId": id, "outputPrefixType": "RAW"})
}

fn keyset(primary: u32, keys: Vec<Value>) -> Keyset {
    Keyset::from_json(json!({"primaryKeyId": primary, "key": keys}).to_string().as_bytes()).unwrap()
}

fn hmac(id: u32) -> Value {
    key(id, "HmacPrfKey", &hash_key(SHA256, b"", &[7; 32]))
}

#[derive(Deserialize)]
struct Frozen {
    keysets: BTreeMap<String, Box<RawValue>>,
    vectors: Vec<Vector>,
}

#[derive(Deserialize)]
struct Vector {
    keyset: String,
    input_hex: String,
    output_hex: String,
}

#[test]
fn outputs_are_those_of_tink_go() {
    let frozen: Frozen = serde_json::from_str(include_str!("../../testdata/prf.json")).unwrap();
    let mut counts = BTreeMap::<&str, usize>::new();
    for vector in &frozen.vectors {
        let prf =
            Prf::new(&Keyset::from_json(frozen.keysets[&vector.keyset].get().as_bytes()).unwrap()).unwrap();
        let expected = unhex(&vector.output_hex);
        let output = prf.compute_primary(&unhex(&vector.input_hex), expected.len()).unwrap();
        assert_eq!(*output, expected, "{}, {} bytes", vector.keyset, expected.len());
        *counts.entry(&vector.keyset).or_default() += 1;
    }
    assert_eq!(counts.len(), 7, "{counts:?}");
    assert!(frozen.vectors.len() >= 71, "frozen vectors may grow, never shrink");
}

#[derive(Deserialize)]
struct FrozenKeys {
    keysets: BTreeMap<String, Box<RawValue>>,
    vectors: Vec<DerivedKey>,
}

#[derive(Deserialize)]
struct DerivedKey {
    keyset: String,
    label: String,
    tenant: String,
    key_hex: String,
}

#[test]
fn keys_of_the_frozen_format_preserving_values_are_the_prf_of_label_and_tenant() {
    let frozen: FrozenKeys = serde_json::from_str(include_str!("../../../ff1/testdata/v1.json")).unwrap();
    for vector in &frozen.vectors {
        let prf =
            Prf::new(&Keyset::from_json(frozen.keysets[&vector.keyset].get().as_bytes()).unwrap()).unwrap();
        let input = ["fieldveil/ff1/v1", &vector.label, &vector.tenant].join("\0");
        assert_eq!(
            *prf.compute_primary(input.as_bytes(), 32).unwrap(),
            unhex(&vector.key_hex),
            "{}",
            vector.label
        );
    }
    assert!(frozen.vectors.len() >= 20, "frozen vectors may grow, never shrink");
}

#[derive(Deserialize)]
struct Case {
    algorithm: String,
    id: u32,
    key: String,
    salt: String,
    input: String,
    output: String,
}

#[test]
fn outputs_are_those_of_wycheproof() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../../testdata/wycheproof-prf.json")).unwrap();
    let mut counts = BTreeMap::<&str, usize>::new();
    for case in &cases {
        let (secret, salt) = (unhex(&case.key), unhex(&case.salt));
        let (name, value) = match case.algorithm.as_str() {
            "hmac-sha256" => ("HmacPrfKey", hash_key(SHA256, b"", &secret)),
            "hmac-sha384" => ("HmacPrfKey", hash_key(SHA384, b"", &secret)),
            "hmac-sha512" => ("HmacPrfKey", hash_key(SHA512, b"", &secret)),
            "hkdf-sha256" => ("HkdfPrfKey", hash_key(SHA256, &salt, &secret)),
            "hkdf-sha512" => ("HkdfPrfKey", hash_key(SHA512, &salt, &secret)),
            _ => ("AesCmacPrfKey", field(2, &secret)),
        };
        let prf = Prf::new(&keyset(1, vec![key(1, name, &value)])).unwrap();
        let expected = unhex(&case.output);
        let output = prf.compute_primary(&unhex(&case.input), expected.len()).unwrap();
        assert_eq!(*output, expected, "{} {}", case.algorithm, case.id);
        let (input, mut filled) = (unhex(&case.input), vec![0; expected.len()]);
        let (head, tail) = input.split_at(input.len() / 3);
        prf.compute_primary_into(&[head, b"", tail], &mut filled).unwrap();
        assert_eq!(filled, expected, "in parts: {} {}", case.algorithm, case.id);
        *counts.entry(&case.algorithm).or_default() += 1;
    }
    assert_eq!(counts.len(), 6, "{counts:?}");
}

#[test]
fn more_bytes_than_the_algorithm_gives_are_refused_with_the_limit() {
    let cases = [
        ("HmacPrfKey", hash_key(SHA256, b"", &[7; 32]), 32),
        ("HmacPrfKey", hash_key(SHA384, b"", &[7; 32]), 48),
        ("HmacPrfKey", hash_key(SHA512, b"", &[7; 64]), 64),
        ("HkdfPrfKey", hash_key(SHA256, b"", &[7; 32]), 255 * 32),
        ("HkdfPrfKey", hash_key(SHA512, b"", &[7; 32]), 255 * 64),
        ("AesCmacPrfKey", field(2, &[7; 32]), 16),
    ];
    for (name, value, limit) in cases {
        let prf = Prf::new(&keyset(1, vec![key(1, name, &value)])).unwrap();
        assert_eq!(prf.compute_primary(b"x", limit).unwrap().len(), limit, "{name}");
        assert_eq!(prf.compute_primary(b"x", limit + 1), Err(CryptError::OutputTooLong(limit)), "{name}");
    }
}

#[test]
fn the_primary_key_computes_and_no_other() {
    let other = key(2, "HmacPrfKey", &hash_key(SHA256, b"", &[8; 32]));
    let of = |primary, keys| Prf::new(&keyset(primary, keys)).unwrap().compute_primary(b"x", 16).unwrap();
    let (one, two) = (of(1, vec![hmac(1)]), of(2, vec![other.clone()]));
    assert_ne!(one, two);
    assert_eq!(of(1, vec![other.clone(), hmac(1)]), one);
    assert_eq!(of(2, vec![other, hmac(1)]), two);
}

#[test]
fn keysets_of_another_purpose_or_prefix_are_refused() {
    let mut prefixed = hmac(1);
    prefixed["outputPrefixType"] = json!("TINK");
    let expected = KeysetError::UnsupportedPrefix { key_id: 1, expected: "RAW" };
    assert_eq!(Prf::new(&keyset(1, vec![prefixed.clone()])).err(), Some(expected));
    assert!(matches!(
        Aead::new(&keyset(1, vec![prefixed])),
        Err(KeysetError::UnsupportedType { key_id: 1, purpose: "AEAD", .. })
    ));
    let gcm = key(1, "AesGcmKey", &field(3, &[0; 32]));
    assert!(matches!(
        Prf::new(&keyset(1, vec![gcm])),
        Err(KeysetError::UnsupportedType { key_id: 1, purpose: "PRF", .. })
    ));
}

#[test]
fn keys_that_tink_would_not_take_are_refused() {
    let version_1 = |value: Vec<u8>| [vec![0x08, 1], value].concat();
    let cases = [
        ("HmacPrfKey", hash_key(SHA256, b"", &[7; 15])),
        ("HmacPrfKey", hash_key(SHA1, b"", &[7; 32])),
        ("HmacPrfKey", field(3, &[7; 32])),
        ("HmacPrfKey", version_1(hash_key(SHA256, b"", &[7; 32]))),
        ("HkdfPrfKey", hash_key(SHA256, b"", &[7; 31])),
        ("HkdfPrfKey", hash_key(SHA384, b"", &[7; 32])),
        ("HkdfPrfKey", version_1(hash_key(SHA256, b"", &[7; 32]))),
        ("AesCmacPrfKey", field(2, &[7; 16])),
        ("AesCmacPrfKey", version_1(field(2, &[7; 32]))),
        ("AesCmacPrfKey", vec![0xff]),
    ];
    for (at, (name, value)) in cases.into_iter().enumerate() {
        let error = Prf::new(&keyset(1, vec![key(1, name, &value)])).err();
        assert!(
            matches!(error, Some(KeysetError::MalformedKey { key_id: 1, .. })),
            "{name}, case {at}: {error:?}"
        );
    }
}

#[test]
fn debug_shows_no_key_material() {
    let prf = Prf::new(&keyset(1, vec![hmac(1)])).unwrap();
    assert_eq!(format!("{prf:?}"), "Prf { keys: [1], .. }");
}
