//! Keysets that must be refused, with the error that says why; and what sealing promises.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used
)]

use fieldveil_tink::{Aead, CryptError, DeterministicAead, Keyset, KeysetError, Random};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Counts upwards: for tests only.
struct Counter(u8);

impl Random for Counter {
    fn fill(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            self.0 = self.0.wrapping_add(1);
            *byte = self.0;
        }
    }
}

// AesGcmKey with 32 zero bytes; AesSivKey with 64 zero bytes.
fn gcm_value() -> String {
    base64(&[&[0x1a, 32][..], &[0; 32]].concat())
}

fn siv_value() -> String {
    base64(&[&[0x12, 64][..], &[0; 64]].concat())
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

fn key(id: u32, algorithm: &str, value: &str) -> Value {
    json!({"keyData": {"typeUrl": format!("type.googleapis.com/google.crypto.tink.{algorithm}"), "value": value,
        "keyMaterialType": "SYMMETRIC"}, "status": "ENABLED", "keyId": id, "outputPrefixType": "TINK"})
}

fn keyset(primary: u32, keys: Vec<Value>) -> Result<Keyset, KeysetError> {
    Keyset::from_json(json!({"primaryKeyId": primary, "key": keys}).to_string().as_bytes())
}

fn gcm(id: u32) -> Value {
    key(id, "AesGcmKey", &gcm_value())
}

fn with(mut key: Value, name: &str, value: &str) -> Value {
    key[name] = json!(value);
    key
}

#[test]
fn faulty_keysets_are_refused_with_their_reason() {
    let cases = [
        (keyset(1, vec![]), KeysetError::Empty),
        (keyset(1, vec![gcm(1), gcm(1)]), KeysetError::DuplicateKeyId(1)),
        (keyset(2, vec![gcm(1)]), KeysetError::NoPrimary(2)),
        (keyset(1, vec![with(gcm(1), "status", "DISABLED"), gcm(2)]), KeysetError::PrimaryNotEnabled(1)),
        (keyset(1, vec![with(gcm(1), "status", "STRANGE")]), KeysetError::UnknownStatus(1)),
    ];
    for (result, expected) in cases {
        assert_eq!(result.err(), Some(expected));
    }
    assert!(matches!(Keyset::from_json(b"{"), Err(KeysetError::MalformedJson { .. })));
    assert_eq!(Keyset::from_protobuf(b"\xff").err(), Some(KeysetError::MalformedProtobuf));
}

#[test]
fn keys_of_another_purpose_or_length_are_refused() {
    let siv = keyset(1, vec![key(1, "AesSivKey", &siv_value())]).unwrap();
    assert!(matches!(Aead::new(&siv), Err(KeysetError::UnsupportedType { key_id: 1, .. })));
    let aead = keyset(1, vec![gcm(1)]).unwrap();
    assert!(matches!(DeterministicAead::new(&aead), Err(KeysetError::UnsupportedType { key_id: 1, .. })));
    let short = keyset(1, vec![key(1, "AesGcmKey", &base64(&[0x1a, 2, 0, 0]))]).unwrap();
    assert!(matches!(Aead::new(&short), Err(KeysetError::MalformedKey { key_id: 1, .. })));
    let future =
        keyset(1, vec![key(1, "AesSivKey", &base64(&[&[8, 1, 0x12, 64][..], &[0; 64]].concat()))]).unwrap();
    assert!(matches!(DeterministicAead::new(&future), Err(KeysetError::MalformedKey { key_id: 1, .. })));
}

#[test]
fn keys_of_another_output_prefix_than_their_purposes_are_refused() {
    for prefix in ["RAW", "LEGACY", "CRUNCHY", "STRANGE"] {
        let expected = KeysetError::UnsupportedPrefix { key_id: 1, expected: "TINK" };
        let aead = keyset(1, vec![with(gcm(1), "outputPrefixType", prefix)]).unwrap();
        assert_eq!(Aead::new(&aead).err(), Some(expected.clone()), "{prefix}");
        let siv = with(key(1, "AesSivKey", &siv_value()), "outputPrefixType", prefix);
        assert_eq!(DeterministicAead::new(&keyset(1, vec![siv]).unwrap()).err(), Some(expected), "{prefix}");
    }
}

#[test]
fn disabled_keys_neither_seal_nor_open() {
    let both = Aead::new(&keyset(1, vec![gcm(1), gcm(2)]).unwrap()).unwrap();
    let sealed = both.encrypt(&mut Counter(0), b"x", b"ad").unwrap();
    let disabled = keyset(2, vec![with(gcm(1), "status", "DISABLED"), gcm(2)]).unwrap();
    assert_eq!(Aead::new(&disabled).unwrap().decrypt(&sealed, b"ad").err(), Some(CryptError::UnknownKey(1)));
}

#[test]
fn json_and_protobuf_forms_are_one_keyset() {
    let type_url = b"type.googleapis.com/google.crypto.tink.AesGcmKey";
    let value = [&[0x1a, 32][..], &[0; 32]].concat();
    let data = [&[0x0a, type_url.len() as u8][..], type_url, &[0x12, value.len() as u8], &value, &[0x18, 1]]
        .concat();
    let entry = [&[0x0a, data.len() as u8][..], &data, &[0x10, 1, 0x18, 7, 0x20, 1]].concat();
    let binary = [&[0x08, 7, 0x12, entry.len() as u8][..], &entry].concat();
    let (a, b) = (Keyset::from_protobuf(&binary).unwrap(), keyset(7, vec![gcm(7)]).unwrap());
    let sealed = Aead::new(&a).unwrap().encrypt(&mut Counter(0), b"value", b"ad").unwrap();
    assert_eq!(Aead::new(&b).unwrap().decrypt(&sealed, b"ad").unwrap().as_slice(), b"value");
}

#[test]
fn debug_shows_no_key_material() {
    let keyset = keyset(1, vec![gcm(1)]).unwrap();
    let shown = format!("{keyset:?} {:?}", Aead::new(&keyset).unwrap());
    assert_eq!(shown, "Keyset { primary: 1, keys: [1], .. } Aead { keys: [1], .. }");
}

proptest! {
    #[test]
    fn what_is_sealed_opens(plaintext: Vec<u8>, ad: Vec<u8>) {
        let aead = Aead::new(&keyset(1, vec![gcm(1)]).unwrap()).unwrap();
        let sealed = aead.encrypt(&mut Counter(9), &plaintext, &ad).unwrap();
        prop_assert_eq!(sealed.len(), 5 + 12 + plaintext.len() + 16);
        prop_assert_eq!(aead.decrypt(&sealed, &ad).unwrap().to_vec(), plaintext.clone());
        let daead = DeterministicAead::new(&keyset(1, vec![key(1, "AesSivKey", &siv_value())]).unwrap()).unwrap();
        let sealed = daead.encrypt(&plaintext, &ad).unwrap();
        prop_assert_eq!(&sealed, &daead.encrypt(&plaintext, &ad).unwrap());
        prop_assert_eq!(daead.decrypt(&sealed, &ad).unwrap().to_vec(), plaintext);
    }

    #[test]
    fn no_bytes_panic(bytes: Vec<u8>) {
        let _ = Keyset::from_protobuf(&bytes);
        let _ = Keyset::from_json(&bytes);
        let aead = Aead::new(&keyset(1, vec![gcm(1)]).unwrap()).unwrap();
        prop_assert!(aead.decrypt(&bytes, b"").is_err());
    }
}
