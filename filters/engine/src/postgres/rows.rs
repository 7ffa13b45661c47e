//! Treats rows on their way to the client. The server's RowDescription says which of their columns are protected, or
//! the analysis does where a column comes from no table.

mod form;

use std::rc::Rc;

use fieldveil_postgres_wire::backend::{DataRow, DataRowWriter, FieldDescription, RowDescription, Tag};
use fieldveil_postgres_wire::frame::HEADER_LEN;
use fieldveil_postgres_wire::{Format, Header, WireError, copy_data};
use fieldveil_sql::ResultField;
use zeroize::Zeroizing;

pub use self::form::PostgresForm;
use super::catalog;
use super::encoding::ClientEncoding;
use crate::client_error::ClientError;
use crate::database::{CheckedText, Costs, RowError, RowTreatment, Tally, Treated};
use crate::field::{CompiledField, FieldValue, OpenedBatch, ReadTreatment, StoredForm};
use crate::keyring::Keyring;
use crate::memory::{Weight, size_of_all};
use crate::value_counts::ValueOutcome;

/// Where a result column comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResultColumn {
    /// `pg_class.oid`, or 0 for an expression.
    pub table_oid: u32,
    /// `pg_attribute.attnum`, or 0.
    pub number: i16,
    /// The stored type.
    pub type_oid: u32,
    /// The format in the description, which is the one that rows of a simple query have.
    pub format: Format,
}

/// A column whose values are changed.
#[derive(Debug, Clone, Copy)]
struct TreatedColumn {
    index: usize,
    field: usize,
    stored: StoredForm,
    binary: bool,
    /// How many rows of its label's budget a row costs.
    row_cost: u32,
}

/// How the rows of one result are treated.
pub struct TreatedColumns {
    /// What the check of the statement found.
    pub checked: Rc<CheckedText>,
    treated: Vec<TreatedColumn>,
    /// Whether the reader gets envelopes of each column, and these can be told in the row: not in a `bytea`'s hexadecimal text.
    is_concealed: bool,
    _weight: Weight,
}

/// Returns the columns of a description.
pub fn columns(description: &RowDescription<'_>) -> Vec<ResultColumn> {
    description.fields.iter().map(column).collect()
}

fn column(field: &FieldDescription<'_>) -> ResultColumn {
    ResultColumn {
        table_oid: field.table_oid,
        number: field.column,
        type_oid: field.type_oid,
        format: field.format,
    }
}

/// Where the columns of one statement's result come from.
struct Origins<'c> {
    checked: &'c CheckedText,
    /// The analysis' result for each column, which is needed where the server names no table; None where there is none.
    known: Option<&'c [Option<ResultField>]>,
}

/// The protected field that a column comes from.
struct ColumnOrigin {
    field: usize,
    stored: StoredForm,
    /// Whether the statement casts it, so that the column has the type of the cast.
    cast: bool,
}

impl<'c> Origins<'c> {
    fn new(checked: &'c CheckedText, statement: usize, columns: usize) -> Self {
        let statement = checked.analysis.statements.get(statement);
        let known = statement.and_then(|s| s.columns.as_deref()).filter(|known| known.len() == columns);
        Self { checked, known }
    }

    fn of(&self, index: usize, column: ResultColumn) -> Option<ColumnOrigin> {
        let catalog = self.checked.catalog.as_ref()?;
        let known = self.known.and_then(|known| known.get(index).copied().flatten());
        // The server ignores a cast to the stored type.
        let cast = known.is_some_and(|known| known.cast);
        if let Some((field, stored)) = catalog.field_at(column.table_oid, column.number) {
            return Some(ColumnOrigin { field, stored, cast });
        }
        if column.table_oid != 0 {
            return None;
        }
        let ResultField { field, cast: _ } = known?;
        let stored = self.checked.plan.fields.get(field)?.stored_in(catalog::kind_of(column.type_oid))?;
        Some(ColumnOrigin { field, stored, cast })
    }
}

