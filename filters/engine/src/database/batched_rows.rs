//! Rows, or the text of a statement, on their way to the server, whose values are sealed together. Where a value waits for that, the
//! bytes are without it.

use fieldveil_envelope as envelope;

use super::{Core, misplaced};
use crate::client_error::ClientError;
use crate::field::{CompiledField, SealBatch, StoredForm};

/// Bytes of a buffer that are kept for the next piece of data.
const MAX_KEPT: usize = 64 << 10;

/// Where a row begins.
#[derive(Clone, Copy, Default)]
struct RowStart {
    /// In the bytes.
    byte: usize,
    /// Among the values that wait.
    value: usize,
}

/// Rows, with the values that wait.
#[derive(Default)]
pub struct BatchedRows {
    /// Rows that wait for values, and behind them the row that is not whole.
    bytes: Vec<u8>,
    /// Where the row begins that is not whole.
    row: RowStart,
    batch: SealBatch,
    /// What may go to the server.
    ready: Vec<u8>,
    /// An armored envelope, before it is written as a value.
    armored: Vec<u8>,
}

impl BatchedRows {
    /// Bytes that are held from one piece of data to the next.
    pub fn held(&self) -> usize {
        self.bytes.capacity()
    }

    /// Bytes that there are of the row that is not whole.
    pub fn row_len(&self) -> usize {
        self.bytes.len().saturating_sub(self.row.byte)
    }

    /// The buffer to which the next part of the row is appended.
    pub fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Where the next part of the row belongs, and the batch in which a value may wait that is that part.
    pub fn batch(&mut self) -> (usize, &mut SealBatch) {
        (self.bytes.len(), &mut self.batch)
    }

    /// The row is whole, or long enough that its beginning may go before it is.
    pub fn end_row(&mut self) {
        self.row = RowStart { byte: self.bytes.len(), value: self.batch.values() };
    }

    /// Forgets the row that is not whole.
    pub fn drop_row(&mut self) {
        self.bytes.truncate(self.row.byte);
        self.batch.truncate(self.row.value);
    }

    /// Seals the values that wait, which are of these fields and are written by `write`. Whole rows may go then. If a value can't
    /// be sealed, all rows that wait are forgotten.
    pub fn seal(
        &mut self,
        core: &mut Core,
        fields: &[CompiledField],
        write: impl FnMut(StoredForm, &[u8], &mut Vec<u8>) -> Result<(), ClientError>,
    ) -> Result<(), ClientError> {
        let before = self.ready.len();
        let sealed = core.seal_batch(fields, &mut self.batch);
        let sealed = sealed.and_then(|()| self.put_envelopes_in(write));
        self.batch.clear();
        if sealed.is_err() {
            self.ready.truncate(before);
            self.bytes.clear();
            self.row = RowStart::default();
        }
        sealed
    }

    /// Puts what the values were sealed to where it belongs, and parts whole rows from the one that is not.
    fn put_envelopes_in(
        &mut self,
        mut write: impl FnMut(StoredForm, &[u8], &mut Vec<u8>) -> Result<(), ClientError>,
    ) -> Result<(), ClientError> {
        let Self { bytes, row, batch, ready, armored } = self;
        let mut write = |how, envelope: Option<&[u8]>, out: &mut Vec<u8>| {
            let envelope = envelope.ok_or_else(misplaced)?;
            if how == StoredForm::Armored {
                armored.clear();
                envelope::armor_to(envelope, armored);
                return write(how, armored, out);
            }
            write(how, envelope, out)
        };
        let mut envelopes = batch.envelopes();
        let mut position = 0;
        for (at, how, envelope) in envelopes.by_ref().take(row.value) {
            ready.extend_from_slice(bytes.get(position..at).unwrap_or_default());
            position = at;
            write(how, envelope, ready)?;
        }
        ready.extend_from_slice(bytes.get(position..row.byte).unwrap_or_default());
        // What stands before the first value of the row that is not whole stays where it is, however often there is more of it.
        let mut envelopes = envelopes.peekable();
        if let Some(first) = envelopes.peek().map(|(at, ..)| *at) {
            let (mut filled, mut position) = (Vec::new(), first);
            for (at, how, envelope) in envelopes {
                filled.extend_from_slice(bytes.get(position..at).unwrap_or_default());
                position = at;
                write(how, envelope, &mut filled)?;
            }
            filled.extend_from_slice(bytes.get(position..).unwrap_or_default());
            bytes.truncate(first);
            bytes.append(&mut filled);
        }
        bytes.drain(..row.byte.min(bytes.len()));
        *row = RowStart::default();
        if bytes.len() < MAX_KEPT {
            bytes.shrink_to(MAX_KEPT);
        }
        Ok(())
    }

    /// Seals the values that wait as [`Self::seal`] does, and hands over all that may go to the server.
    pub fn finish(
        &mut self,
        core: &mut Core,
        fields: &[CompiledField],
        write: impl FnMut(StoredForm, &[u8], &mut Vec<u8>) -> Result<(), ClientError>,
    ) -> Result<Vec<u8>, ClientError> {
        // So it is with most statements.
        if self.batch.values() == 0 && self.ready.is_empty() {
            return Ok(std::mem::take(&mut self.bytes));
        }
        self.end_row();
        self.seal(core, fields, write)?;
        Ok(self.take_ready())
    }

    /// Hands over what may go to the server.
    pub fn take_ready(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.ready)
    }
}
