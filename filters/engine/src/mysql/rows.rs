//! Rows on their way to the client: which of their columns are protected, as the server's own column definitions tell, or
//! the analysis of the text where a column comes from no table any more; and what each becomes.

mod form;

use std::rc::Rc;
use std::sync::Arc;

use fieldveil_mysql_wire::column_type::ColumnType;
use fieldveil_mysql_wire::packet::{HEADER_LEN, Header, Sequence};
use fieldveil_mysql_wire::response::{
    BinaryRow, BinaryRowWriter, BinaryValue, ColumnDefinition41, ColumnFlags, ExtendedMetadata, TextRow,
    TextRowWriter,
};
use fieldveil_mysql_wire::{WireError, charset};
use fieldveil_plan::Protection;
use fieldveil_sql::ResultField;
use fieldveil_values::mysql::{self, Column, Settings};

use self::form::MySqlForm;
use crate::database::{CheckedText, Costs, RowError, RowTreatment, Tally, Treated};
use crate::field::{CompiledField, FieldValue, OpenedBatch, ReadTreatment, StoredForm};
use crate::keyring::Keyring;
use crate::memory::{Weight, size_of_all};
use crate::server_catalog::ServerCatalog;
use crate::value_buffers::restart;
use crate::value_counts::ValueOutcome;

/// A column whose values are changed.
#[derive(Debug, Clone, Copy)]
struct TreatedColumn {
    index: usize,
    field: usize,
    stored: StoredForm,
    /// Rows that a row spends of its label's budget.
    row_cost: u32,
    /// The type that the client is told.
    shown: ColumnType,
    /// Whether the client gets the canonical text as it is.
    is_canonical: bool,
}

/// How the rows of one result are treated.
pub struct TreatedColumns {
    /// What the check of the statement found.
    pub checked: Rc<CheckedText>,
    settings: Settings,
    treated: Vec<TreatedColumn>,
    /// The stored types of all columns, by which binary rows are read.
    types: Vec<ColumnType>,
    /// Whether the reader gets envelopes of each column.
    is_concealed: bool,
    weight: Weight,
}

/// The columns of a result while their definitions come.
pub struct Columns {
    checked: Rc<CheckedText>,
    settings: Settings,
    /// The number of the statement in its text, and how many columns its result has.
    statement: Option<usize>,
    columns: usize,
    treated: Vec<(usize, usize, StoredForm, ColumnType)>,
    types: Vec<ColumnType>,
}

/// What one column is.
#[derive(Clone, Copy)]
struct ColumnOrigin {
    field: usize,
    stored: StoredForm,
    /// Whether it is cast, so that it is of the type of the cast.
    cast: bool,
}

impl Columns {
    /// Of a result with so many columns, of the statement of a text that has this number, if that is known.
    pub fn new(
        checked: &Rc<CheckedText>,
        settings: &Settings,
        statement: Option<usize>,
        columns: usize,
    ) -> Self {
        Self {
            checked: Rc::clone(checked),
            settings: *settings,
            statement,
            columns,
            treated: Vec::new(),
            types: Vec::new(),
        }
    }