impl TreatedColumns {
    /// Finds the treated columns of the result of one statement of a text. `format` returns the format of each column.
    pub fn new(
        checked: &Rc<CheckedText>,
        statement: usize,
        columns: &[ResultColumn],
        format: impl Fn(usize) -> Format,
    ) -> Self {
        let origins = Origins::new(checked, statement, columns.len());
        let treated = columns.iter().enumerate().filter_map(|(index, column)| {
            let ColumnOrigin { field, stored, cast: _ } = origins.of(index, *column)?;
            Some((index, field, stored, format(index) == Format::Binary))
        });
        Self::of(checked, treated.collect())
    }

    /// Finds the treated columns of the rows of a COPY in binary format.
    pub fn of_copy(checked: &Rc<CheckedText>, columns: &[Option<(usize, StoredForm)>]) -> Self {
        let treated = columns
            .iter()
            .enumerate()
            .filter_map(|(index, column)| column.map(|(field, stored)| (index, field, stored, true)));
        Self::of(checked, treated.collect())
    }

    fn of(checked: &Rc<CheckedText>, columns: Vec<(usize, usize, StoredForm, bool)>) -> Self {
        let costs = Costs::of(&checked.plan, columns.iter().map(|(_, field, ..)| *field));
        let treated = columns.into_iter().map(|(index, field, stored, binary)| TreatedColumn {
            index,
            field,
            stored,
            binary,
            row_cost: costs.of_row(&checked.plan, field),
        });
        let treated: Vec<_> = treated.collect();
        let bytes = size_of_all::<TreatedColumn>(treated.capacity()).saturating_add(size_of::<Self>());
        let is_concealed = treated.iter().all(|column| {
            let is_in_place = column.binary || column.stored != StoredForm::Raw;
            is_in_place && checked.plan.fields.get(column.field).is_some_and(CompiledField::is_concealed)
        });
        let weight = checked.weight.beside(bytes);
        Self { treated, checked: Rc::clone(checked), is_concealed, _weight: weight }
    }

    /// Whether the rows pass unchanged.
    pub fn is_empty(&self) -> bool {
        self.treated.is_empty()
    }

    /// Whether a row goes to the client as it came, because its protected values are envelopes and the reader gets these. If it
    /// does, the values are counted. A row that is malformed, or has a value that is no envelope, does not.
    pub fn passes(&self, body: &[u8], encoding: ClientEncoding, tally: &mut dyn Tally) -> bool {
        if !self.is_concealed || !encoding.is_utf8() {
            return false;
        }
        let Ok(row) = DataRow::parse(body) else { return false };
        let values = || {
            let mut treated = self.treated.iter().peekable();
            row.values().enumerate().filter_map(move |(index, value)| {
                Some((treated.next_if(|column| column.index == index)?, value))
            })
        };
        let fields = &self.checked.plan.fields;
        let stays = |(column, value): &(&TreatedColumn, Option<&[u8]>)| {
            let field = fields.get(column.field);
            value.is_none_or(|value| field.is_some_and(|field| field.stays_as_stored(value, column.stored)))
        };
        if values().filter(stays).count() != self.treated.len() {
            return false;
        }
        for (column, _) in values().filter(|(_, value)| value.is_some()) {
            if let Some(field) = fields.get(column.field) {
                tally.count(&self.checked.plan, field, ValueOutcome::Concealed);
            }
        }
        true
    }

    /// Writes the row to `out` with its protected values treated.
    pub fn write(
        &self,
        body: &[u8],
        encoding: ClientEncoding,
        keyring: &Keyring,
        out: &mut Vec<u8>,
        tally: &mut dyn Tally,
    ) -> Result<(), RowError> {
        let mut this = RowTreatment::new(&self.checked.plan, keyring, tally);
        let row = DataRow::parse(body)?;
        let mut writer = DataRowWriter::new(out, row.columns());
        let mut treated = self.treated.iter().peekable();
        for (index, value) in row.values().enumerate() {
            let column = treated.next_if(|column| column.index == index);
            let (Some(column), Some(stored)) = (column, value) else {
                writer.push(value)?;
                continue;
            };
            writer.push_with(|out| treat(&mut this, column, encoding, stored, out))?;
        }
        if treated.next().is_some() {
            return Err(RowError::Server("a DataRow with fewer columns than its RowDescription"));
        }
        writer.finish()?;
        Ok(())
    }

