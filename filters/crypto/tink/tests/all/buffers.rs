//! Sealing and opening into a buffer of the caller: what is appended, and what is not.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fieldveil_tink::{Aead, CryptError, DeterministicAead, Keyset, Random, reserve_wiping};
use serde_json::json;

/// For tests only.
struct Counting(u8);

impl Random for Counting {
    fn fill(&mut self, bytes: &mut [u8]) {
        self.0 += 1;
        bytes.fill(self.0);
    }
}

/// One key, whose bytes are the message's field of this tag.
fn keyset(name: &str, field: u8, key_len: u8) -> Keyset {
    let value = STANDARD.encode([&[field, key_len][..], &vec![7; usize::from(key_len)]].concat());
    let keyset = json!({"primaryKeyId": 5, "key": [{
        "keyData": {"typeUrl": format!("type.googleapis.com/google.crypto.tink.{name}"), "value": value,
            "keyMaterialType": "SYMMETRIC"},
        "status": "ENABLED", "keyId": 5, "outputPrefixType": "TINK"}]});
    Keyset::from_json(keyset.to_string().as_bytes()).unwrap()
}

fn aeads() -> [(&'static str, Aead); 5] {
    [
        ("AesGcmKey", 0x1a, 16),
        ("AesGcmKey", 0x1a, 32),
        ("AesGcmSivKey", 0x1a, 32),
        ("ChaCha20Poly1305Key", 0x12, 32),
        ("XChaCha20Poly1305Key", 0x1a, 32),
    ]
    .map(|(name, field, len)| (name, Aead::new(&keyset(name, field, len)).unwrap()))
}

fn deterministic() -> DeterministicAead {
    DeterministicAead::new(&keyset("AesSivKey", 0x12, 64)).unwrap()
}

/// That both are appended, that what fails is not, and that a buffer with room stays where it is.
fn appends(
    name: &str,
    sealed: &[u8],
    encrypt_into: impl Fn(&[u8], &mut Vec<u8>),
    decrypt_into: impl Fn(&[u8], &mut Vec<u8>) -> Result<(), CryptError>,
) {
    let mut out = Vec::with_capacity(1000);
    let place = out.as_ptr();
    out.extend_from_slice(b"before");
    encrypt_into(b"a value of a column", &mut out);
    assert_eq!(out, [&b"before"[..], sealed].concat(), "{name}");

    out.truncate(6);
    decrypt_into(sealed, &mut out).unwrap();
    assert_eq!(out, b"beforea value of a column", "{name}");
    for at in 0..sealed.len() {
        let mut changed = sealed.to_vec();
        changed[at] ^= 1;
        assert!(decrypt_into(&changed, &mut out).is_err(), "{name} {at}");
        assert!(decrypt_into(&sealed[..at], &mut out).is_err(), "{name} {at}");
        assert_eq!(out, b"beforea value of a column", "{name} {at}");
    }
    assert_eq!(out.as_ptr(), place, "{name}");

    // Without room, too.
    let mut small = b"x".to_vec();
    decrypt_into(sealed, &mut small).unwrap();
    assert_eq!(small, b"xa value of a column", "{name}");
}

#[test]
fn aead_appends_what_it_gives_otherwise_and_nothing_where_it_fails() {
    for (name, aead) in aeads() {
        let sealed = aead.encrypt(&mut Counting(0), b"a value of a column", b"ad").unwrap();
        appends(
            name,
            &sealed,
            |text, out| aead.encrypt_into(&mut Counting(0), text, b"ad", out).unwrap(),
            |sealed, out| aead.decrypt_into(sealed, b"ad", out),
        );
    }
}

#[test]
fn deterministic_aead_appends_what_it_gives_otherwise_and_nothing_where_it_fails() {
    let daead = deterministic();
    let sealed = daead.encrypt(b"a value of a column", b"ad").unwrap();
    appends(
        "AES-SIV",
        &sealed,
        |text, out| daead.encrypt_into(text, b"ad", out).unwrap(),
        |sealed, out| daead.decrypt_into(sealed, b"ad", out),
    );
}

#[test]
fn buffer_that_has_room_stays_and_one_that_has_not_keeps_its_bytes() {
    let mut buffer = Vec::with_capacity(64);
    let place = buffer.as_ptr();
    buffer.extend_from_slice(&[7; 10]);
    reserve_wiping(&mut buffer, 54);
    assert_eq!(buffer.as_ptr(), place);
    reserve_wiping(&mut buffer, 55);
    assert_eq!(buffer, [7; 10]);
    assert!(buffer.capacity() >= 128, "it doubles");
}