    /// Takes in the next definition, and puts the declared type in it in the place of the stored one. Returns whether it is
    /// another now.
    pub fn take(&mut self, definition: &mut ColumnDefinition41<'_>) -> Result<bool, &'static str> {
        let index = self.types.len();
        self.types.push(definition.column_type);
        let Some(ColumnOrigin { field: id, stored, cast }) = self.origin(index, definition) else {
            return Ok(false);
        };
        let Some(field) = self.checked.plan.fields.get(id) else { return Ok(false) };
        let is_another = !cast && declare(definition, field, &self.settings)?;
        self.treated.push((index, id, stored, definition.column_type));
        Ok(is_another)
    }

    fn origin(&self, index: usize, definition: &ColumnDefinition41<'_>) -> Option<ColumnOrigin> {
        let statement = self.statement.and_then(|number| self.checked.analysis.statements.get(number));
        let known = statement.and_then(|statement| statement.columns.as_deref());
        let known = known.filter(|known| known.len() == self.columns);
        let known = known.and_then(|known| known.get(index).copied().flatten());
        let cast = known.is_some_and(|known| known.cast);
        let catalog = self.checked.catalog.as_ref()?;
        if let Some((field, stored)) = field_of(definition, catalog, &self.settings) {
            return Some(ColumnOrigin { field, stored, cast });
        }
        let ResultField { field, cast: _ } = known?;
        let stored = stored_as(self.checked.plan.fields.get(field)?, definition);
        Some(ColumnOrigin { field, stored, cast })
    }

    /// All definitions have come.
    pub fn finish(self) -> TreatedColumns {
        let treated = self.treated.into_iter();
        let treated = treated.map(|(index, field, stored, shown)| TreatedColumn {
            index,
            field,
            stored,
            row_cost: 1,
            shown,
            is_canonical: false,
        });
        TreatedColumns {
            checked: self.checked,
            settings: self.settings,
            treated: treated.collect(),
            types: self.types,
            is_concealed: false,
            weight: Weight::default(),
        }
        .completed()
    }
}

/// The field of the column that a definition names, in the character set of results. A name that this set has not is no
/// protected one, so the column's values stay sealed where the analysis does not know it.
pub fn field_of(
    definition: &ColumnDefinition41<'_>,
    catalog: &ServerCatalog,
    settings: &Settings,
) -> Option<(usize, StoredForm)> {
    let ColumnDefinition41 { schema, org_table, org_name, .. } = definition;
    let [schema, table, column] = [schema, org_table, org_name].map(|name| settings.results.decode(name));
    let name = |bytes| std::str::from_utf8(bytes).unwrap_or_default();
    catalog.field_named(name(&schema), name(&table), name(&column))
}

/// How an expression's result holds what was sealed.
fn stored_as(field: &CompiledField, definition: &ColumnDefinition41<'_>) -> StoredForm {
    match (field.spec.protection, definition.charset) {
        (Protection::FormatPreserving, _) => StoredForm::Formatted,
        (_, charset::BINARY) => StoredForm::Raw,
        _ => StoredForm::Armored,
    }
}

/// Puts the declared type in the place of the stored one, unless envelopes are shown. Returns whether it did.
pub fn declare(
    definition: &mut ColumnDefinition41<'_>,
    field: &CompiledField,
    settings: &Settings,
) -> Result<bool, &'static str> {
    if matches!(field.read, ReadTreatment::Conceal) {
        return Ok(false);
    }
    let Ok(Column { column_type, charset, length, flags, decimals }) =
        mysql::column(&field.declared, settings)
    else {
        return Ok(false);
    };
    definition.column_type = ColumnType::from_code(column_type).ok_or("an unknown declared type")?;
    definition.charset = charset;
    definition.length = length;
    definition.decimals = decimals;
    definition.flags = ColumnFlags::from_bits((definition.flags.bits() & !Column::TYPE_FLAGS) | flags);
    definition.extended = definition.extended.map(|_| ExtendedMetadata::NONE);
    Ok(true)
}

impl TreatedColumns {
    /// Whether rows pass as they are.
    pub fn is_empty(&self) -> bool {
        self.treated.is_empty()
    }

    /// Whether they are of a statement as it was checked, with values that are written so.
    pub fn is_under(&self, checked: &Rc<CheckedText>, settings: &Settings) -> bool {
        Rc::ptr_eq(&self.checked, checked) && self.settings == *settings
    }

    /// The same rows under another plan, of the same fields in the same order.
    pub fn under(&self, checked: &Rc<CheckedText>) -> Self {
        let (checked, types) = (Rc::clone(checked), self.types.clone());
        Self {
            checked,
            settings: self.settings,
            treated: self.treated.clone(),
            types,
            is_concealed: false,
            weight: Weight::default(),
        }
        .completed()
    }

    /// Weighed, and with what is known of each column by its field.
    fn completed(mut self) -> Self {
        let treated = size_of_all::<TreatedColumn>(self.treated.capacity());
        let types = size_of_all::<ColumnType>(self.types.capacity());
        let bytes = size_of::<Self>().saturating_add(treated).saturating_add(types);
        self.weight = self.checked.weight.beside(bytes);
        let plan = Arc::clone(&self.checked.plan);
        let costs = Costs::of(&plan, self.treated.iter().map(|column| column.field));
        for column in &mut self.treated {
            let field = plan.fields.get(column.field);
            column.row_cost = costs.of_row(&plan, column.field);
            column.is_canonical =
                field.is_some_and(|field| mysql::shows_canonical(&field.declared, &self.settings));
        }
        let mut fields = self.treated.iter().map(|column| plan.fields.get(column.field));
        self.is_concealed = fields.all(|field| field.is_some_and(CompiledField::is_concealed));
        self
    }

    /// Whether a row goes to the client as it came, because its protected values are envelopes and the reader gets these. If it
    /// does, the values are counted. A row that is malformed, or has a value that is no envelope, does not.
    pub fn passes(&self, body: &[u8], is_binary: bool, tally: &mut dyn Tally) -> bool {
        if !self.is_concealed {
            return false;
        }
        let field = |column: &TreatedColumn| self.checked.plan.fields.get(column.field);
        let mut stays = true;
        let read = self.each_treated(body, is_binary, |column, value| {
            stays &= field(column).is_some_and(|field| field.stays_as_stored(value, column.stored));
        });
        if read.is_err() || !stays {
            return false;
        }
        let counted = self.each_treated(body, is_binary, |column, _| {
            if let Some(field) = field(column) {
                tally.count(&self.checked.plan, field, ValueOutcome::Concealed);
            }
        });
        counted.is_ok()
    }

