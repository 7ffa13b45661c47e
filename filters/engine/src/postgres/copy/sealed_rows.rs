//! Rows from the client as the server gets them, with their protected values sealed.

use std::rc::Rc;

use fieldveil_postgres_wire::copy_data::{CopyDataError, Dialect, binary, csv, text};
use fieldveil_sql::ParameterUse;
use fieldveil_values::ValueUse;

use super::MAX_ROW_KEPT;
use crate::client_error::ClientError;
use crate::database::{BatchedRows, CheckedText, Core};
use crate::field::{FieldValue, StoredForm};
use crate::postgres::encoding::ClientEncoding;
use crate::postgres::seal::{bytea_text, decoded, not_text};

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

/// Rows on their way to the server, in their format.
pub struct SealedRows {
    format: RowFormat,
    rows: BatchedRows,
}

impl SealedRows {
    pub fn new(format: RowFormat) -> Self {
        Self { format, rows: BatchedRows::default() }
    }

    /// Bytes that are held from one piece of data to the next.
    pub fn held(&self) -> usize {
        self.rows.held()
    }

    /// Appends a part of the row that passes as it is. What there is of a long row may go before the row is whole.
    pub fn push(&mut self, bytes: &[u8]) {
        self.rows.bytes().extend_from_slice(bytes);
        if self.rows.row_len() > MAX_ROW_KEPT {
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
        let (core, (at, batch)) = (&mut *sealer.core, self.rows.batch());
        let stored = FieldValue { bytes: &text, how };
        if core.seal_later((number, field), stored, (at, None), batch).map_err(explained)? {
            return if batch.is_full() { self.seal(sealer) } else { Ok(()) };
        }
        let sealed = core.seal(field, &text, how, ParameterUse::Store).map_err(explained)?;
        write_value(&self.format, how, &sealed, self.rows.bytes())
    }

    /// The row is whole, or long enough that its beginning may go before it is.
    pub fn end_row(&mut self) {
        self.rows.end_row();
    }

    /// Forgets the row that is not whole.
    pub fn drop_row(&mut self) {
        self.rows.drop_row();
    }

    /// Seals the values that wait. Whole rows may go then. If a value can't be sealed, all rows that wait are forgotten.
    pub fn seal(&mut self, sealer: &mut ValueSealer<'_>) -> Result<(), ClientError> {
        let Self { format, rows } = self;
        let fields = &sealer.checked.plan.fields;
        rows.seal(sealer.core, fields, |how, sealed, out| write_value(format, how, sealed, out))
    }

    /// Hands over what may go to the server.
    pub fn take_ready(&mut self) -> Vec<u8> {
        self.rows.take_ready()
    }
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
