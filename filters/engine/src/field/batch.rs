//! Sealed values of many rows that are opened together, ahead of the rows: a cipher takes several side by side in less time
//! than one after the other.
//!
//! It is a shortcut and nothing else. What is gathered here is found again by where it stands in the bytes of the callback;
//! a value that is not found, or did not open, is opened on its own, and has its error from there.

use std::ops::Range;

use fieldveil_envelope::{self as envelope, Envelope, Version};
use fieldveil_plan::Protection;
use fieldveil_tink::{Opened, Sealed};
use zeroize::{Zeroize, Zeroizing};

use super::keys::Keys;
use super::{CompiledField, FieldValue, ReadTreatment, StoredForm};
use crate::keyring::Keyring;

/// Rows that are looked through at once.
const MAX_ROWS: usize = 64;
/// Bytes of a value that are worth it: the time for a longer one goes into its blocks, not into their number.
const MAX_VALUE: usize = 1024;
/// Bytes of the buffers that are kept from one callback to the next.
const MAX_KEPT: usize = 64 << 10;

/// A sealed value.
struct Gathered {
    /// Where it stands, and its length.
    stored: (usize, usize),
    column: usize,
    /// Its ciphertext.
    body: Range<usize>,
    /// Its clear text, once it is opened.
    text: Option<Range<usize>>,
}

/// Values that are opened together. Places are addresses in memory, which hold during the callback that owns the bytes.
#[derive(Default)]
pub struct OpenedBatch {
    /// The range of addresses that was searched for values.
    covered: Range<usize>,
    values: Vec<Gathered>,
    /// The value that is read next.
    next: usize,
    raw: Vec<u8>,
    text: Zeroizing<Vec<u8>>,
    opened: Vec<Opened>,
}

