//! The open keysets of one worker, as the key agent serves them.

use std::collections::BTreeMap;

use fieldveil_tink::{Aead, DeterministicAead, Keyset, KeysetError};
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
        /// `aead` or `deterministic`.
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
}

/// The keys under one name, by purpose.
pub struct NamedKeys {
    /// For `randomized` labels.
    pub aead: Option<Aead>,
    /// For `deterministic` labels.
    pub deterministic: Option<DeterministicAead>,
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
            keysets.insert(name, NamedKeys { aead, deterministic });
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
