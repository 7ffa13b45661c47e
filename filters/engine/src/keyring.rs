//! The open keysets of one worker, as the key agent serves them.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use fieldveil_ff1::Ff1;
use fieldveil_plan::check_spiffe_id;
use fieldveil_tink::{Aead, DeterministicAead, Keyset, KeysetError, Prf};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::kept_ciphers::{CipherScope, KeptCiphers};
use crate::key_memory::in_key_memory;

/// Bytes of an agent's answer that are read at most: a name with three keysets of two keys each is about 2 KB.
pub const MAX_KEYS_BYTES: usize = 8 << 20;
/// Names that are held at most, tenants' among them.
pub const MAX_KEYSETS: usize = 2048;

/// Why the agent's answer was not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyringError {
    /// Longer than [`MAX_KEYS_BYTES`].
    #[error("the answer has {0} bytes, more than {MAX_KEYS_BYTES}")]
    TooLong(usize),
    /// More than [`MAX_KEYSETS`].
    #[error("the answer has {0} keysets, more than {MAX_KEYSETS}")]
    TooMany(usize),
    /// Not the agent's JSON. The position is told, never the text, which is key material.
    #[error("the answer is not the key agent's JSON (line {line}, column {column})")]
    Malformed {
        /// Line of the first fault.
        line: usize,
        /// Column of the first fault.
        column: usize,
    },
    /// Not the form of a SPIFFE id.
    #[error("workload.spiffe_id: {0}")]
    SpiffeId(&'static str),
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
struct AgentResponse<'a> {
    revision: String,
    #[serde(default)]
    workload: SaidWorkload,
    #[serde(borrow)]
    keysets: BTreeMap<String, Purposes<'a>>,
}

/// What an agent that speaks with SPIRE says of the pod, beside its keysets.
#[derive(Default, Deserialize)]
struct SaidWorkload {
    #[serde(default)]
    spiffe_id: String,
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

impl Purposes<'_> {
    /// Hashes the texts, to recognise unchanged ones without keeping them.
    fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        [self.aead, self.deterministic, self.prf].map(|raw| raw.map(RawValue::get)).hash(&mut hasher);
        hasher.finish()
    }

    fn open(&self, name: &str, digest: u64) -> Result<NamedKeys, KeyringError> {
        let open = |raw: &RawValue| Keyset::from_json(raw.get().as_bytes());
        let failed = |purpose| move |source| KeyringError::Keyset { name: name.to_owned(), purpose, source };
        let aead = self.aead.map(|raw| open(raw).and_then(|keyset| Aead::new(&keyset)));
        let deterministic =
            self.deterministic.map(|raw| open(raw).and_then(|keyset| DeterministicAead::new(&keyset)));
        let prf = self.prf.map(|raw| open(raw).and_then(|keyset| Prf::new(&keyset)));
        Ok(NamedKeys {
            name: Arc::from(name),
            aead: aead.transpose().map_err(failed("aead"))?,
            deterministic: deterministic.transpose().map_err(failed("deterministic"))?,
            prf: prf.transpose().map_err(failed("prf"))?,
            ciphers: KeptCiphers::default(),
            digest,
        })
    }
}

/// The keys under one name, by purpose.
pub struct NamedKeys {
    /// The name.
    pub name: Arc<str>,
    /// For `randomized` and `indexed` labels.
    pub aead: Option<Aead>,
    /// For `deterministic` labels.
    pub deterministic: Option<DeterministicAead>,
    /// For the index of `indexed` labels, and for the keys of `format_preserving` ones.
    pub prf: Option<Prf>,
    ciphers: KeptCiphers,
    digest: u64,
}

impl NamedKeys {
    /// Returns the cipher for these values, which `make` makes the first time.
    pub fn ff1<E>(&self, of: CipherScope<'_>, make: impl FnOnce() -> Result<Ff1, E>) -> Result<Arc<Ff1>, E> {
        self.ciphers.of(of, make)
    }
}

/// All open keysets by name.
pub struct Keyring {
    /// Changes whenever a keyset does.
    pub revision: String,
    /// The SPIFFE id of the workload; empty if the agent says none.
    pub spiffe_id: String,
    /// Of this keyring and no other, for as long as anybody has it.
    instance: Arc<()>,
    keysets: BTreeMap<String, Arc<NamedKeys>>,
    /// Tenants' keysets that were served and are of no use.
    unusable: BTreeMap<String, KeyringError>,
}

