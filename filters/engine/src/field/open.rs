//! From what is stored to a value's canonical text, by the field's protection.

use fieldveil_envelope::{self as envelope, Envelope, EnvelopeError, INDEX_LEN, Version};
use fieldveil_tink::{Prf, reserve_wiping};
use zeroize::{Zeroize, Zeroizing};

use super::keys::Keys;
use super::{CompiledField, FieldError, OpenedBatch, StoredForm, append};
use crate::keyring::Keyring;

/// Bytes of a buffer that are kept for the next callback.
const MAX_KEPT: usize = 4096;

/// A value, and how its column holds it, or will.
#[derive(Clone, Copy)]
pub struct FieldValue<'v> {
    /// Its bytes.
    pub bytes: &'v [u8],
    /// How they are, or will be, stored.
    pub how: StoredForm,
}

/// The buffers that opening needs.
#[derive(Default)]
pub(super) struct Opening {
    /// The bytes of an armored envelope.
    pub(super) raw: Vec<u8>,
    pub(super) batch: OpenedBatch,
}

/// Buffers that are used from one value to the next; wiped before their memory is given back.
#[derive(Default)]
pub struct Scratch {
    pub(super) opening: Opening,
    /// A canonical text that is not shown as it is.
    pub(super) text: Zeroizing<Vec<u8>>,
}

impl Scratch {
    /// Gives back, wiped, what held clear text, and what a long envelope took.
    pub fn wipe(&mut self) {
        self.text.as_mut_slice().zeroize();
        self.text.clear();
        if self.text.capacity() > MAX_KEPT {
            self.text = Zeroizing::default();
        }
        self.opening.batch.clear();
        if self.opening.raw.capacity() > MAX_KEPT {
            self.opening.raw = Vec::new();
        }
    }

    /// The values that are opened together.
    pub fn batch(&mut self) -> &mut OpenedBatch {
        &mut self.opening.batch
    }
}

/// Why a stored value is not an envelope.
fn envelope_reason(error: &EnvelopeError) -> String {
    format!("it is not an envelope ({error})")
}

impl CompiledField {
    /// Whether what is stored is no envelope at all, but what somebody wrote past the filter, or before it.
    pub(super) fn is_plaintext(&self, stored: &[u8], how: StoredForm) -> bool {
        match how {
            StoredForm::Armored => !stored.starts_with(envelope::ARMOR_PREFIX.as_bytes()),
            StoredForm::Raw => stored.first() != Some(&envelope::MAGIC),
            StoredForm::Formatted => false,
        }
    }

    /// Opens what is stored and appends the value's canonical text; nothing if that fails.
    pub(super) fn open(
        &self,
        keyring: &Keyring,
        stored: FieldValue<'_>,
        opening: &mut Opening,
        out: &mut Vec<u8>,
    ) -> Result<(), FieldError> {
        if let Some(text) = opening.batch.take(stored.bytes) {
            append(out, text);
            return Ok(());
        }
        let held = self.held(keyring).map_err(FieldError::NoKeyset)?;
        let keys = self.keys_of(&held).map_err(FieldError::NoKeyset)?;
        if let Keys::FormatPreserving(prf) = keys {
            // A `char(n)` comes back filled up with spaces.
            let text = std::str::from_utf8(stored.bytes).map_err(|_| self.unreadable("it is not UTF-8"))?;
            let text = text.trim_end_matches(' ');
            let cipher = self.ff1(&held, prf)?;
            reserve_wiping(out, text.len());
            return cipher.decrypt_into(b"", text, out).map_err(|e| self.unreadable(e.to_string()));
        }
        let version = if matches!(keys, Keys::Indexed(..)) { Version::V2 } else { Version::V1 };
        let envelope = self.envelope_in(stored, version, &mut opening.raw)?;
        let body = envelope.tink_ciphertext();
        let start = out.len();
        let opened = match keys {
            Keys::Randomized(aead) | Keys::Indexed(aead, _) => {
                aead.decrypt_into(body, &self.associated_data, out)
            }
            Keys::Deterministic(daead) => daead.decrypt_into(body, &self.associated_data, out),
            Keys::FormatPreserving(_) => return Err(self.unreadable("it is no envelope")),
        };
        opened.map_err(|e| self.unreadable(e.to_string()))?;
        if let Keys::Indexed(_, prf) = keys {
            let value = out.get_mut(start..).unwrap_or_default();
            let checked = self.check_index(prf, envelope, value);
            if checked.is_err() {
                value.zeroize();
                out.truncate(start);
            }
            checked?;
        }
        Ok(())
    }

    /// Nothing else binds the index to the value: a row that was given another's is found under a wrong value.
    fn check_index(&self, prf: &Prf, envelope: Envelope<'_>, value: &[u8]) -> Result<(), FieldError> {
        if envelope.index() == Some(&self.index(prf, value)?) {
            return Ok(());
        }
        Err(self.unreadable("its index is not that of its value"))
    }

    /// What is stored as an envelope of this version and the field's label.
    fn envelope_in<'e>(
        &self,
        stored: FieldValue<'e>,
        version: Version,
        raw: &'e mut Vec<u8>,
    ) -> Result<Envelope<'e>, FieldError> {
        let not_one = |e| self.unreadable(envelope_reason(&e));
        let bytes = match stored.how {
            StoredForm::Armored => {
                envelope::unarmor_into(stored.bytes, raw).map_err(not_one)?;
                raw.as_slice()
            }
            StoredForm::Raw | StoredForm::Formatted => stored.bytes,
        };
        let envelope = Envelope::parse(bytes).map_err(not_one)?;
        if envelope.version != version {
            return Err(self.unreadable("its envelope version is not that of the label's protection"));
        }
        if envelope.label_tag != self.tag {
            return Err(self.unreadable("it was sealed under another label"));
        }
        Ok(envelope)
    }

    /// The blind index of a value.
    pub(super) fn index(&self, prf: &Prf, canonical: &[u8]) -> Result<[u8; INDEX_LEN], FieldError> {
        let failed = || self.not_sealed("it has no index");
        let prefix = self.index_prefix.as_deref().ok_or_else(failed)?;
        let mut index = [0; INDEX_LEN];
        prf.compute_primary_into(&[prefix, canonical], &mut index).map_err(|_| failed())?;
        Ok(index)
    }
}