    /// Opens the envelopes in the rows at the begin of these messages in one batch, unless an earlier batch has included
    /// them. `next_row` gives the body of the first.
    pub fn open_ahead(&self, messages: &[u8], keyring: &Keyring, batch: &mut OpenedBatch, next_row: NextRow) {
        let fields = &self.checked.plan.fields;
        let columns =
            self.treated.iter().filter_map(|column| Some((column.index, fields.get(column.field)?)));
        let gather = |batch: &mut OpenedBatch, row| self.gather(row, batch).is_ok();
        batch.open_ahead(messages, columns, keyring, next_row, gather);
    }

    fn gather(&self, body: &[u8], batch: &mut OpenedBatch) -> Result<(), WireError> {
        let mut treated = self.treated.iter().peekable();
        for (index, value) in DataRow::parse(body)?.values().enumerate() {
            let Some(column) = treated.next_if(|column| column.index == index) else { continue };
            let field = self.checked.plan.fields.get(column.field);
            // The text form of a `bytea` is decoded into another buffer.
            let in_place = column.binary || column.stored != StoredForm::Raw;
            if let (Some(field), Some(bytes), true) = (field, value, in_place) {
                batch.gather(index, field, FieldValue { bytes, how: column.stored });
            }
        }
        Ok(())
    }

    /// Treats the begin of a row that is too long to be held, up to its last protected value. The rest of the row passes as it
    /// arrives. Returns how many bytes of the row were read and what replaces them, or None if more of the row is needed.
    pub fn begin(
        &self,
        begin: &[u8],
        encoding: ClientEncoding,
        keyring: &Keyring,
        tally: &mut dyn Tally,
    ) -> Result<Option<(usize, Vec<u8>)>, RowError> {
        if !self.reaches_last(begin) {
            return Ok(None);
        }
        let Some((columns, mut rest)) = begin.split_first_chunk::<2>() else { return Ok(None) };
        let mut this = RowTreatment::new(&self.checked.plan, keyring, tally);
        let mut values = columns.to_vec();
        let mut shown = Zeroizing::new(Vec::new());
        let mut treated = self.treated.iter().peekable();
        let mut index = 0_usize;
        while treated.peek().is_some() {
            if index >= usize::from(u16::from_be_bytes(*columns)) {
                return Err(RowError::Server("a row with fewer columns than its description"));
            }
            let Some((length, behind)) = rest.split_first_chunk::<4>() else { return Ok(None) };
            let column = treated.next_if(|column| column.index == index);
            index = index.saturating_add(1);
            let Ok(length) = usize::try_from(i32::from_be_bytes(*length)) else {
                rest = behind;
                values.extend_from_slice(&(-1_i32).to_be_bytes());
                continue;
            };
            let Some((value, behind)) = behind.split_at_checked(length) else { return Ok(None) };
            rest = behind;
            shown.clear();
            let value = match column {
                Some(column) => {
                    treat(&mut this, column, encoding, value, &mut shown)?.then_some(shown.as_slice())
                }
                None => Some(value),
            };
            copy_data::binary::encode(value, &mut values)
                .map_err(|_| RowError::Server("a row with too long a value"))?;
        }
        Ok(Some((begin.len().saturating_sub(rest.len()), values)))
    }

    /// Whether the begin of a row includes all of its protected values. A row with too few columns is found later.
    fn reaches_last(&self, begin: &[u8]) -> bool {
        let Some((columns, mut rest)) = begin.split_first_chunk::<2>() else { return false };
        let wanted = self.treated.last().map_or(0, |column| column.index.saturating_add(1));
        for _ in 0..wanted.min(usize::from(u16::from_be_bytes(*columns))) {
            let Some((length, behind)) = rest.split_first_chunk::<4>() else { return false };
            let length = usize::try_from(i32::from_be_bytes(*length)).unwrap_or_default();
            let Some(behind) = behind.get(length..) else { return false };
            rest = behind;
        }
        true
    }
}

