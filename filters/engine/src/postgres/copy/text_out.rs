//! Rows of text and CSV to the client. The server sends each row in a CopyData message of its own.

use std::rc::Rc;

use fieldveil_postgres_wire::copy_data::{Dialect, Found, Scanner, csv, text};
use fieldveil_sql::{CopyHeader, CopyText};
use zeroize::Zeroizing;

use super::{CopyColumn, dialect};
use crate::database::{CheckedText, Costs, RowError, RowTreatment, Tally};
use crate::field::StoredForm;
use crate::keyring::Keyring;
use crate::postgres::encoding::ClientEncoding;
use crate::postgres::rows::{self, PostgresForm};

/// What the rows get.
pub struct TextOut {
    checked: Rc<CheckedText>,
    columns: Vec<Option<Column>>,
    /// In the encoding of the data.
    dialect: Dialect,
    encoding: ClientEncoding,
    /// The first line is a header.
    header: bool,
}

/// A protected column.
struct Column {
    field: usize,
    stored: StoredForm,
    /// Rows that a row spends of its label's budget.
    row_cost: u32,
}

impl TextOut {
    pub fn new(
        checked: Rc<CheckedText>,
        columns: &[CopyColumn],
        text: &CopyText,
        encoding: ClientEncoding,
    ) -> Self {
        let costs = Costs::of(&checked.plan, columns.iter().flatten().map(|(field, _)| *field));
        let column = |(field, stored)| Column { field, stored, row_cost: costs.of_row(&checked.plan, field) };
        let columns = columns.iter().map(|protected| protected.map(column)).collect();
        let mut dialect = dialect(text);
        if let Ok(Some(null)) = encoding.encode_statement(Some(dialect.null.clone())) {
            dialect.null = null;
        }
        Self { checked, columns, dialect, encoding, header: text.header != CopyHeader::None }
    }

    /// A row's begin, up to its last protected value, with these treated. Gives how many bytes that took of the row and
    /// what comes in their place; None if more of the row is needed.
    pub fn begin(
        &mut self,
        row: &[u8],
        keyring: &Keyring,
        tally: &mut dyn Tally,
    ) -> Result<Option<(usize, Vec<u8>)>, RowError> {
        if self.header {
            self.header = false;
            return Ok(Some((0, Vec::new())));
        }
        if self.encoding.may_hide_delimiters() && !row.is_ascii() {
            return Err(self.encoding.unread("a row of the COPY").into());
        }
        let Some(fields) = self.fields(row)? else { return Ok(None) };
        let mut this = RowTreatment::new(&self.checked.plan, keyring, tally);
        let mut treated = Vec::with_capacity(row.len());
        let mut shown = Zeroizing::new(Vec::new());
        let mut taken = 0;
        for (column, (start, end)) in self.columns.iter().zip(fields) {
            let Some(column) = column else { continue };
            treated.extend_from_slice(row.get(taken..start).unwrap_or_default());
            taken = end;
            let raw = row.get(start..end).unwrap_or_default();
            let Some(value) = self.decode(raw) else {
                treated.extend_from_slice(raw);
                continue;
            };
            shown.clear();
            let place = (column.field, column.stored);
            let form = PostgresForm { binary: false, encoding: self.encoding };
            let is_value = rows::treat_value(&mut this, place, form, column.row_cost, &value, &mut shown)?;
            let shown = is_value.then_some(shown.as_slice());
            match self.dialect.quotes {
                None => text::encode(&self.dialect, shown, &mut treated),
                Some(quotes) => csv::encode(&self.dialect, quotes, shown, &mut treated),
            }
        }
        Ok(Some((taken, treated)))
    }

    /// Where the fields are, up to the last protected one.
    fn fields(&self, row: &[u8]) -> Result<Option<Vec<(usize, usize)>>, RowError> {
        let wanted = self.columns.iter().rposition(Option::is_some).map_or(0, |last| last.saturating_add(1));
        let mut fields = Vec::with_capacity(wanted);
        let mut start = 0_usize;
        while fields.len() < wanted {
            let mut scanner = Scanner::default();
            let rest = row.get(start..).unwrap_or_default();
            let found = scanner.find(&self.dialect, rest).map_err(|_| RowError::Server("a malformed row"))?;
            let (length, last) = match found {
                Found::Delimiter(at) => (at, false),
                Found::Newline(at) => (at.saturating_sub(usize::from(scanner.take_carriage())), true),
                Found::More | Found::Marker(_) => return Ok(None),
            };
            fields.push((start, start.saturating_add(length)));
            start = start.saturating_add(length).saturating_add(1);
            if last && fields.len() < wanted {
                return Err(RowError::Server("a row with fewer columns than are copied"));
            }
        }
        Ok(Some(fields))
    }

    fn decode(&self, raw: &[u8]) -> Option<Vec<u8>> {
        match self.dialect.quotes {
            None => text::decode(&self.dialect, raw),
            Some(quotes) => csv::decode(&self.dialect, quotes, raw, false, false),
        }
    }
}
