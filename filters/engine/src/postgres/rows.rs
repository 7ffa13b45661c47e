//! Rows on their way to the client: which of their columns are protected, as the server's own
//! RowDescription tells, and what each becomes.

use std::rc::Rc;

use fieldveil_pg_wire::Format;
use fieldveil_pg_wire::backend::{DataRow, DataRowWriter, RowDescription};

use super::catalog::ServerCatalog;
use super::statements::Checked;
use crate::client_error::ClientError;
use crate::field::{Read, Stored};
use crate::keyring::Keyring;

/// Where a result column comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResultColumn {
    /// `pg_class.oid`, or 0 for an expression.
    pub table_oid: u32,
    /// `pg_attribute.attnum`, or 0.
    pub number: i16,
}

/// A column whose values are changed.
#[derive(Debug, Clone, Copy)]
struct TreatedColumn {
    index: usize,
    field: usize,
    stored: Stored,
    binary: bool,
}

/// What the rows of one result get.
pub struct RowPlan {
    /// The statement's plan.
    pub checked: Rc<Checked>,
    treated: Vec<TreatedColumn>,
}

/// The columns of a description.
pub fn columns(description: &RowDescription<'_>) -> Vec<ResultColumn> {
    let column = |f: &fieldveil_pg_wire::backend::FieldDescription<'_>| ResultColumn {
        table_oid: f.table_oid,
        number: f.column,
    };
    description.fields.iter().map(column).collect()
}

fn field_of(catalog: &Option<Rc<ServerCatalog>>, column: ResultColumn) -> Option<(usize, Stored)> {
    catalog.as_ref()?.field_at(column.table_oid, column.number)
}

impl RowPlan {
    /// For the columns of a result, each in the format that `format` tells.
    pub fn new(checked: &Rc<Checked>, columns: &[ResultColumn], format: impl Fn(usize) -> Format) -> Self {
        let treated = columns.iter().enumerate().filter_map(|(index, column)| {
            let (field, stored) = field_of(&checked.catalog, *column)?;
            let concealed = matches!(checked.plan.fields.get(field)?.read, Read::Conceal);
            let binary = format(index) == Format::Binary;
            (!concealed).then_some(TreatedColumn { index, field, stored, binary })
        });
        Self { treated: treated.collect(), checked: Rc::clone(checked) }
    }

    /// Whether rows pass as they are.
    pub fn is_empty(&self) -> bool {
        self.treated.is_empty()
    }

    /// Writes the row to `out` with its protected values treated. Calls `count` with the label and
    /// treatment of each.
    pub fn write(
        &self,
        body: &[u8],
        keyring: &Keyring,
        out: &mut Vec<u8>,
        mut count: impl FnMut(&str, &'static str),
    ) -> Result<(), RowError> {
        let row = DataRow::parse(body)?;
        let mut writer = DataRowWriter::new(out, row.columns());
        let mut treated = self.treated.iter().peekable();
        for (index, value) in row.values().enumerate() {
            let column = treated.next_if(|column| column.index == index);
            let (Some(column), Some(stored)) = (column, value) else {
                writer.push(value)?;
                continue;
            };
            let Some(field) = self.checked.plan.fields.get(column.field) else {
                return Err(RowError::Treatment(ClientError::protocol("a field without a plan")));
            };
            let envelope;
            let stored = match column.stored {
                Stored::Raw if !column.binary => {
                    envelope = fieldveil_values::bytea_from_text(stored).map_err(|_| {
                        ClientError::unreadable(&field.spec.label, "it is not the text form of bytea")
                    })?;
                    envelope.as_slice()
                }
                Stored::Raw | Stored::Armored => stored,
            };
            let shown = field.read(keyring, stored, column.stored, column.binary)?;
            writer.push(shown.as_ref().map(|v| v.as_slice()))?;
            count(&field.spec.label, field.read.name());
        }
        if treated.next().is_some() {
            return Err(RowError::Server("a DataRow with fewer columns than its RowDescription"));
        }
        writer.finish()?;
        Ok(())
    }
}

/// Why a row could not be passed on.
pub enum RowError {
    /// A value that the principal can't be given.
    Treatment(ClientError),
    /// The server broke the protocol.
    Server(&'static str),
}

impl From<ClientError> for RowError {
    fn from(error: ClientError) -> Self {
        Self::Treatment(error)
    }
}

impl From<fieldveil_pg_wire::WireError> for RowError {
    fn from(_: fieldveil_pg_wire::WireError) -> Self {
        Self::Server("a malformed DataRow")
    }
}

/// A RowDescription with the declared types in the place of the stored ones.
pub fn declare(description: &mut RowDescription<'_>, checked: &Checked) {
    for column in &mut description.fields {
        let origin = ResultColumn { table_oid: column.table_oid, number: column.column };
        let Some((index, _)) = field_of(&checked.catalog, origin) else { continue };
        let Some(field) = checked.plan.fields.get(index) else { continue };
        if matches!(field.read, Read::Conceal) {
            continue;
        }
        column.type_oid = field.declared.oid();
        column.type_size = field.declared.size();
        column.type_modifier = field.declared.modifier();
    }
}
