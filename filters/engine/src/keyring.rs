//! The open keysets of one worker, as the key agent serves them.

use std::collections::BTreeMap;

use fieldveil_tink::{Aead, DeterministicAead, Keyset, KeysetError, Prf};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Bytes of an agent's answer that are read at most: a keyset of ten AES keys is about 3 KB.
pub const MAX_KEYS_BYTES: usize = 4 << 20;

/// Why the agent's answer was not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyringError {
    /// Longer than [`MAX_KEYS_BYTES`].
    #[error("the answer has {0} bytes, more than {MAX_KEYS_BYTES}")]
    TooLong(usize),
    /// Not the agent's JSON. The position is told, never the text, which is key material.
    #[error("the answer is not the key agent's JSON (line {line}, column {column})")]
    Malformed {
        /// Line of the first fault.
        line: usize,
        /// Column of the first fault.
        column: usize,
    },
    /// One keyset is unusable.
    #[error("keyset {name}, purpose {purpose}: {source}")]
    Keyset {
        /// The keyset's name.
        name: String,
        /// `aead`, `deterministic` or `prf`.
        purpose: &'static str,
        /// What is wrong with it.
        source: KeysetError,
    },
}

#[derive(Deserialize)]
struct Answer<'a> {
    revision: String,
    #[serde(borrow)]
    keysets: BTreeMap<String, Purposes<'a>>,
}

#[derive(Deserialize)]
struct Purposes<'a> {
    #[serde(borrow)]
    aead: Option<&'a RawValue>,
    #[serde(borrow)]
    deterministic: Option<&'a RawValue>,
    #[serde(borrow)]
    prf: Option<&'a RawValue>,
}

/// The keys under one name, by purpose.
pub struct NamedKeys {
    /// For `randomized` and `indexed` labels.
    pub aead: Option<Aead>,
    /// For `deterministic` labels.
    pub deterministic: Option<DeterministicAead>,
    /// For the index of `indexed` labels, and for the keys of `format_preserving` ones.
    pub prf: Option<Prf>,
}

/// All open keysets by name.
pub struct Keyring {
    /// Changes whenever a keyset does.
    pub revision: String,
    keysets: BTreeMap<String, NamedKeys>,
}

impl Keyring {
    /// Reads the agent's answer. One unusable keyset makes the whole answer unusable, so that the last
    /// good keyring stays in force.
    pub fn from_json(json: &[u8]) -> Result<Self, KeyringError> {
        if json.len() > MAX_KEYS_BYTES {
            return Err(KeyringError::TooLong(json.len()));
        }
        let answer: Answer = serde_json::from_slice(json)
            .map_err(|e| KeyringError::Malformed { line: e.line(), column: e.column() })?;
        let mut keysets = BTreeMap::new();
        for (name, purposes) in answer.keysets {
            let failed = |purpose| {
                let name = name.clone();
                move |source| KeyringError::Keyset { name, purpose, source }
            };
            let open = |raw: &RawValue| Keyset::from_json(raw.get().as_bytes());
            let aead = purposes
                .aead
                .map(|raw| open(raw).and_then(|keyset| Aead::new(&keyset)))
                .transpose()
                .map_err(failed("aead"))?;
            let deterministic = purposes
                .deterministic
                .map(|raw| open(raw).and_then(|keyset| DeterministicAead::new(&keyset)))
                .transpose()
                .map_err(failed("deterministic"))?;
            let prf = purposes
                .prf
                .map(|raw| open(raw).and_then(|keyset| Prf::new(&keyset)))
                .transpose()
                .map_err(failed("prf"))?;
            keysets.insert(name, NamedKeys { aead, deterministic, prf });
        }
        Ok(Self { revision: answer.revision, keysets })
    }

    /// The keys of one name.
    pub fn named(&self, name: &str) -> Option<&NamedKeys> {
        self.keysets.get(name)
    }
}

impl std::fmt::Debug for Keyring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keyring")
            .field("revision", &self.revision)
            .field("names", &self.keysets.keys())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keyset(algorithm: &str, prefix: &str, value: String) -> serde_json::Value {
        serde_json::json!({"primaryKeyId": 1, "key": [{
            "keyData": {"typeUrl": format!("type.googleapis.com/google.crypto.tink.{algorithm}"),
                "value": value, "keyMaterialType": "SYMMETRIC"},
            "status": "ENABLED", "keyId": 1, "outputPrefixType": prefix}]})
    }

    /// Keys of zero bytes, in base64: 32 for AES-GCM, 64 for AES-SIV, 32 for HMAC with SHA-256.
    fn answer() -> serde_json::Value {
        serde_json::json!({"revision": "r", "keysets": {"pii": {
            "aead": keyset("AesGcmKey", "TINK", format!("GiAA{:A<40}AA==", "")),
            "deterministic": keyset("AesSivKey", "TINK", format!("EkAA{:A<84}", "")),
            "prf": keyset("HmacPrfKey", "RAW", format!("EgIIAxog{:A<40}AAA=", ""))}}})
    }

    #[test]
    fn every_purpose_is_read() {
        let keyring = Keyring::from_json(answer().to_string().as_bytes()).unwrap();
        let keys = keyring.named("pii").unwrap();
        assert!(keys.aead.is_some() && keys.deterministic.is_some());
        assert_eq!(keys.prf.as_ref().unwrap().compute_primary(b"value", 16).unwrap().len(), 16);
    }

    #[test]
    fn purpose_that_the_agent_does_not_serve_is_absent_and_the_others_are_read() {
        for purpose in ["aead", "deterministic", "prf"] {
            let mut answer = answer();
            answer["keysets"]["pii"].as_object_mut().unwrap().remove(purpose);
            let keyring = Keyring::from_json(answer.to_string().as_bytes()).unwrap();
            let keys = keyring.named("pii").unwrap();
            let present = (keys.aead.is_some(), keys.deterministic.is_some(), keys.prf.is_some());
            assert_eq!(present, (purpose != "aead", purpose != "deterministic", purpose != "prf"));
        }
    }

    #[test]
    fn unusable_keyset_is_refused_with_its_name_and_purpose() {
        for purpose in ["aead", "deterministic", "prf"] {
            let mut answer = answer();
            answer["keysets"]["pii"][purpose]["primaryKeyId"] = 2.into();
            let error = Keyring::from_json(answer.to_string().as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with(&format!("keyset pii, purpose {purpose}: ")), "{error}");
        }
    }
}
