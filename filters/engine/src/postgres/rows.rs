//! Rows on their way to the client: which of their columns are protected, as the server's own
//! RowDescription tells, and what each becomes.

use std::rc::Rc;

use fieldveil_pg_wire::backend::{DataRow, DataRowWriter, FieldDescription, RowDescription, Tag};
use fieldveil_pg_wire::frame::HEADER_LEN;
use fieldveil_pg_wire::{Format, Header, WireError, copy_data};
use fieldveil_sql::ResultField;
use zeroize::Zeroizing;

use super::catalog;
use crate::client_error::ClientError;
use crate::database::{Checked, ClientForm, Costs, RowError, RowTreatment, Tally, Treated};
use crate::field::{FieldPlan, OpenedBatch, Read, Stored, Value};
use crate::keyring::Keyring;
use crate::memory::{Weight, size_of_all};

/// Where a result column comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResultColumn {
    /// `pg_class.oid`, or 0 for an expression.
    pub table_oid: u32,
    /// `pg_attribute.attnum`, or 0.
    pub number: i16,
    /// The stored type.
    pub type_oid: u32,
    /// The format in which the description has it: that of a simple query's answer.
    pub format: Format,
}

/// A column whose values are changed.
#[derive(Debug, Clone, Copy)]
struct TreatedColumn {
    index: usize,
    field: usize,
    stored: Stored,
    binary: bool,
    /// Rows that a row spends of its label's budget.
    rows: u32,
}

/// What the rows of one result get.
pub struct RowPlan {
    /// The statement's plan.
    pub checked: Rc<Checked>,
    treated: Vec<TreatedColumn>,
    _weight: Weight,
}

/// The columns of a description.
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

/// What the columns of one statement's result are.
struct Origins<'c> {
    checked: &'c Checked,
    /// What analysis says of each, for what comes from no table any more; None where it can't.
    known: Option<&'c [Option<ResultField>]>,
}

/// What one column is.
struct ColumnOrigin {
    field: usize,
    stored: Stored,
    /// Whether it is cast, so that it is of the type of the cast.
    cast: bool,
}

impl<'c> Origins<'c> {
    fn new(checked: &'c Checked, statement: usize, columns: usize) -> Self {
        let statement = checked.analysis.statements.get(statement);
        let known = statement.and_then(|s| s.columns.as_deref()).filter(|known| known.len() == columns);
        Self { checked, known }
    }

    fn of(&self, index: usize, column: ResultColumn) -> Option<ColumnOrigin> {
        let catalog = self.checked.catalog.as_ref()?;
        let known = self.known.and_then(|known| known.get(index).copied().flatten());
        // To the server a cast to the stored type is none.
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

impl RowPlan {
    /// For the columns of the result of one statement of a text, each in the format that `format` tells.
    pub fn new(
        checked: &Rc<Checked>,
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

    /// For the rows of a COPY in binary format.
    pub fn of_copy(checked: &Rc<Checked>, columns: &[Option<(usize, Stored)>]) -> Self {
        let treated = columns
            .iter()
            .enumerate()
            .filter_map(|(index, column)| column.map(|(field, stored)| (index, field, stored, true)));
        Self::of(checked, treated.collect())
    }

    fn of(checked: &Rc<Checked>, columns: Vec<(usize, usize, Stored, bool)>) -> Self {
        let costs = Costs::of(&checked.plan, columns.iter().map(|(_, field, ..)| *field));
        let treated = columns.into_iter().map(|(index, field, stored, binary)| TreatedColumn {
            index,
            field,
            stored,
            binary,
            rows: costs.rows(&checked.plan, field),
        });
        let treated: Vec<_> = treated.collect();
        let bytes = size_of_all::<TreatedColumn>(treated.capacity()).saturating_add(size_of::<Self>());
        Self { treated, checked: Rc::clone(checked), _weight: checked.weight.beside(bytes) }
    }

    /// Whether rows pass as they are.
    pub fn is_empty(&self) -> bool {
        self.treated.is_empty()
    }

    /// Writes the row to `out` with its protected values treated.
    pub fn write(
        &self,
        body: &[u8],
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
            writer.push_with(|out| treat(&mut this, column, stored, out))?;
        }
        if treated.next().is_some() {
            return Err(RowError::Server("a DataRow with fewer columns than its RowDescription"));
        }
        writer.finish()?;
        Ok(())
    }

    /// Opens together what is sealed in the rows at the start of these bytes, if that was not done with those before.
    pub fn open_ahead(&self, bytes: &[u8], keyring: &Keyring, batch: &mut OpenedBatch) {
        let fields = &self.checked.plan.fields;
        let columns =
            self.treated.iter().filter_map(|column| Some((column.index, fields.get(column.field)?)));
        let gather = |batch: &mut OpenedBatch, row| self.gather(row, batch).is_ok();
        batch.open_ahead(bytes, columns, keyring, next_row, gather);
    }

    fn gather(&self, body: &[u8], batch: &mut OpenedBatch) -> Result<(), WireError> {
        let mut treated = self.treated.iter().peekable();
        for (index, value) in DataRow::parse(body)?.values().enumerate() {
            let Some(column) = treated.next_if(|column| column.index == index) else { continue };
            let field = self.checked.plan.fields.get(column.field);
            // The text of a `bytea` has its bytes elsewhere.
            let in_place = column.binary || column.stored != Stored::Raw;
            if let (Some(field), Some(bytes), true) = (field, value, in_place) {
                batch.gather(index, field, Value { bytes, how: column.stored });
            }
        }
        Ok(())
    }

    /// A row's begin, up to its last protected value, with these treated: for a row too long to be held, whose rest
    /// follows as it comes. Gives how many bytes that took of the row and what comes in their place; None if more of the
    /// row is needed.
    pub fn begin(
        &self,
        begin: &[u8],
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
                Some(column) => treat(&mut this, column, value, &mut shown)?.then_some(shown.as_slice()),
                None => Some(value),
            };
            copy_data::binary::encode(value, &mut values)
                .map_err(|_| RowError::Server("a row with too long a value"))?;
        }
        Ok(Some((begin.len().saturating_sub(rest.len()), values)))
    }

