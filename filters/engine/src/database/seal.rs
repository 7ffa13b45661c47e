//! Seals the values that the client sends, under the keys that the last statement was checked with.

use std::rc::Rc;
use std::sync::Arc;

use fieldveil_sql::{Envelopes, ParameterUse, Replacement};
use fieldveil_values::ValueUse;

use super::{BatchedRows, CheckedText, Core, Tally};
use crate::client_error::ClientError;
use crate::field::{CompiledField, FieldValue, SealBatch, StoredForm};
use crate::keyring::Keyring;
use crate::value_counts::ValueOutcome;

/// Writes a sealed value as a literal of a text.
pub type WriteLiteral = fn(StoredForm, &[u8], &mut Vec<u8>) -> Result<(), ClientError>;

impl Core {
    /// Returns the text to forward: `write` writes each part that the analysis replaces, or has its value wait, `write_literal`
    /// writes what a value that waited is sealed to, and the rest stays as it came.
    pub fn apply_splices(
        &mut self,
        text: &[u8],
        checked: &CheckedText,
        write: impl FnMut(&mut Self, &Replacement, &mut BatchedRows) -> Result<(), ClientError>,
        write_literal: WriteLiteral,
    ) -> Result<Vec<u8>, ClientError> {
        let mut sealed = BatchedRows::default();
        let read = self.apply_each_splice(text, checked, write, write_literal, &mut sealed);
        // Those before one that is refused are sealed and counted like others.
        let whole = sealed.finish(self, &checked.plan.fields, write_literal);
        read.and(whole)
    }

    fn apply_each_splice(
        &mut self,
        text: &[u8],
        checked: &CheckedText,
        mut write: impl FnMut(&mut Self, &Replacement, &mut BatchedRows) -> Result<(), ClientError>,
        write_literal: WriteLiteral,
        sealed: &mut BatchedRows,
    ) -> Result<(), ClientError> {
        sealed.bytes().reserve(text.len().saturating_mul(2));
        let mut position = 0;
        for splice in &checked.analysis.splices {
            let before = text.get(position..splice.range.start).ok_or_else(misplaced)?;
            sealed.bytes().extend_from_slice(before);
            match &splice.with {
                Replacement::Text(replacement) => sealed.bytes().extend_from_slice(replacement.as_bytes()),
                other => write(self, other, sealed)?,
            }
            position = splice.range.end;
            if sealed.batch().1.is_full() {
                sealed.seal(self, &checked.plan.fields, write_literal)?;
            }
        }
        sealed.bytes().extend_from_slice(text.get(position..).ok_or_else(misplaced)?);
        Ok(())
    }

    /// Seals a value under each enabled key, under the primary one first.
    pub fn seal_with_each(
        &mut self,
        field: &CompiledField,
        text: &[u8],
        stored: StoredForm,
        use_: ParameterUse,
    ) -> Result<Vec<Vec<u8>>, ClientError> {
        let (keyring, most) = self.keyring_for(field, text)?;
        let sealed = field.seal_with_each(&keyring, value_use(use_), text, stored, most)?;
        self.charge_output(sealed.iter().map(Vec::len).sum())?;
        self.count_sealed(field, &keyring, use_, 1);
        Ok(sealed)
    }

    /// Seals a value under the primary key.
    pub fn seal(
        &mut self,
        field: &CompiledField,
        text: &[u8],
        stored: StoredForm,
        use_: ParameterUse,
    ) -> Result<Vec<u8>, ClientError> {
        let (keyring, most) = self.keyring_for(field, text)?;
        if use_ == ParameterUse::Search && self.policy.envelopes(field) == Envelopes::Several {
            return Err(ClientError::several_keys(&field.spec.label, &field.spec.keyset));
        }
        let ports = Rc::clone(&self.ports);
        let value = FieldValue { bytes: text, how: stored };
        let (mut sealed, scratch) = (Vec::new(), &mut self.buffers().scratch);
        let random = &mut *ports.borrow_mut();
        let printed =
            field.seal_into(&keyring, random, value_use(use_), value, most, scratch, &mut sealed)?;
        self.charge_output(printed)?;
        self.count_sealed(field, &keyring, use_, 1);
        Ok(sealed)
    }

    /// Seals a value for this place under the primary key. Returns None if it waits in the batch, with its place in its owner's
    /// bytes, to be sealed with others.
    pub fn seal_or_gather(
        &mut self,
        place: Place<'_>,
        (text, use_): (&[u8], ParameterUse),
        at: usize,
        batch: Option<&mut SealBatch>,
    ) -> Result<Option<Vec<u8>>, ClientError> {
        let Place { number, field, stored, most, .. } = place;
        let value = FieldValue { bytes: text, how: stored };
        if let Some(batch) = batch.filter(|_| use_ == ParameterUse::Store)
            && self.seal_later((number, field), value, (at, most), batch)?
        {
            return Ok(None);
        }
        self.seal(field, text, stored, use_).map(Some)
    }