/// Returns the body of the row that these messages begin with, and the bytes behind it.
type NextRow = fn(&[u8]) -> Option<(&[u8], &[u8])>;

/// That of a DataRow.
pub fn next_selected(messages: &[u8]) -> Option<(&[u8], &[u8])> {
    next_of(Tag::DataRow, messages)
}

/// That of a CopyData, in which the server sends a row of its own each time.
pub fn next_copied(messages: &[u8]) -> Option<(&[u8], &[u8])> {
    next_of(Tag::CopyData, messages)
}

fn next_of(tag: Tag, messages: &[u8]) -> Option<(&[u8], &[u8])> {
    let header = Header::peek(messages).ok()?.filter(|header| header.tag == tag.code())?;
    let (message, rest) = messages.split_at_checked(header.total_len())?;
    Some((message.get(HEADER_LEN..)?, rest))
}

fn treat(
    row: &mut RowTreatment<'_>,
    column: &TreatedColumn,
    encoding: ClientEncoding,
    stored: &[u8],
    out: &mut Vec<u8>,
) -> Result<bool, RowError> {
    let form = PostgresForm { binary: column.binary, encoding };
    Ok(treat_value(row, (column.field, column.stored), form, column.row_cost, stored, out)?)
}

/// Appends what the reader gets for a value as it is in a row, where a `bytea` in text format is in its text form. Returns
/// whether the result is not NULL. `row_cost` is the number of rows that this row costs of the label's budget.
pub fn treat_value(
    row: &mut RowTreatment<'_>,
    (field, how): (usize, StoredForm),
    form: PostgresForm,
    row_cost: u32,
    value: &[u8],
    out: &mut Vec<u8>,
) -> Result<bool, ClientError> {
    let (bytes, decoded);
    let start = out.len();
    let stored = match how {
        StoredForm::Raw if !form.binary => {
            bytes = fieldveil_values::bytea_from_text(value).map_err(|_| {
                let label = row.field(field).map_or("", |field| field.spec.label.as_str());
                ClientError::unreadable(label, "it is not the text form of bytea")
            })?;
            bytes.as_slice()
        }
        // An envelope is ASCII.
        StoredForm::Armored | StoredForm::Formatted if !form.encoding.is_utf8() && !value.is_ascii() => {
            decoded = form.decode(row.field(field)?, value)?;
            decoded.as_slice()
        }
        StoredForm::Raw | StoredForm::Armored | StoredForm::Formatted => value,
    };
    let treated = row.treat(field, row_cost, FieldValue { bytes: stored, how }, &form, out)?;
    match treated {
        Treated::AsStored => out.extend_from_slice(value),
        Treated::Written if !form.encoding.is_utf8() => form.encode_shown(row.field(field)?, out, start)?,
        Treated::Written | Treated::Null => {}
    }
    Ok(treated != Treated::Null)
}

impl From<WireError> for RowError {
    fn from(_: WireError) -> Self {
        Self::Server("a malformed DataRow")
    }
}

/// Replaces the stored types in a RowDescription by the declared ones, for one statement of a text.
pub fn declare(description: &mut RowDescription<'_>, checked: &CheckedText, statement: usize) {
    let origins = Origins::new(checked, statement, description.fields.len());
    for (index, described) in description.fields.iter_mut().enumerate() {
        let Some(ColumnOrigin { field: id, stored: _, cast }) = origins.of(index, column(described)) else {
            continue;
        };
        let Some(field) = checked.plan.fields.get(id) else { continue };
        if matches!(field.read, ReadTreatment::Conceal) || cast {
            continue;
        }
        described.type_oid = field.declared.oid();
        described.type_size = field.declared.size();
        described.type_modifier = field.declared.modifier();
    }
}