    /// Writes the row to `out` with its protected values treated.
    pub fn write(
        &self,
        body: &[u8],
        is_binary: bool,
        keyring: &Keyring,
        sequence: &mut Sequence,
        out: &mut Vec<u8>,
        tally: &mut dyn Tally,
    ) -> Result<(), RowError> {
        let mut shown = std::mem::take(&mut tally.buffers().shown);
        let mut this = RowTreatment::new(&self.checked.plan, keyring, tally);
        let written = match is_binary {
            false => self.write_text(body, &mut this, &mut shown, sequence, out),
            true => self.write_binary(body, &mut this, &mut shown, sequence, out),
        };
        tally.buffers().shown = shown;
        written
    }

    /// Opens together what is sealed in the rows at the start of these bytes, if that was not done with those before.
    pub fn open_ahead(&self, bytes: &[u8], is_binary: bool, keyring: &Keyring, batch: &mut OpenedBatch) {
        let fields = &self.checked.plan.fields;
        let columns =
            self.treated.iter().filter_map(|column| Some((column.index, fields.get(column.field)?)));
        let gather = |batch: &mut OpenedBatch, row| {
            let gathered = self.each_treated(row, is_binary, |column, bytes| {
                if let Some(field) = fields.get(column.field) {
                    batch.gather(column.index, field, FieldValue { bytes, how: column.stored });
                }
            });
            gathered.is_ok()
        };
        batch.open_ahead(bytes, columns, keyring, next_row, gather);
    }

    /// Calls `take` for each value of a treated column that is not NULL.
    fn each_treated(
        &self,
        body: &[u8],
        is_binary: bool,
        mut take: impl FnMut(&TreatedColumn, &[u8]),
    ) -> Result<(), WireError> {
        let mut treated = self.treated.iter().peekable();
        let mut take = |index: usize, value: Option<&[u8]>| {
            if let (Some(column), Some(value)) = (treated.next_if(|column| column.index == index), value) {
                take(column, value);
            }
        };
        if is_binary {
            let values = BinaryRow::parse(body, &self.types)?;
            values.values().enumerate().for_each(|(at, value)| take(at, value.map(|value| value.bytes())));
        } else {
            let values = TextRow::parse(body, self.types.len())?;
            values.values().enumerate().for_each(|(at, value)| take(at, value));
        }
        Ok(())
    }

    fn write_text(
        &self,
        body: &[u8],
        this: &mut RowTreatment<'_>,
        shown: &mut Vec<u8>,
        sequence: &mut Sequence,
        out: &mut Vec<u8>,
    ) -> Result<(), RowError> {
        let row = TextRow::parse(body, self.types.len())?;
        let form = MySqlForm { settings: &self.settings, binary: false };
        let mut writer = TextRowWriter::new(out, sequence, row.columns());
        let mut treated = self.treated.iter().peekable();
        for (index, value) in row.values().enumerate() {
            let column = treated.next_if(|column| column.index == index);
            let (Some(column), Some(stored)) = (column, value) else {
                writer.push(value)?;
                continue;
            };
            restart(shown);
            let value = FieldValue { bytes: stored, how: column.stored };
            match this.treat(column.field, column.row_cost, value, &form, shown)? {
                Treated::AsStored => writer.push(Some(stored))?,
                Treated::Null => writer.push(None)?,
                Treated::Written => writer.push(Some(shown))?,
            }
        }
        Ok(writer.finish()?)
    }

    fn write_binary(
        &self,
        body: &[u8],
        this: &mut RowTreatment<'_>,
        shown: &mut Vec<u8>,
        sequence: &mut Sequence,
        out: &mut Vec<u8>,
    ) -> Result<(), RowError> {
        let row = BinaryRow::parse(body, &self.types)?;
        let form = MySqlForm { settings: &self.settings, binary: true };
        let mut writer = BinaryRowWriter::new(out, sequence, self.types.len());
        let mut treated = self.treated.iter().peekable();
        for (index, value) in row.values().enumerate() {
            let column = treated.next_if(|column| column.index == index);
            let (Some(column), Some(stored)) = (column, value) else {
                writer.push_raw(value.map(BinaryValue::as_it_stands))?;
                continue;
            };
            restart(shown);
            let value = FieldValue { bytes: stored.bytes(), how: column.stored };
            match this.treat(column.field, column.row_cost, value, &form, shown)? {
                Treated::AsStored => writer.push_raw(Some(stored.as_it_stands()))?,
                Treated::Null => writer.push_raw(None)?,
                Treated::Written if column.is_canonical => writer.push(column.shown, Some(shown))?,
                Treated::Written => writer.push_encoded(column.shown, shown)?,
            }
        }
        Ok(writer.finish()?)
    }
}

/// The row that these bytes begin with, if it is one of a single packet, and what is behind it.
fn next_row(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let header = Header::peek(bytes).filter(|header| !header.is_continued())?;
    let (packet, rest) = bytes.split_at_checked(header.total_len())?;
    let row = packet.get(HEADER_LEN..)?;
    // OK, EOF and ERR end the rows.
    (!matches!(row, [0xfe | 0xff, ..])).then_some((row, rest))
}

impl From<WireError> for RowError {
    fn from(_: WireError) -> Self {
        Self::Server("a malformed row")
    }
}