    /// Checks a value that is to be stored in a column with this room, and takes it into the batch, with its place in its
    /// owner's bytes. Returns false if it is one that is sealed alone.
    pub fn seal_later(
        &mut self,
        field: (usize, &CompiledField),
        value: FieldValue<'_>,
        (at, room): (usize, Option<usize>),
        batch: &mut SealBatch,
    ) -> Result<bool, ClientError> {
        let (keyring, most) = self.keyring_for(field.1, value.bytes)?;
        let values = batch.values();
        let Some(printed) = batch.add(field, value, (most, room), at, &keyring)? else { return Ok(false) };
        self.charge_output(printed).inspect_err(|_| batch.truncate(values))?;
        Ok(true)
    }

    /// Seals the values of a batch, which are of these fields, each under its primary key.
    pub fn seal_batch(&mut self, fields: &[CompiledField], batch: &mut SealBatch) -> Result<(), ClientError> {
        if batch.values() == 0 {
            return Ok(());
        }
        let keyring = self.keyring()?;
        let ports = Rc::clone(&self.ports);
        for (number, values) in batch.fields() {
            let field = fields.get(number).ok_or_else(misplaced)?;
            batch.seal((number, field), values, &keyring, &mut *ports.borrow_mut())?;
            self.count_sealed(field, &keyring, ParameterUse::Store, values as u64);
        }
        Ok(())
    }

    /// Seals the values of a batch, which is empty then, and hands each to `put` as its column stores it, with its place.
    pub fn seal_gathered(
        &mut self,
        fields: &[CompiledField],
        batch: &mut SealBatch,
        mut put: impl FnMut(usize, Vec<u8>),
    ) -> Result<(), ClientError> {
        let sealed = self.seal_batch(fields, batch).and_then(|()| {
            batch.stored_values().try_for_each(|(at, stored)| {
                put(at, stored.ok_or_else(misplaced)?);
                Ok(())
            })
        });
        batch.clear();
        sealed
    }

    fn keyring(&self) -> Result<Arc<Keyring>, ClientError> {
        let missing =
            || ClientError::unavailable("the key agent", "no keyset is held", "Start the key agent.");
        self.policy.keyring().ok_or_else(missing)
    }

    /// Returns the keys, and how many bytes a value that is sealed may have as it is printed, unless it has more as it came.
    fn keyring_for(&self, field: &CompiledField, text: &[u8]) -> Result<(Arc<Keyring>, usize), ClientError> {
        let keyring = self.keyring()?;
        let limit = self.worker.borrow().config().limits.protected_value_bytes;
        if text.len() > limit {
            return Err(ClientError::long_value(&field.spec.label, limit));
        }
        Ok((keyring, limit))
    }

    /// Counts so many values that were sealed, and as many uses of each key that did it.
    fn count_sealed(&mut self, field: &CompiledField, keyring: &Keyring, use_: ParameterUse, values: u64) {
        let mut worker = self.worker.borrow_mut();
        field.uses(keyring, value_use(use_), |key| worker.count_key(key, values));
        drop(worker);
        let outcome = match use_ {
            ParameterUse::Store => ValueOutcome::Sealed,
            ParameterUse::Search => ValueOutcome::Searched,
        };
        if let Some(plan) = self.policy.plan.clone() {
            self.audit.count_values(&plan, field, outcome, values);
        }
    }
}

/// The error for an analysis that does not fit its text.
pub(crate) fn misplaced() -> ClientError {
    ClientError::protocol("analysis and text disagree")
}

/// Says what a value is for, in the terms of the crate of values.
pub(crate) fn value_use(use_: ParameterUse) -> ValueUse {
    match use_ {
        ParameterUse::Store => ValueUse::Store,
        ParameterUse::Search => ValueUse::Search,
    }
}

/// The place that a value goes to.
#[derive(Clone, Copy)]
pub(crate) struct Place<'c> {
    /// The field's place in the plan.
    number: usize,
    pub field: &'c CompiledField,
    pub stored: StoredForm,
    /// How many characters or bytes it holds. A server may cut a longer envelope, which nobody could open then.
    most: Option<usize>,
    /// Whether the value may overwrite another one.
    overwrites: bool,
}

impl<'c> Place<'c> {
    /// Makes the place of this field.
    pub fn of(checked: &'c CheckedText, index: usize) -> Result<Self, ClientError> {
        let stored = checked.catalog.as_ref().and_then(|catalog| catalog.stored(index));
        let (field, stored) = checked
            .plan
            .fields
            .get(index)
            .zip(stored)
            .ok_or_else(|| ClientError::protocol("a protected place without a field"))?;
        let most = checked.catalog.as_ref().and_then(|catalog| catalog.most(index));
        Ok(Self { number: index, field, stored, most, overwrites: checked.overwrites(index) })
    }

    /// Returns the sealed value if the place can hold all of it.
    pub fn fit(self, use_: ParameterUse, sealed: Vec<u8>) -> Result<Vec<u8>, ClientError> {
        match self.most {
            Some(most) if use_ == ParameterUse::Store && sealed.len() > most => {
                Err(ClientError::cut_value(&self.field.spec.label, sealed.len(), most))
            }
            _ => Ok(sealed),
        }
    }

    /// Refuses a value that the principal may have read in the place of the one that it would overwrite, such as a mask.
    pub fn refuse_shown(self, use_: ParameterUse, text: Option<&[u8]>) -> Result<(), ClientError> {
        if self.overwrites && use_ == ParameterUse::Store && self.field.shows_instead(text) {
            return Err(ClientError::shown_instead(&self.field.spec.label));
        }
        Ok(())
    }
}
