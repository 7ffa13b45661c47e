//! The test keys, as the key agent would serve them.

use fieldveil_engine::keyring::Keyring;
use serde::Deserialize;
use serde_json::{Value, json};

const ENVELOPES: &str = include_str!("../../crypto/envelope/testdata/v1.json");
const PRFS: &str = include_str!("../../crypto/tink/testdata/prf.json");

/// Key types of AEAD that the filter takes.
pub(crate) const AEADS: [&str; 6] = [
    "aes128-gcm",
    "aes256-gcm",
    "aes128-gcm-siv",
    "aes256-gcm-siv",
    "chacha20-poly1305",
    "xchacha20-poly1305",
];
/// The one of a new keyset.
pub(crate) const DEFAULT_AEAD: &str = "aes256-gcm";
/// The one for deterministic protection.
pub(crate) const DETERMINISTIC: &str = "aes-siv";
/// The PRF of a new keyset.
pub(crate) const PRF: &str = "hmac-sha256";

#[derive(Deserialize)]
struct File {
    keysets: serde_json::Map<String, Value>,
}

/// A keyset for each type of AEAD, under its name, each with the deterministic and the PRF key.
pub(crate) fn keyring() -> Result<Keyring, String> {
    Keyring::from_json(&agents_answer()?, None).map_err(|error| error.to_string())
}

/// What the key agent would answer.
pub(crate) fn agents_answer() -> Result<Vec<u8>, String> {
    let read = |text| serde_json::from_str::<File>(text).map_err(|error| format!("the test keys: {error}"));
    let (envelopes, prfs) = (read(ENVELOPES)?, read(PRFS)?);
    let of = |file: &File, name: &str| {
        file.keysets.get(name).cloned().ok_or_else(|| format!("the test keys: there is no {name}"))
    };
    let mut keysets = serde_json::Map::new();
    for name in AEADS {
        let purposes = json!({
            "aead": of(&envelopes, name)?,
            "deterministic": of(&envelopes, DETERMINISTIC)?,
            "prf": of(&prfs, PRF)?,
        });
        keysets.insert(name.to_owned(), purposes);
    }
    Ok(json!({"revision": "test", "keysets": keysets}).to_string().into_bytes())
}
