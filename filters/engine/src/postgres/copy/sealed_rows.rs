//! Rows from the client as the server gets them, with their protected values sealed.

use std::rc::Rc;

use fieldveil_envelope as envelope;
use fieldveil_postgres_wire::copy_data::{CopyDataError, Dialect, binary, csv, text};
use fieldveil_sql::ParameterUse;
use fieldveil_values::ValueUse;

use super::MAX_ROW_KEPT;
use crate::client_error::ClientError;
use crate::database::{CheckedText, Core};
use crate::field::{FieldValue, SealBatch, StoredForm};
use crate::postgres::encoding::ClientEncoding;
use crate::postgres::seal::{bytea_text, decoded, not_text};

/// Bytes of a buffer that are kept for the next piece of data.
const MAX_KEPT: usize = 64 << 10;

/// What seals the values of a COPY.
pub struct ValueSealer<'s> {
    pub core: &'s mut Core,
    pub checked: &'s Rc<CheckedText>,
    /// The encoding of the values' texts.
    pub encoding: ClientEncoding,
}

/// How a row is written.
pub enum RowFormat {
    /// As text or CSV.
    Text(Dialect),
    /// As binary.
    Binary,
}

/// Where a row begins.
#[derive(Clone, Copy, Default)]
struct RowStart {
    /// In the bytes.
    byte: usize,
    /// Among the values that wait.
    value: usize,
}

/// Rows on their way to the server. Where a value waits to be sealed together with others, the bytes are without it until
/// [`Self::seal`].
pub struct SealedRows {
    format: RowFormat,
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

impl SealedRows {
    pub fn new(format: RowFormat) -> Self {
        Self {
            format,
            bytes: Vec::new(),
            row: RowStart::default(),
            batch: SealBatch::default(),
            ready: Vec::new(),
            armored: Vec::new(),
        }
    }

    /// Bytes that are held from one piece of data to the next.
    pub fn held(&self) -> usize {
        self.bytes.capacity()
    }

    /// Appends a part of the row that passes as it is. What there is of a long row may go before the row is whole.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len().saturating_sub(self.row.byte) > MAX_ROW_KEPT {
            self.end_row();
        }
    }

    /// Appends a value of a protected column, which is sealed now or later.
    pub fn push_sealed(
        &mut self,
        (number, how): (usize, StoredForm),
        value: &[u8],
        sealer: &mut ValueSealer<'_>,
    ) -> Result<(), ClientError> {
        let field = sealer.checked.plan.fields.get(number);
        let field = field.ok_or_else(|| ClientError::protocol("a copied column without a plan"))?;
        let is_binary = matches!(self.format, RowFormat::Binary);
        let value = decoded(sealer.encoding, field, (0, is_binary), value)?;
        let text = field.read_parameter(ValueUse::Store, 0, is_binary, &value)?;
        let explained = |error| not_text(error, &value, (field.declared.oid(), is_binary));
        let (core, at) = (&mut *sealer.core, self.bytes.len());
        let stored = FieldValue { bytes: &text, how };
        if core.seal_later((number, field), stored, at, &mut self.batch).map_err(explained)? {
            return if self.batch.is_full() { self.seal(sealer) } else { Ok(()) };
        }
        let sealed = core.seal(field, &text, how, ParameterUse::Store).map_err(explained)?;
        write_value(&self.format, how, &sealed, &mut self.bytes)
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

    /// Seals the values that wait. Whole rows may go then. If a value can't be sealed, all rows that wait are forgotten.
    pub fn seal(&mut self, sealer: &mut ValueSealer<'_>) -> Result<(), ClientError> {
        let before = self.ready.len();
        let sealed = sealer.core.seal_batch(&sealer.checked.plan.fields, &mut self.batch);
        let sealed = sealed.and_then(|()| self.put_envelopes_in());
        self.batch.clear();
        if sealed.is_err() {
            self.ready.truncate(before);
            self.bytes.clear();
            self.row = RowStart::default();
        }
        sealed
    }

    /// Puts what the values were sealed to where it belongs, and parts whole rows from the one that is not.
    fn put_envelopes_in(&mut self) -> Result<(), ClientError> {
        let Self { format, bytes, row, batch, ready, armored } = self;
        let mut envelopes = batch.envelopes();
        let mut position = 0;
        for (at, how, envelope) in envelopes.by_ref().take(row.value) {
            ready.extend_from_slice(bytes.get(position..at).unwrap_or_default());
            position = at;
            write_envelope(format, how, envelope, armored, ready)?;
        }
        ready.extend_from_slice(bytes.get(position..row.byte).unwrap_or_default());
        // What stands before the first value of the row that is not whole stays where it is, however often there is more of it.
        let mut envelopes = envelopes.peekable();
        if let Some(first) = envelopes.peek().map(|(at, ..)| *at) {
            let (mut filled, mut position) = (Vec::new(), first);
            for (at, how, envelope) in envelopes {
                filled.extend_from_slice(bytes.get(position..at).unwrap_or_default());
                position = at;
                write_envelope(format, how, envelope, armored, &mut filled)?;
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

    /// Hands over what may go to the server.
    pub fn take_ready(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.ready)
    }
}

/// Appends an envelope as the format has it, by way of its armored form if it is stored so.
fn write_envelope(
    format: &RowFormat,
    how: StoredForm,
    envelope: Option<&[u8]>,
    armored: &mut Vec<u8>,
    out: &mut Vec<u8>,
) -> Result<(), ClientError> {
    let envelope = envelope.ok_or_else(|| ClientError::protocol("a value of the COPY was not sealed"))?;
    if how != StoredForm::Armored {
        return write_value(format, how, envelope, out);
    }
    armored.clear();
    envelope::armor_to(envelope, armored);
    write_value(format, how, armored, out)
}

/// Appends a sealed value as the format has it.
fn write_value(
    format: &RowFormat,
    how: StoredForm,
    sealed: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), ClientError> {
    let too_long =
        |_: CopyDataError| ClientError::protocol("a sealed value is too long for a row of the COPY");
    match format {
        RowFormat::Binary => return binary::encode(Some(sealed), out).map_err(too_long),
        RowFormat::Text(dialect) if how == StoredForm::Raw => write_field(dialect, &bytea_text(sealed), out),
        RowFormat::Text(dialect) => write_field(dialect, sealed, out),
    }
    Ok(())
}

fn write_field(dialect: &Dialect, value: &[u8], out: &mut Vec<u8>) {
    match dialect.quotes {
        None => text::encode(dialect, Some(value), out),
        Some(quotes) => csv::encode(dialect, quotes, Some(value), out),
    }
}
