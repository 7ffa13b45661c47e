//! Answers that others know: NIST's samples for AES-256 and Wycheproof's vectors.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used
)]

use std::collections::BTreeMap;

use fieldveil_ff1::{Alphabet, Ff1, Ff1Error};
use serde::Deserialize;

fn unhex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

fn cipher(key: &str, alphabet: Alphabet) -> Ff1 {
    Ff1::new(&unhex(key).try_into().unwrap(), alphabet).unwrap()
}

/// Samples 7 to 9 of <https://csrc.nist.gov/CSRC/media/Projects/Cryptographic-Standards-and-Guidelines/documents/examples/FF1samples.pdf>;
/// the others are for shorter keys.
#[test]
fn nist_samples_for_aes_256_encrypt_and_decrypt() {
    let key = "2B7E151628AED2A6ABF7158809CF4F3CEF4359D8D580AA4F7F036D6F04FC6A94";
    let samples = [
        (Alphabet::Digits, "", "0123456789", "6657667009"),
        (Alphabet::Digits, "39383736353433323130", "0123456789", "1001623463"),
        (Alphabet::AlphanumericLower, "3737373770717273373737", "0123456789abcdefghi", "xs8a0azh2avyalyzuwd"),
    ];
    for (alphabet, tweak, plaintext, ciphertext) in samples {
        let ff1 = cipher(key, alphabet);
        assert_eq!(ff1.encrypt(&unhex(tweak), plaintext).as_deref(), Ok(ciphertext));
        assert_eq!(*ff1.decrypt(&unhex(tweak), ciphertext).unwrap(), plaintext);
    }
}

#[derive(Deserialize)]
struct Case {
    alphabet: String,
    id: u32,
    key: String,
    tweak: String,
    msg: String,
    ct: String,
    valid: bool,
}

#[test]
fn wycheproof_valid_cases_encrypt_and_decrypt_and_invalid_ones_are_refused() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../../testdata/wycheproof.json")).unwrap();
    let mut counts = BTreeMap::<(&str, &str), usize>::new();
    for case in &cases {
        let name = format!("{} {}", case.alphabet, case.id);
        let alphabet: Alphabet = case.alphabet.parse().unwrap();
        let (ff1, tweak) = (cipher(&case.key, alphabet), unhex(&case.tweak));
        let encrypted = ff1.encrypt(&tweak, &case.msg);
        let outcome = match encrypted {
            Err(Ff1Error::TooShort { len, .. }) => {
                assert!(len < alphabet.min_len(), "{name}");
                "too short"
            }
            _ if case.valid => {
                assert_eq!(encrypted.as_deref(), Ok(case.ct.as_str()), "{name}");
                assert_eq!(*ff1.decrypt(&tweak, &case.ct).unwrap(), case.msg, "{name}");
                "valid"
            }
            _ => {
                assert!(matches!(encrypted, Err(Ff1Error::OutsideAlphabet { .. })), "{name}: {encrypted:?}");
                "invalid"
            }
        };
        *counts.entry((&case.alphabet, outcome)).or_default() += 1;
    }
    assert_eq!(counts.len(), 9, "three alphabets, each valid, invalid and too short: {counts:?}");
}

#[derive(Deserialize)]
struct Frozen {
    vectors: Vec<Stored>,
}

#[derive(Deserialize)]
struct Stored {
    label: String,
    alphabet: String,
    key_hex: String,
    plaintext: String,
    stored: String,
}

/// That the keys are the PRF's is shown where PRFs are: in the keyset crate's tests.
#[test]
fn frozen_values_open_and_are_stored_the_same_again() {
    let frozen: Frozen = serde_json::from_str(include_str!("../../testdata/v1.json")).unwrap();
    for vector in &frozen.vectors {
        let ff1 = cipher(&vector.key_hex, vector.alphabet.parse().unwrap());
        assert_eq!(*ff1.decrypt(b"", &vector.stored).unwrap(), vector.plaintext, "{}", vector.label);
        assert_eq!(
            ff1.encrypt(b"", &vector.plaintext).as_deref(),
            Ok(vector.stored.as_str()),
            "{}",
            vector.label
        );
    }
    assert!(frozen.vectors.len() >= 20, "frozen vectors may grow, never shrink");
}
