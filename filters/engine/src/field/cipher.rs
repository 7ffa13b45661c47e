//! From a value's canonical text to what is stored, by the field's protection.

use fieldveil_envelope::{self as envelope, Envelope, Version};
use fieldveil_plan::Protection;
use fieldveil_sql::Envelopes;
use fieldveil_tink::{CryptError, Random};
use fieldveil_values::ValueUse;

use super::keys::Keys;
use super::{Clear, CompiledField, FieldError, FieldValue, Scratch, StoredForm};
use crate::keyring::Keyring;

impl CompiledField {
    /// The keys that decide what a value is sealed to: of a deterministic label all enabled ones, the primary first, for
    /// some rows may be sealed under another than that; of others the one that seals. A PRF
    /// always uses its primary key, which is never rotated.
    pub fn sealing_keys(&self, keyring: &Keyring) -> Vec<u32> {
        let Ok(held) = self.held(keyring) else { return Vec::new() };
        match self.keys_of(&held) {
            Ok(Keys::Deterministic(keys)) => keys.key_ids().collect(),
            Ok(Keys::Randomized(aead) | Keys::Indexed(aead, _)) => aead.key_ids().take(1).collect(),
            Ok(Keys::FormatPreserving(_)) | Err(_) => Vec::new(),
        }
    }

    /// How many ciphertexts a value has where equal values are looked for by theirs, under these keys.
    pub fn envelopes(&self, keys: &[u32]) -> Envelopes {
        match (self.spec.protection, keys) {
            (Protection::Deterministic, [_, _, ..]) => Envelopes::Several,
            (Protection::Deterministic, _) => Envelopes::OneNow,
            _ => Envelopes::One,
        }
    }

