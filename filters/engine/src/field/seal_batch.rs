//! Values of many rows that are sealed together: a cipher seals several side by side in less time than one after the other.
//!
//! A value is checked when it is taken in, with all that may be wrong with it or its keys, and sealed with the others later. So
//! errors come in the order of the values. Where a value belongs in what its owner writes is kept until it is sealed.

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
/// Bytes that an envelope takes at most beside its value's: its header, the key's prefix, a nonce and a tag.
const MAX_OVERHEAD: usize = HEADER_LEN + 64;
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

    /// Takes in a value in any form that the field's type takes, if its canonical text takes no more than `most` bytes, the
    /// keys to seal it are there, and its column has room for what it is sealed to. Gives the bytes of that text; None if the
    /// value is one that is sealed alone.
    pub fn add(
        &mut self,
        (number, field): (usize, &CompiledField),
        value: FieldValue<'_>,
        (most, room): (usize, Option<usize>),
        at: usize,
        keyring: &Keyring,
    ) -> Result<Option<usize>, FieldError> {
        let is_batched = matches!(field.spec.protection, Protection::Randomized | Protection::Deterministic);
        if !is_batched || value.bytes.len() > MAX_VALUE {
            return Ok(None);
        }
        let canonical = field.to_be_sealed(ValueUse::Store, value, most)?;
        if room.is_some_and(|room| room < longest_stored(canonical.len())) {
            return Ok(None);
        }
        // The keys are the same for all values of a batch.
        if !self.values.iter().any(|value| value.field == number) {
            field.require_keys(keyring)?;
        }
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

    /// The fields of the values by their places in the plan, in the order of their first values, and how many each has.
    pub fn fields(&self) -> Vec<(usize, usize)> {
        let mut fields: Vec<(usize, usize)> = Vec::new();
        for value in &self.values {
            match fields.iter_mut().find(|(number, _)| *number == value.field) {
                Some((_, values)) => *values = values.saturating_add(1),
                None => fields.push((value.field, 1)),
            }
        }
        fields
    }

    /// Seals the values of the field with this place in the plan, which are so many.
    pub fn seal(
        &mut self,
        (number, field): (usize, &CompiledField),
        values: usize,
        keyring: &Keyring,
        random: &mut dyn Random,
    ) -> Result<(), FieldError> {
        let mut header = Vec::with_capacity(HEADER_LEN);
        envelope::write_header(&mut header, Version::V1, field.tag);
        let held = field.held(keyring).map_err(FieldError::NoKeyset)?;
        let texts = &self.texts;
        let of_field = self.values.iter().filter(|value| value.field == number);
        let plaintexts = of_field.filter_map(|value| texts.get(value.text.clone()));
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
        if self.sealed.len() != values {
            return Err(FieldError::Misused("a value of a batch is gone"));
        }
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

    /// The same as a column stores it.
    pub fn stored_values(&self) -> impl Iterator<Item = (usize, Option<Vec<u8>>)> {
        self.envelopes().map(|(at, how, envelope)| {
            let stored = |envelope: &[u8]| match how {
                StoredForm::Armored => envelope::armor(envelope).into_bytes(),
                StoredForm::Raw | StoredForm::Formatted => envelope.to_vec(),
            };
            (at, envelope.map(stored))
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

/// Bytes, or characters, that a value with so many bytes takes at most when it is stored.
fn longest_stored(value: usize) -> usize {
    envelope::armored_len(value.saturating_add(MAX_OVERHEAD))
}
