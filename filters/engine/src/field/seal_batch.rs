//! Values of many rows that are sealed together: a cipher seals several side by side in less time than one after the other.
//!
//! A value is checked when it is taken in, and sealed with the others later. Where it belongs in what its owner writes is
//! kept until then.

use std::ops::Range;

use fieldveil_envelope::{self as envelope, HEADER_LEN, Version};
use fieldveil_plan::Protection;
use fieldveil_tink::{CryptError, Random, reserve_wiping};
use fieldveil_values::ValueUse;
use zeroize::{Zeroize, Zeroizing};

use super::keys::Keys;
use super::{CompiledField, FieldError, FieldValue, StoredForm};
use crate::keyring::Keyring;

/// Values that are sealed at once at most.
const MAX_VALUES: usize = 256;
/// Bytes of a value that are worth it: the time for a longer one goes into its blocks, not into their number.
const MAX_VALUE: usize = 1024;
/// Bytes of the buffers that are kept from one batch to the next.
const MAX_KEPT: usize = 64 << 10;

/// A value that waits to be sealed, or is.
struct BatchedValue {
    /// Its field's place in the plan.
    field: usize,
    how: StoredForm,
    /// Its canonical text.
    text: Range<usize>,
    /// Where what it is sealed to belongs in its owner's bytes.
    at: usize,
    /// Its envelope, once it is sealed.
    envelope: Range<usize>,
}

/// Values that are sealed together.
#[derive(Default)]
pub struct SealBatch {
    values: Vec<BatchedValue>,
    texts: Zeroizing<Vec<u8>>,
    envelopes: Vec<u8>,
    sealed: Vec<Range<usize>>,
}

impl SealBatch {
    /// How many values were taken in.
    pub fn values(&self) -> usize {
        self.values.len()
    }

    /// Whether it is time to seal what waits.
    pub fn is_full(&self) -> bool {
        self.values.len() >= MAX_VALUES
    }

    /// Takes in a value in any form that the field's type takes, if its canonical text takes no more than `most` bytes. Gives
    /// the bytes of that text; None if the value is one that is sealed alone.
    pub fn add(
        &mut self,
        (number, field): (usize, &CompiledField),
        value: FieldValue<'_>,
        most: usize,
        at: usize,
    ) -> Result<Option<usize>, FieldError> {
        let is_batched = matches!(field.spec.protection, Protection::Randomized | Protection::Deterministic);
        if !is_batched || value.bytes.len() > MAX_VALUE {
            return Ok(None);
        }
        let canonical = field.to_be_sealed(ValueUse::Store, value, most)?;
        let start = self.texts.len();
        reserve_wiping(&mut self.texts, canonical.len());
        self.texts.extend_from_slice(&canonical);
        let text = start..self.texts.len();
        self.values.push(BatchedValue { field: number, how: value.how, text, at, envelope: 0..0 });
        Ok(Some(canonical.len()))
    }

    /// Forgets all values but the first so many.
    pub fn truncate(&mut self, values: usize) {
        self.values.truncate(values);
    }

    /// Seals all values, which are of these fields.
    pub fn seal(
        &mut self,
        fields: &[CompiledField],
        keyring: &Keyring,
        random: &mut dyn Random,
    ) -> Result<(), FieldError> {
        for (number, field) in fields.iter().enumerate() {
            if self.count(number) > 0 {
                self.seal_field(number, field, keyring, random)?;
            }
        }
        Ok(())
    }

    /// How many values are of the field with this place in the plan.
    pub fn count(&self, number: usize) -> usize {
        self.values.iter().filter(|value| value.field == number).count()
    }

    fn seal_field(
        &mut self,
        number: usize,
        field: &CompiledField,
        keyring: &Keyring,
        random: &mut dyn Random,
    ) -> Result<(), FieldError> {
        let mut header = Vec::with_capacity(HEADER_LEN);
        envelope::write_header(&mut header, Version::V1, field.tag);
        let held = field.held(keyring).map_err(FieldError::NoKeyset)?;
        let texts = &self.texts;
        let of_field = self.values.iter().filter(|value| value.field == number);
        let plaintexts: Option<Vec<&[u8]>> = of_field.map(|value| texts.get(value.text.clone())).collect();
        let plaintexts = plaintexts.ok_or(FieldError::Misused("a value of a batch is gone"))?;
        let bound = (header.as_slice(), field.associated_data.as_slice());
        self.sealed.clear();
        match field.keys_of(&held).map_err(FieldError::NoKeyset)? {
            Keys::Randomized(aead) => {
                aead.encrypt_batch(random, plaintexts, bound, &mut self.envelopes, &mut self.sealed)
            }
            Keys::Deterministic(daead) => {
                daead.encrypt_batch(plaintexts, bound, &mut self.envelopes, &mut self.sealed)
            }
            Keys::Indexed(..) | Keys::FormatPreserving(_) => Err(CryptError::Malformed),
        }
        .map_err(|error| field.not_sealed(&error.to_string()))?;
        let of_field = self.values.iter_mut().filter(|value| value.field == number);
        for (value, sealed) in of_field.zip(self.sealed.drain(..)) {
            value.envelope = sealed;
        }
        Ok(())
    }

    /// What the values were sealed to, in the order in which they were taken in: where it belongs, and the envelope's bytes;
    /// None for a value that was not sealed.
    pub fn envelopes(&self) -> impl Iterator<Item = (usize, StoredForm, Option<&[u8]>)> {
        self.values.iter().map(|value| {
            let envelope = self.envelopes.get(value.envelope.clone());
            (value.at, value.how, envelope.filter(|envelope| !envelope.is_empty()))
        })
    }

    /// Forgets all, and wipes what was clear.
    pub fn clear(&mut self) {
        self.values.clear();
        self.envelopes.clear();
        self.texts.as_mut_slice().zeroize();
        self.texts.clear();
        if self.texts.capacity() > MAX_KEPT || self.envelopes.capacity() > MAX_KEPT {
            *self = Self::default();
        }
    }
}