    /// Seals a value given as text in any form that the declared type takes, if its canonical text takes no more than
    /// `most` bytes, and appends what the column stores, or for a search what the column is compared with; nothing if it
    /// fails. Gives the bytes of the canonical text.
    #[allow(clippy::too_many_arguments)]
    pub fn seal_into(
        &self,
        keyring: &Keyring,
        random: &mut dyn Random,
        use_: ValueUse,
        value: FieldValue<'_>,
        most: usize,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<usize, FieldError> {
        let canonical = self.to_be_sealed(use_, value, most)?;
        let canonical = FieldValue { bytes: &canonical, how: value.how };
        self.seal_canonical(keyring, random, use_, canonical, &mut scratch.opening.raw, out)?;
        Ok(canonical.bytes.len())
    }

    /// What the value may be stored as, one for each enabled key, the primary's first. For a deterministic label, and a value
    /// whose canonical text takes no more than `most` bytes.
    pub fn seal_with_each(
        &self,
        keyring: &Keyring,
        use_: ValueUse,
        text: &[u8],
        stored: StoredForm,
        most: usize,
    ) -> Result<Vec<Vec<u8>>, FieldError> {
        let canonical = self.to_be_sealed(use_, FieldValue { bytes: text, how: stored }, most)?;
        let held = self.held(keyring).map_err(FieldError::NoKeyset)?;
        let Keys::Deterministic(daead) = self.keys_of(&held).map_err(FieldError::NoKeyset)? else {
            return Err(FieldError::Misused("a value of this label is not looked for by its ciphertexts"));
        };
        let bodies = daead.encrypt_with_each(&canonical, &self.associated_data);
        let bodies = bodies.map_err(|error| self.not_sealed(&error.to_string()))?;
        let whole = |body: &Vec<u8>| {
            let mut sealed = Vec::with_capacity(envelope::HEADER_LEN.saturating_add(body.len()));
            Envelope { version: Version::V1, label_tag: self.tag, body }.write(&mut sealed);
            match stored {
                StoredForm::Armored => envelope::armor(&sealed).into_bytes(),
                StoredForm::Raw | StoredForm::Formatted => sealed,
            }
        };
        Ok(bodies.iter().map(whole).collect())
    }

    /// The canonical text of a value that is not sealed yet.
    pub(super) fn to_be_sealed<'t>(
        &self,
        use_: ValueUse,
        value: FieldValue<'t>,
        most: usize,
    ) -> Result<Clear<'t>, FieldError> {
        if value.how != StoredForm::Formatted && envelope::looks_sealed(value.bytes) {
            return Err(self.not_sealed("it is sealed already"));
        }
        let canonical = self.declared.canonical_within(use_, value.bytes, most);
        canonical.map(Clear::from).map_err(|error| self.bad_value(&error))
    }

    pub(super) fn not_sealed(&self, reason: &str) -> FieldError {
        FieldError::BadValue {
            label: self.spec.label.clone(),
            reason: reason.to_owned(),
            declared: self.declared.name().to_owned(),
        }
    }

    /// Appends what a canonical text is stored as. An envelope that is to be armored is made in `raw`.
    fn seal_canonical(
        &self,
        keyring: &Keyring,
        random: &mut dyn Random,
        use_: ValueUse,
        canonical: FieldValue<'_>,
        raw: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Result<(), FieldError> {
        let held = self.held(keyring).map_err(FieldError::NoKeyset)?;
        let keys = self.keys_of(&held).map_err(FieldError::NoKeyset)?;
        if let Keys::FormatPreserving(prf) = keys {
            let failed = |reason: String| self.not_sealed(&reason);
            let text = std::str::from_utf8(canonical.bytes).map_err(|e| failed(e.to_string()))?;
            return self.ff1(&held, prf)?.encrypt_into(b"", text, out).map_err(|e| failed(e.to_string()));
        }
        let index = match keys {
            Keys::Indexed(_, prf) => Some(self.index(prf, canonical.bytes)?),
            _ => None,
        };
        if let Some(index) = index.filter(|_| use_ == ValueUse::Search) {
            match canonical.how {
                StoredForm::Raw => out.extend_from_slice(&envelope::index_prefix_raw(self.tag, &index)),
                _ => out.extend_from_slice(envelope::index_prefix_armored(self.tag, &index).as_bytes()),
            }
            return Ok(());
        }
        let is_armored = canonical.how == StoredForm::Armored;
        let before = out.len();
        let sealed = if is_armored { &mut *raw } else { &mut *out };
        if is_armored {
            sealed.clear();
        }
        match &index {
            Some(index) => envelope::write_indexed_header(sealed, self.tag, index),
            None => envelope::write_header(sealed, Version::V1, self.tag),
        }
        let body = match keys {
            Keys::Randomized(aead) | Keys::Indexed(aead, _) => {
                aead.encrypt_into(random, canonical.bytes, &self.associated_data, sealed)
            }
            Keys::Deterministic(daead) => daead.encrypt_into(canonical.bytes, &self.associated_data, sealed),
            Keys::FormatPreserving(_) => Err(CryptError::Malformed),
        };
        if let Err(error) = body {
            out.truncate(before);
            return Err(self.not_sealed(&error.to_string()));
        }
        if is_armored {
            envelope::armor_to(raw, out);
        }
        Ok(())
    }

    /// Characters, or bytes in a column of bytes, that the longest value takes when it is stored; None where values have no
    /// longest.
    pub fn longest_stored(
        &self,
        keyring: &Keyring,
        random: &mut dyn Random,
        stored: StoredForm,
    ) -> Option<usize> {
        if stored == StoredForm::Formatted {
            // As many characters as the value, which the type's modifier tells, with VARHDRSZ added.
            return usize::try_from(self.declared.modifier().checked_sub(4)?).ok();
        }
        let longest = self.declared.max_text_bytes()?;
        let (mut raw, mut sealed) = (Vec::new(), Vec::new());
        let empty = FieldValue { bytes: b"", how: StoredForm::Raw };
        self.seal_canonical(keyring, random, ValueUse::Store, empty, &mut raw, &mut sealed).ok()?;
        let raw = sealed.len().saturating_add(longest);
        Some(match stored {
            StoredForm::Armored => envelope::armored_len(raw),
            StoredForm::Raw | StoredForm::Formatted => raw,
        })
    }
}