    /// Whether a row's begin holds all of its protected values. One that has too few columns is told later.
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

/// The body of the DataRow that these bytes begin with, and what is behind it.
fn next_row(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let header = Header::peek(bytes).ok()?.filter(|header| Tag::of(header.tag) == Some(Tag::DataRow))?;
    let (message, rest) = bytes.split_at_checked(header.total_len())?;
    Some((message.get(HEADER_LEN..)?, rest))
}

fn treat(
    row: &mut RowTreatment<'_>,
    column: &TreatedColumn,
    stored: &[u8],
    out: &mut Vec<u8>,
) -> Result<bool, RowError> {
    Ok(treat_value(row, (column.field, column.stored), column.binary, column.rows, stored, out)?)
}

/// Appends what a reader gets for a value as it stands in a row: of a `bytea`, in text format its text. Returns whether it
/// is anything but NULL. `rows` is what the row costs of the label's budget.
pub fn treat_value(
    row: &mut RowTreatment<'_>,
    (field, how): (usize, Stored),
    binary: bool,
    rows: u32,
    value: &[u8],
    out: &mut Vec<u8>,
) -> Result<bool, ClientError> {
    let bytes;
    let stored = match how {
        Stored::Raw if !binary => {
            bytes = fieldveil_values::bytea_from_text(value).map_err(|_| {
                let label = row.field(field).map_or("", |field| field.spec.label.as_str());
                ClientError::unreadable(label, "it is not the text form of bytea")
            })?;
            bytes.as_slice()
        }
        Stored::Raw | Stored::Armored | Stored::Formatted => value,
    };
    let treated = row.treat(field, rows, Value { bytes: stored, how }, &PostgresForm { binary }, out)?;
    if treated == Treated::AsStored {
        out.extend_from_slice(value);
    }
    Ok(treated != Treated::Null)
}

/// Text or binary.
struct PostgresForm {
    binary: bool,
}

impl ClientForm for PostgresForm {
    fn plaintext(&self, field: &FieldPlan, stored: Value<'_>) -> Result<Zeroizing<Vec<u8>>, String> {
        field.stored_text(stored.bytes, stored.how)
    }

    fn is_canonical(&self, field: &FieldPlan) -> bool {
        !self.binary && field.declared.shows_canonical()
    }

    fn encode(&self, field: &FieldPlan, canonical: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        field.show_as(self.binary, canonical, out)
    }
}

impl From<WireError> for RowError {
    fn from(_: WireError) -> Self {
        Self::Server("a malformed DataRow")
    }
}

/// A RowDescription with the declared types in the place of the stored ones, for one statement of a text.
pub fn declare(description: &mut RowDescription<'_>, checked: &Checked, statement: usize) {
    let origins = Origins::new(checked, statement, description.fields.len());
    for (index, field) in description.fields.iter_mut().enumerate() {
        let Some(ColumnOrigin { field: id, stored: _, cast }) = origins.of(index, column(field)) else {
            continue;
        };
        let Some(plan) = checked.plan.fields.get(id) else { continue };
        if matches!(plan.read, Read::Conceal) || cast {
            continue;
        }
        field.type_oid = plan.declared.oid();
        field.type_size = plan.declared.size();
        field.type_modifier = plan.declared.modifier();
    }
}