impl Keyring {
    /// Reads the agent's answer; what is unchanged since `held` is not made anew. One unusable keyset makes the whole
    /// answer unusable, so that the last good keyring stays in force; but a tenant's own concerns that tenant alone.
    pub fn from_json(json: &[u8], held: Option<&Self>) -> Result<Self, KeyringError> {
        if json.len() > MAX_KEYS_BYTES {
            return Err(KeyringError::TooLong(json.len()));
        }
        let answer: AgentResponse = serde_json::from_slice(json)
            .map_err(|e| KeyringError::Malformed { line: e.line(), column: e.column() })?;
        if answer.keysets.len() > MAX_KEYSETS {
            return Err(KeyringError::TooMany(answer.keysets.len()));
        }
        check_spiffe_id(&answer.workload.spiffe_id).map_err(KeyringError::SpiffeId)?;
        let mut keyring = Self {
            revision: answer.revision,
            spiffe_id: answer.workload.spiffe_id,
            instance: Arc::new(()),
            keysets: BTreeMap::new(),
            unusable: BTreeMap::new(),
        };
        for (name, purposes) in answer.keysets {
            let digest = purposes.digest();
            let same = held.and_then(|held| held.keysets.get(&name)).filter(|keys| keys.digest == digest);
            let keys = match same {
                Some(keys) => Ok(Arc::clone(keys)),
                None => in_key_memory(|| purposes.open(&name, digest).map(Arc::new)),
            };
            match keys {
                Ok(keys) => {
                    keyring.keysets.insert(name, keys);
                }
                Err(error) if name.contains('/') => {
                    keyring.unusable.insert(name, error);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(keyring)
    }

    /// The keys of one name.
    pub fn named(&self, name: &str) -> Option<&NamedKeys> {
        self.shared(name).map(Arc::as_ref)
    }

    /// The same, as a reference that may be held.
    pub fn shared(&self, name: &str) -> Option<&Arc<NamedKeys>> {
        self.keysets.get(name)
    }

    /// What tells this keyring from every other, also from one that takes its place in memory.
    pub fn instance(&self) -> &Arc<()> {
        &self.instance
    }

    /// Why there are no keys of this name.
    pub fn absence(&self, name: &str) -> String {
        match self.unusable.get(name) {
            Some(error) => error.to_string(),
            None => format!("keyset {name} is not served by the key agent"),
        }
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

    fn read(answer: &serde_json::Value) -> Result<Keyring, KeyringError> {
        Keyring::from_json(answer.to_string().as_bytes(), None)
    }

    #[test]
    fn every_purpose_is_read() {
        let keyring = read(&answer()).unwrap();
        let keys = keyring.named("pii").unwrap();
        assert!(keys.aead.is_some() && keys.deterministic.is_some());
        assert_eq!(keys.prf.as_ref().unwrap().compute_primary(b"value", 16).unwrap().len(), 16);
    }

    #[test]
    fn purpose_that_the_agent_does_not_serve_is_absent_and_the_others_are_read() {
        for purpose in ["aead", "deterministic", "prf"] {
            let mut answer = answer();
            answer["keysets"]["pii"].as_object_mut().unwrap().remove(purpose);
            let keyring = read(&answer).unwrap();
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
            let error = read(&answer).unwrap_err().to_string();
            assert!(error.starts_with(&format!("keyset pii, purpose {purpose}: ")), "{error}");
        }
    }

    #[test]
    fn unusable_keyset_of_a_tenant_leaves_the_others_in_force() {
        let mut answer = answer();
        let mut broken = answer["keysets"]["pii"].clone();
        broken["prf"]["primaryKeyId"] = 2.into();
        answer["keysets"]["pii/acme"] = broken;
        answer["keysets"]["pii/globex"] = answer["keysets"]["pii"].clone();
        let keyring = read(&answer).unwrap();
        assert!(keyring.named("pii").is_some() && keyring.named("pii/globex").is_some());
        assert!(keyring.named("pii/acme").is_none());
        assert!(keyring.absence("pii/acme").starts_with("keyset pii/acme, purpose prf: "));
        assert_eq!(keyring.absence("pii/initech"), "keyset pii/initech is not served by the key agent");
    }

    #[test]
    fn what_is_unchanged_is_kept_and_what_is_changed_or_gone_is_not() {
        let mut answer = answer();
        for name in ["pii/acme", "pii/globex"] {
            answer["keysets"][name] = answer["keysets"]["pii"].clone();
        }
        let held = read(&answer).unwrap();
        answer["keysets"]["pii/acme"].as_object_mut().unwrap().remove("prf");
        answer["keysets"].as_object_mut().unwrap().remove("pii/globex");
        let next = Keyring::from_json(answer.to_string().as_bytes(), Some(&held)).unwrap();
        let same = |name| std::ptr::eq(held.named(name).unwrap(), next.named(name).unwrap());
        assert!(same("pii") && !same("pii/acme"));
        assert!(next.named("pii/acme").unwrap().prf.is_none());
        assert!(next.named("pii/globex").is_none());
    }

    #[test]
    fn more_names_than_are_held_are_refused() {
        let names: BTreeMap<String, serde_json::Value> =
            (0..=MAX_KEYSETS).map(|number| (format!("pii/{number}"), serde_json::json!({}))).collect();
        let answer = serde_json::json!({"revision": "r", "keysets": names});
        assert!(matches!(read(&answer), Err(KeyringError::TooMany(_))));
    }
}
