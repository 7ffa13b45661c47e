//! Which keys sealing a value uses, to be counted.

use fieldveil_plan::Protection;
use fieldveil_values::ValueUse;

use super::CompiledField;
use crate::key_uses::{KeyPurpose, KeyUse};
use crate::keyring::Keyring;

impl CompiledField {
    /// Tells of each key that [`Self::seal`] uses for one value.
    pub fn uses(&self, keyring: &Keyring, use_: ValueUse, mut used: impl FnMut(KeyUse)) {
        let Ok(keys) = self.held(keyring) else { return };
        let mut tell = |purpose, id, has_short_random_nonces| {
            used(KeyUse { keyset: keys.name.clone(), purpose, id, has_short_random_nonces });
        };
        let protection = self.spec.protection;
        let sealed = use_ == ValueUse::Store;
        if let Some(aead) = &keys.aead
            && (protection == Protection::Randomized || (protection == Protection::Indexed && sealed))
            && let Some(id) = aead.key_ids().next()
        {
            tell(KeyPurpose::Aead, id, aead.has_short_random_nonces());
        }
        if let Some(deterministic) = &keys.deterministic
            && protection == Protection::Deterministic
        {
            // A search needs what each enabled key makes of the value.
            let most = if sealed { 1 } else { usize::MAX };
            deterministic.key_ids().take(most).for_each(|id| tell(KeyPurpose::Deterministic, id, false));
        }
        if let Some(prf) = &keys.prf
            && matches!(protection, Protection::Indexed | Protection::FormatPreserving)
            && let Some(id) = prf.key_ids().next()
        {
            tell(KeyPurpose::Prf, id, false);
        }
    }
}
