//! Rows of text and CSV to the client. The server sends each row in a CopyData message of its own.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use fieldveil_postgres_wire::copy_data::{Dialect, Found, Scanner, csv, text};
use fieldveil_sql::{CopyHeader, CopyText};
use zeroize::Zeroizing;

use super::{CopyColumn, dialect};
use crate::database::{CheckedText, Costs, RowError, RowTreatment, Tally};
use crate::field::{CompiledField, FieldValue, OpenedBatch, StoredForm};
use crate::keyring::Keyring;
use crate::postgres::encoding::ClientEncoding;
use crate::postgres::rows::{self, PostgresForm};
use crate::value_buffers::restart;
use crate::value_counts::ValueOutcome;

/// What the rows get.
pub struct TextOut {
    checked: Rc<CheckedText>,
    columns: Vec<Option<Column>>,
    /// In the encoding of the data.
    dialect: Dialect,
    encoding: ClientEncoding,
    /// The first line is a header.
    header: bool,
    /// Whether the reader gets envelopes of each column, and these can be told in the row: not in a `bytea`'s hexadecimal text.
    is_concealed: bool,
    /// Where the fields of the row are.
    places: Vec<(usize, usize)>,
    /// What the client gets of a value, before it is written as a field.
    shown: Zeroizing<Vec<u8>>,
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
        let columns: Vec<Option<Column>> = columns.iter().map(|protected| protected.map(column)).collect();
        let is_concealed = columns.iter().flatten().all(|column| {
            let field = checked.plan.fields.get(column.field);
            column.stored != StoredForm::Raw && field.is_some_and(CompiledField::is_concealed)
        });
        let mut dialect = dialect(text);
        if let Ok(Some(null)) = encoding.encode_statement(Some(dialect.null.clone())) {
            dialect.null = null;
        }
        let header = text.header != CopyHeader::None;
        let (places, shown) = Default::default();
        Self { checked, columns, dialect, encoding, header, is_concealed, places, shown }
    }

    /// Appends a row's begin, up to its last protected value, with these treated. Gives how many bytes that took of the
    /// row; None if more of the row is needed. On an error a part may have been appended.
    pub fn begin(
        &mut self,
        row: &[u8],
        keyring: &Keyring,
        tally: &mut dyn Tally,
        out: &mut Vec<u8>,
    ) -> Result<Option<usize>, RowError> {
        if self.header {
            self.header = false;
            return Ok(Some(0));
        }
        if self.encoding.may_hide_delimiters() && !row.is_ascii() {
            return Err(self.encoding.unread("a row of the COPY").into());
        }
        let (mut places, mut shown) = (std::mem::take(&mut self.places), std::mem::take(&mut self.shown));
        let found = match self.places_ahead(row, tally.buffers().scratch.batch(), &mut places) {
            true => Ok(true),
            false => self.find(row, &mut places),
        };
        let begun = match found {
            Ok(true) => self.treat(row, &places, (keyring, tally), &mut shown, out).map(Some),
            Ok(false) => Ok(None),
            Err(error) => Err(error),
        };
        restart(&mut shown);
        (self.places, self.shown) = (places, shown);
        begun
    }

    /// Whether a row goes to the client as it came; as [`rows::TreatedColumns::passes`].
    pub fn passes(&mut self, row: &[u8], tally: &mut dyn Tally) -> bool {
        if !self.is_concealed || self.header || !self.encoding.is_utf8() {
            return false;
        }
        let mut places = std::mem::take(&mut self.places);
        let passes =
            matches!(self.find(row, &mut places), Ok(true)) && self.count_concealed(row, &places, tally);
        self.places = places;
        passes
    }

    /// Counts the values of a row that is sent as it came. Returns false, and counts none, if one of them has to be written
    /// anew.
    fn count_concealed(&self, row: &[u8], places: &[(usize, usize)], tally: &mut dyn Tally) -> bool {
        let plan = &self.checked.plan;
        // What is written with escapes or quotes is no envelope, or becomes one only when it is read.
        let stays = |column: &Column, raw: &[u8]| match self.decode(raw) {
            None => Some(None),
            Some(Cow::Borrowed(value)) => {
                let field = plan.fields.get(column.field)?;
                field.stays_as_stored(value, column.stored).then_some(Some(field))
            }
            Some(Cow::Owned(_)) => None,
        };
        let values = || {
            let values = self.columns.iter().zip(places);
            let values =
                values.filter_map(|(column, (start, end))| Some((column.as_ref()?, row.get(*start..*end)?)));
            values.map(|(column, raw)| stays(column, raw))
        };
        if values().any(|value| value.is_none()) {
            return false;
        }
        for field in values().flatten().flatten() {
            tally.count(plan, field, ValueOutcome::Concealed);
        }
        true
    }

    fn treat(
        &self,
        row: &[u8],
        places: &[(usize, usize)],
        (keyring, tally): (&Keyring, &mut dyn Tally),
        shown: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Result<usize, RowError> {
        let mut this = RowTreatment::new(&self.checked.plan, keyring, tally);
        let mut taken = 0;
        for (column, (start, end)) in self.columns.iter().zip(places.iter().copied()) {
            let Some(column) = column else { continue };
            out.extend_from_slice(row.get(taken..start).unwrap_or_default());
            taken = end;
            let raw = row.get(start..end).unwrap_or_default();
            let Some(value) = self.decode(raw) else {
                out.extend_from_slice(raw);
                continue;
            };
            restart(shown);
            let place = (column.field, column.stored);
            let form = PostgresForm { binary: false, encoding: self.encoding };
            let is_value = rows::treat_value(&mut this, place, form, column.row_cost, &value, shown)?;
            let shown = is_value.then_some(shown.as_slice());
            match self.dialect.quotes {
                None => text::encode(&self.dialect, shown, out),
                Some(quotes) => csv::encode(&self.dialect, quotes, shown, out),
            }
        }
        Ok(taken)
    }

    /// Opens the envelopes in the rows at the begin of these messages in one batch, unless an earlier batch has included
    /// them.
    pub fn open_ahead(&self, messages: &[u8], keyring: &Keyring, batch: &mut OpenedBatch) {
        let fields = &self.checked.plan.fields;
        let protected = self.columns.iter().enumerate();
        let columns =
            protected.filter_map(|(index, column)| Some((index, fields.get(column.as_ref()?.field)?)));
        let places = RefCell::new(Vec::new());
        let gather =
            |batch: &mut OpenedBatch, row| self.gather(row, &mut places.borrow_mut(), batch).is_some();
        batch.open_ahead(messages, columns, keyring, rows::next_copied, gather);
    }

    /// Whether the batch says where the fields are, because each protected one of this row was gathered. Those of the others
    /// are left empty.
    fn places_ahead(&self, row: &[u8], batch: &OpenedBatch, places: &mut Vec<(usize, usize)>) -> bool {
        let mut ahead = batch.places_in(row);
        places.clear();
        self.columns.iter().enumerate().all(|(index, column)| {
            let place = match column {
                Some(_) => ahead.next().filter(|(column, _)| *column == index),
                None => Some((index, 0..0)),
            };
            places.extend(place.as_ref().map(|(_, place)| (place.start, place.end)));
            place.is_some()
        })
    }

    /// None if the row is not whole.
    fn gather(&self, row: &[u8], places: &mut Vec<(usize, usize)>, batch: &mut OpenedBatch) -> Option<()> {
        if !self.find(row, places).ok()? {
            return None;
        }
        for (index, (column, (start, end))) in self.columns.iter().zip(places.iter().copied()).enumerate() {
            let Some(Column { field, stored: StoredForm::Armored, .. }) = column else { continue };
            let value = row.get(start..end).and_then(|raw| self.decode(raw));
            // One with escapes or quotes is decoded into another buffer. So one that is gathered is its whole field.
            if let (Some(field), Some(Cow::Borrowed(bytes))) = (self.checked.plan.fields.get(*field), value) {
                batch.gather(index, field, FieldValue { bytes, how: StoredForm::Armored });
            }
        }
        Some(())
    }

    /// Finds where the fields are, up to the last protected one. False if more of the row is needed.
    fn find(&self, row: &[u8], fields: &mut Vec<(usize, usize)>) -> Result<bool, RowError> {
        let wanted = self.columns.iter().rposition(Option::is_some).map_or(0, |last| last.saturating_add(1));
        fields.clear();
        let mut start = 0_usize;
        while fields.len() < wanted {
            let mut scanner = Scanner::default();
            let rest = row.get(start..).unwrap_or_default();
            let found = scanner.find(&self.dialect, rest).map_err(|_| RowError::Server("a malformed row"))?;
            let (length, last) = match found {
                Found::Delimiter(at) => (at, false),
                Found::Newline(at) => (at.saturating_sub(usize::from(scanner.take_carriage())), true),
                Found::More | Found::Marker(_) => return Ok(false),
            };
            fields.push((start, start.saturating_add(length)));
            start = start.saturating_add(length).saturating_add(1);
            if last && fields.len() < wanted {
                return Err(RowError::Server("a row with fewer columns than are copied"));
            }
        }
        Ok(true)
    }

    fn decode<'r>(&self, raw: &'r [u8]) -> Option<Cow<'r, [u8]>> {
        match self.dialect.quotes {
            None => text::decode(&self.dialect, raw),
            Some(quotes) => csv::decode(&self.dialect, quotes, raw, false, false),
        }
    }
}
