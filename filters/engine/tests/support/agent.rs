//! What the key agent answers, with the frozen test keysets.

use serde_json::json;

fn frozen_keysets() -> serde_json::Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../crypto/envelope/testdata/v1.json");
    serde_json::from_slice::<serde_json::Value>(&std::fs::read(path).unwrap()).unwrap()["keysets"].clone()
}

fn keys_of(aead: &str, deterministic: &str) -> Vec<u8> {
    let frozen = frozen_keysets();
    let pii = json!({"aead": frozen[aead], "deterministic": frozen[deterministic]});
    json!({"revision": deterministic, "keysets": {"pii": pii}}).to_string().into_bytes()
}

/// The agent's answer, with the frozen test keysets.
pub fn keys() -> Vec<u8> {
    keys_of("aes256-gcm", "aes-siv")
}

/// The same after a rotation.
pub fn rotated_keys() -> Vec<u8> {
    keys_of("rotated-aead", "rotated-deterministic")
}

/// The agent's answer with these of the test keys for deterministic labels, the first as the primary: `a`, `b`, `c`.
pub fn keys_among(names: &str) -> Vec<u8> {
    let frozen = frozen_keysets();
    let key = |name: char| match name {
        'a' => frozen["aes-siv"]["key"][0].clone(),
        'b' => frozen["rotated-deterministic"]["key"][0].clone(),
        _ => frozen["rotated-deterministic"]["key"][1].clone(),
    };
    let keys: Vec<_> = names.chars().map(key).collect();
    let deterministic = json!({"primaryKeyId": keys[0]["keyId"], "key": keys});
    let pii = json!({"aead": frozen["aes256-gcm"], "deterministic": deterministic});
    json!({"revision": names, "keysets": {"pii": pii}}).to_string().into_bytes()
}
