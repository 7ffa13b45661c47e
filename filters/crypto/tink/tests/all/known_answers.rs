//! Answers that others know: Wycheproof's for every algorithm, and keysets as tink-go writes them in protobuf form.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used
)]

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fieldveil_tink::{Aead, CryptError, DeterministicAead, Keyset, Random};
use serde::Deserialize;
use serde_json::{Value, json};

/// Every nonce is the vector's: for tests only.
struct Fixed(Vec<u8>);

impl Random for Fixed {
    fn fill(&mut self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.0);
    }
}

#[derive(Deserialize)]
struct Case {
    algorithm: String,
    id: u32,
    key: String,
    iv: String,
    aad: String,
    msg: String,
    ct: String,
    valid: bool,
}

const KEY_ID: u32 = 0x0102_0304;

fn unhex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

impl Case {
    /// The key's message: its bytes are field 2 or 3.
    fn keyset(&self) -> Keyset {
        let (name, tag) = match self.algorithm.as_str() {
            "aes128-gcm" | "aes256-gcm" => ("AesGcmKey", 0x1a),
            "aes128-gcm-siv" | "aes256-gcm-siv" => ("AesGcmSivKey", 0x1a),
            "chacha20-poly1305" => ("ChaCha20Poly1305Key", 0x12),
            "xchacha20-poly1305" => ("XChaCha20Poly1305Key", 0x1a),
            _ => ("AesSivKey", 0x12),
        };
        let key = unhex(&self.key);
        let value = STANDARD.encode([&[tag, key.len() as u8][..], &key].concat());
        let keyset = json!({"primaryKeyId": KEY_ID, "key": [{
            "keyData": {"typeUrl": format!("type.googleapis.com/google.crypto.tink.{name}"), "value": value,
                "keyMaterialType": "SYMMETRIC"},
            "status": "ENABLED", "keyId": KEY_ID, "outputPrefixType": "TINK"}]});
        Keyset::from_json(keyset.to_string().as_bytes()).unwrap()
    }

    fn ciphertext(&self) -> Vec<u8> {
        [&[1][..], &KEY_ID.to_be_bytes(), &unhex(&self.iv), &unhex(&self.ct)].concat()
    }

    /// What sealing the message gives, and what opening the ciphertext gives.
    fn run(&self) -> (Vec<u8>, Result<Vec<u8>, CryptError>) {
        let (keyset, aad, msg) = (self.keyset(), unhex(&self.aad), unhex(&self.msg));
        if self.algorithm == "aes-siv" {
            let daead = DeterministicAead::new(&keyset).unwrap();
            let opened = daead.decrypt(&self.ciphertext(), &aad);
            return (daead.encrypt(&msg, &aad).unwrap(), opened.map(|text| text.to_vec()));
        }
        let aead = Aead::new(&keyset).unwrap();
        let sealed = aead.encrypt(&mut Fixed(unhex(&self.iv)), &msg, &aad).unwrap();
        (sealed, aead.decrypt(&self.ciphertext(), &aad).map(|text| text.to_vec()))
    }
}

#[test]
fn wycheproof_valid_cases_seal_to_their_bytes_and_open_and_invalid_ones_do_neither() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../../testdata/wycheproof.json")).unwrap();
    let mut counts = BTreeMap::<(&str, bool), usize>::new();
    for case in &cases {
        let name = format!("{} {}", case.algorithm, case.id);
        let (sealed, opened) = case.run();
        assert_eq!(sealed == case.ciphertext(), case.valid, "{name}");
        match case.valid {
            true => assert_eq!(opened, Ok(unhex(&case.msg)), "{name}"),
            false => assert_eq!(opened, Err(CryptError::NotAuthentic), "{name}"),
        }
        *counts.entry((&case.algorithm, case.valid)).or_default() += 1;
    }
    assert_eq!(counts.len(), 14, "seven algorithms, valid and invalid: {counts:?}");
}

#[test]
fn keysets_in_tink_gos_protobuf_form_are_those_in_its_json_form() {
    let frozen: Value = serde_json::from_str(include_str!("../../../envelope/testdata/v1.json")).unwrap();
    let binary: [(&str, &[u8]); 2] = [
        ("rotated-aead", include_bytes!("../../testdata/rotated-aead.binpb")),
        ("rotated-deterministic", include_bytes!("../../testdata/rotated-deterministic.binpb")),
    ];
    for (name, bytes) in binary {
        let a = Keyset::from_protobuf(bytes).unwrap();
        let b = Keyset::from_json(frozen["keysets"][name].to_string().as_bytes()).unwrap();
        assert_eq!(a.primary_key_id(), b.primary_key_id(), "{name}");
        assert_eq!(a.key_ids().collect::<Vec<_>>(), b.key_ids().collect::<Vec<_>>(), "{name}");

        // The key bytes, too: the values sealed under every key of the keyset open.
        for vector in frozen["vectors"].as_array().unwrap().iter().filter(|v| v["keyset"] == name) {
            let field = |name: &str| vector[name].as_str().unwrap();
            let associated_data = format!("fieldveil/v1\0{}\0{}", field("label"), field("tenant"));
            let body = unhex(field("envelope_hex")).split_off(6);
            let opened = match name {
                "rotated-aead" => Aead::new(&a).unwrap().decrypt(&body, associated_data.as_bytes()),
                _ => DeterministicAead::new(&a).unwrap().decrypt(&body, associated_data.as_bytes()),
            };
            assert_eq!(opened.unwrap().as_slice(), unhex(field("plaintext_hex")), "{}", field("name"));
        }
    }
}
