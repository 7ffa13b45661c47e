//! The keys of a field: looked up by the keyset's name once for a keyring, not for each value.

use std::sync::{Arc, Mutex, Weak};

use fieldveil_ff1::{Ff1, KEY_LEN};
use fieldveil_plan::Protection;
use fieldveil_tink::{Aead, DeterministicAead, Prf};
use zeroize::Zeroizing;

use super::{CompiledField, FieldError};
use crate::keyring::{Keyring, NamedKeys};
use crate::locks::try_lock;

/// The keys that a protection needs.
pub(super) enum Keys<'a> {
    Randomized(&'a Aead),
    Deterministic(&'a DeterministicAead),
    Indexed(&'a Aead, &'a Prf),
    FormatPreserving(&'a Prf),
}

/// What was looked up last, and in which keyring. It keeps no keys: what the keyring gives up is erased. A thread that finds
/// another at it looks up the name itself, so that none waits.
#[derive(Default)]
pub(super) struct LookedUp(Mutex<Option<(Arc<()>, Weak<NamedKeys>)>>);

impl Clone for LookedUp {
    /// Gives an empty one: what was looked up is found again.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl LookedUp {
    pub(super) fn of(&self, name: &str, keyring: &Keyring) -> Option<Arc<NamedKeys>> {
        let Some(mut known) = try_lock(&self.0) else { return keyring.shared(name).cloned() };
        if let Some((instance, keys)) = known.as_ref()
            && Arc::ptr_eq(instance, keyring.instance())
        {
            return keys.upgrade();
        }
        let keys = keyring.shared(name)?;
        *known = Some((Arc::clone(keyring.instance()), Arc::downgrade(keys)));
        Some(Arc::clone(keys))
    }
}

impl std::fmt::Debug for LookedUp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LookedUp").finish_non_exhaustive()
    }
}

impl CompiledField {
    /// What the keyring has under the name of the field's keyset; the error says why it is not there.
    pub(super) fn held(&self, keyring: &Keyring) -> Result<Arc<NamedKeys>, String> {
        let name = &self.spec.keyset;
        self.looked_up.of(name, keyring).ok_or_else(|| keyring.absence(name))
    }

    pub(super) fn keys_of<'a>(&self, held: &'a NamedKeys) -> Result<Keys<'a>, String> {
        let lacks =
            |purpose| move || format!("keyset {} has no keys for purpose {purpose}", self.spec.keyset);
        let aead = || held.aead.as_ref().ok_or_else(lacks("aead"));
        let prf = || held.prf.as_ref().ok_or_else(lacks("prf"));
        Ok(match self.spec.protection {
            Protection::Randomized => Keys::Randomized(aead()?),
            Protection::Deterministic => {
                Keys::Deterministic(held.deterministic.as_ref().ok_or_else(lacks("deterministic"))?)
            }
            Protection::Indexed => Keys::Indexed(aead()?, prf()?),
            Protection::FormatPreserving => Keys::FormatPreserving(prf()?),
        })
    }

    /// Whether the keys are there that the field needs; the error says which are not.
    pub fn check_keys(&self, keyring: &Keyring) -> Result<(), String> {
        self.keys_of(&*self.held(keyring)?).map(|_| ())
    }

    /// As [`Self::check_keys`], with an error that a client can be told.
    pub fn require_keys(&self, keyring: &Keyring) -> Result<(), FieldError> {
        self.check_keys(keyring).map_err(FieldError::NoKeyset)
    }

    /// The cipher of a format-preserving field, made when it is first needed.
    pub(super) fn ff1(&self, held: &NamedKeys, prf: &Prf) -> Result<Arc<Ff1>, FieldError> {
        let failed = FieldError::UnfitKey;
        let alphabet = self.alphabet.ok_or_else(|| failed("the policy names no alphabet".into()))?;
        held.ff1((&self.spec.label, &self.spec.tenant, alphabet), || {
            let input = fieldveil_ff1::key_input(&self.spec.label, &self.spec.tenant)
                .map_err(|e| failed(e.to_string()))?;
            let mut key = Zeroizing::new([0; KEY_LEN]);
            prf.compute_primary_into(&[&input], &mut *key).map_err(|e| failed(e.to_string()))?;
            Ff1::new(&key, alphabet).map_err(|e| failed(e.to_string()))
        })
    }
}