impl OpenedBatch {
    /// Opens what is sealed in these columns of the rows at the start of the bytes, if that was not done with those before.
    /// `next_row` parts the next row from the rest; `gather` takes in the row's values, unless it is malformed.
    pub fn open_ahead<'b>(
        &mut self,
        bytes: &'b [u8],
        columns: impl Iterator<Item = (usize, &'b CompiledField)> + Clone,
        keyring: &Keyring,
        next_row: impl Fn(&'b [u8]) -> Option<(&'b [u8], &'b [u8])>,
        gather: impl Fn(&mut Self, &'b [u8]) -> bool,
    ) {
        let columns = columns.filter(|(_, field)| field.opens_in_batches());
        if self.covers(bytes) || columns.clone().next().is_none() {
            return;
        }
        // One row alone has nothing to be opened with.
        if next_row(bytes).is_none_or(|(_, rest)| next_row(rest).is_none()) {
            return;
        }
        let (mut rest, mut rows) = (bytes, 0_usize);
        self.begin(bytes);
        while let Some((row, behind)) = next_row(rest)
            && rows < MAX_ROWS
            && gather(self, row)
        {
            rest = behind;
            rows = rows.saturating_add(1);
        }
        self.covered.end = rest.as_ptr().addr();
        for (at, (_, field)) in columns.clone().enumerate() {
            let of_its_keys = |(_, other): &(usize, &CompiledField)| other.shares_keys_with(field);
            // The first column of some keys is opened with all others of them.
            if !columns.clone().take(at).any(|column| of_its_keys(&column)) {
                self.open(columns.clone().filter(of_its_keys), field, keyring);
            }
        }
    }

    /// Whether the values that begin here were looked at.
    pub fn covers(&self, bytes: &[u8]) -> bool {
        self.covered.contains(&bytes.as_ptr().addr())
    }

    /// Forgets what was gathered, and begins anew with these bytes.
    fn begin(&mut self, bytes: &[u8]) {
        self.clear();
        let start = bytes.as_ptr().addr();
        self.covered = start..start.saturating_add(bytes.len());
    }

    /// Takes in a value of a column, if it is one that can be opened with others.
    pub fn gather(&mut self, column: usize, field: &CompiledField, stored: FieldValue<'_>) {
        if stored.bytes.len() > MAX_VALUE || !field.opens_in_batches() {
            return;
        }
        let start = self.raw.len();
        match stored.how {
            StoredForm::Armored if envelope::unarmor_to(stored.bytes, &mut self.raw).is_ok() => {}
            StoredForm::Raw => self.raw.extend_from_slice(stored.bytes),
            StoredForm::Armored | StoredForm::Formatted => return,
        }
        let whole = self.raw.get(start..).unwrap_or_default();
        match Envelope::parse(whole) {
            Ok(Envelope { version: Version::V1, label_tag, body }) if label_tag == field.tag => {
                let body = self.raw.len().saturating_sub(body.len())..self.raw.len();
                let stored = (stored.bytes.as_ptr().addr(), stored.bytes.len());
                self.values.push(Gathered { stored, column, body, text: None });
            }
            _ => self.raw.truncate(start),
        }
    }

    /// Opens the values that were gathered of these columns, which share their keys with `field`. Column by column, because
    /// values of one are bound to the same data, which then is hashed once.
    fn open<'b>(
        &mut self,
        columns: impl Iterator<Item = (usize, &'b CompiledField)> + Clone,
        field: &CompiledField,
        keyring: &Keyring,
    ) {
        let Ok(held) = field.held(keyring) else { return };
        let (raw, values) = (&self.raw, &self.values);
        let sealed = columns.clone().flat_map(|(column, field)| {
            let of_column = values.iter().filter(move |value| value.column == column);
            of_column.map(move |value| Sealed {
                ciphertext: raw.get(value.body.clone()).unwrap_or_default(),
                associated_data: &field.associated_data,
            })
        });
        self.opened.clear();
        match field.keys_of(&held) {
            Ok(Keys::Randomized(aead)) => aead.decrypt_batch(sealed, &mut self.text, &mut self.opened),
            Ok(Keys::Deterministic(daead)) => daead.decrypt_batch(sealed, &mut self.text, &mut self.opened),
            _ => return,
        }
        let mut opened = self.opened.drain(..);
        for (column, _) in columns {
            let of_column = self.values.iter_mut().filter(|value| value.column == column);
            for (value, opened) in of_column.zip(&mut opened) {
                value.text = opened.ok();
            }
        }
    }

    /// Where the values stand in these bytes, each with its column, that were gathered and are not read yet.
    pub fn places_in(&self, bytes: &[u8]) -> impl Iterator<Item = (usize, Range<usize>)> {
        let start = bytes.as_ptr().addr();
        let end = start.saturating_add(bytes.len());
        let unread = self.values.get(self.next..).filter(|_| self.covers(bytes)).unwrap_or_default();
        let here = unread.iter().skip_while(move |value| value.stored.0 < start);
        here.take_while(move |value| value.stored.0 < end).map(move |value| {
            let (at, length) = (value.stored.0.saturating_sub(start), value.stored.1);
            (value.column, at..at.saturating_add(length))
        })
    }

    /// The clear text of a value that was opened. They are asked for in the order in which they stand.
    pub(super) fn take(&mut self, stored: &[u8]) -> Option<&[u8]> {
        let at = stored.as_ptr().addr();
        if !self.covered.contains(&at) {
            return None;
        }
        while self.values.get(self.next)?.stored.0 < at {
            self.next = self.next.saturating_add(1);
        }
        let value = self.values.get(self.next).filter(|value| value.stored == (at, stored.len()))?;
        self.next = self.next.saturating_add(1);
        self.text.get(value.text.clone()?)
    }

    /// Forgets all, and wipes what was clear.
    pub fn clear(&mut self) {
        self.covered = 0..0;
        self.next = 0;
        self.values.clear();
        self.raw.clear();
        self.text.as_mut_slice().zeroize();
        self.text.clear();
        if self.text.capacity() > MAX_KEPT || self.raw.capacity() > MAX_KEPT {
            *self = Self::default();
        }
    }
}

impl CompiledField {
    /// Whether values of the field can be opened with others, and may be opened for this principal.
    pub(crate) fn opens_in_batches(&self) -> bool {
        matches!(self.spec.protection, Protection::Randomized | Protection::Deterministic)
            && matches!(self.read, ReadTreatment::Reveal | ReadTreatment::Mask(_))
    }

    /// Whether values of both can be opened together.
    fn shares_keys_with(&self, other: &Self) -> bool {
        self.spec.protection == other.spec.protection && self.spec.keyset == other.spec.keyset
    }
}
