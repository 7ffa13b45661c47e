//! Rows of text and CSV from the client.

use std::borrow::Cow;

use fieldveil_postgres_wire::copy_data::{CopyDataError, Dialect, Found, Scanner, csv, text};
use fieldveil_sql::{CopyHeader, CopyText};
use zeroize::Zeroizing;

use super::{CopyColumn, SealedRows, ValueSealer, dialect, malformed};
use crate::client_error::ClientError;
use crate::field::StoredForm;
use crate::postgres::encoding::{ClientEncoding, EncodingError};

/// The end-of-data mark that may stand alone on a line of the text format.
const MARK: &[u8] = b"\\.";

/// The state between two pieces of data.
///
/// Large: it is the state of a reader that may stop at every byte.
pub struct TextIn {
    columns: Vec<CopyColumn>,
    dialect: Dialect,
    encoding: ClientEncoding,
    /// The server's encoding is not UTF8, in which escapes say bytes.
    is_other_server: bool,
    force_null: Vec<bool>,
    force_not_null: Vec<bool>,
    /// Bytes of a field that are gathered at most.
    limit: usize,
    scanner: Scanner,
    /// What the line is checked for while it is a header.
    header: CopyHeader,
    /// The end-of-data mark has come, and its line's end has not.
    marked: bool,
    /// Behind that line: the server looks at nothing more, and nothing more is sent.
    ended: bool,
    /// Rows before.
    rows: u64,
    column: usize,
    /// The line's first bytes: as many as tell the mark from all else.
    line: Vec<u8>,
    /// The field that is to be sealed, as written.
    field: Zeroizing<Vec<u8>>,
}

/// What ends a field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Delimiter,
    Line,
    Data,
}

impl TextIn {
    pub fn new(
        columns: Vec<CopyColumn>,
        text: &CopyText,
        (encoding, is_other_server): (ClientEncoding, bool),
        limit: usize,
    ) -> Self {
        let (force_null, force_not_null) = match &text.csv {
            Some(csv) => (csv.force_null.clone(), csv.force_not_null.clone()),
            None => (Vec::new(), Vec::new()),
        };
        Self {
            columns,
            dialect: dialect(text),
            encoding,
            is_other_server,
            force_null,
            force_not_null,
            limit: limit.saturating_mul(4).saturating_add(1024),
            scanner: Scanner::default(),
            header: text.header.clone(),
            marked: false,
            ended: false,
            rows: 0,
            column: 0,
            line: Vec::new(),
            field: Zeroizing::default(),
        }
    }

    /// Bytes of the field that is not whole.
    pub fn held(&self) -> usize {
        self.field.capacity()
    }

    pub fn push(
        &mut self,
        bytes: &[u8],
        sealer: &mut ValueSealer<'_>,
        rows: &mut SealedRows,
    ) -> Result<(), ClientError> {
        if self.encoding.may_hide_delimiters() && !bytes.is_ascii() {
            return Err(self.encoding.unread("the data of the COPY"));
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.ended {
                return Ok(());
            }
            if self.marked {
                return self.end_marked(rest, rows);
            }
            let found = self
                .scanner
                .find(&self.dialect, rest)
                .map_err(|error| malformed(self.row_number(), error))?;
            let (at, end) = match found {
                Found::More => (rest.len(), None),
                Found::Delimiter(at) => (at.saturating_add(1), Some(End::Delimiter)),
                Found::Newline(at) => (at.saturating_add(1), Some(End::Line)),
                Found::Marker(at) => (at.saturating_add(1), None),
            };
            let (piece, behind) = rest.split_at_checked(at).unwrap_or((rest, &[]));
            rest = behind;
            let missing = MARK.len().saturating_add(2).saturating_sub(self.line.len());
            self.line.extend_from_slice(piece.get(..missing.min(piece.len())).unwrap_or_default());
            match end {
                None => self.take(piece, rows)?,
                Some(end) => self.field_ends(piece, end, sealer, rows)?,
            }
            if matches!(found, Found::Marker(_)) {
                if self.line != MARK {
                    return Err(malformed(self.row_number(), CopyDataError::Marker));
                }
                rows.drop_row();
                self.field.clear();
                self.marked = true;
            }
        }
        Ok(())
    }

    /// The line of the end-of-data mark has nothing else on it, and ends as it ends: the server wants that to be as the
    /// lines before.
    fn end_marked(&mut self, bytes: &[u8], rows: &mut SealedRows) -> Result<(), ClientError> {
        for byte in bytes {
            self.line.push(*byte);
            match self.line.strip_prefix(MARK) {
                Some(b"\n" | b"\r\n") => {
                    rows.push(&self.line);
                    rows.end_row();
                    self.ended = true;
                    return Ok(());
                }
                Some(b"\r") => {}
                _ => return Err(malformed(self.row_number(), CopyDataError::Marker)),
            }
        }
        Ok(())
    }

    /// The client has sent all: the last line need not end with a newline.
    pub fn finish(&mut self, sealer: &mut ValueSealer<'_>, rows: &mut SealedRows) -> Result<(), ClientError> {
        if self.marked && !self.ended {
            // Its line has to have an end.
            return Err(malformed(self.row_number(), CopyDataError::Marker));
        }
        if self.ended || (self.line.is_empty() && self.column == 0) {
            return Ok(());
        }
        // A newline shows whether a quote, an escape or a carriage return is open.
        match self.scanner.clone().find(&self.dialect, b"\n") {
            Ok(Found::Newline(_)) if !self.scanner.take_carriage() => {}
            _ => return Err(ClientError::bad_copy(self.row_number(), "its last line is not complete")),
        }
        self.field_ends(b"", End::Data, sealer, rows)
    }

    fn row_number(&self) -> u64 {
        self.rows.saturating_add(1)
    }

    /// Takes in a piece of a field that goes on behind it.
    fn take(&mut self, piece: &[u8], rows: &mut SealedRows) -> Result<(), ClientError> {
        if self.passes() {
            rows.push(piece);
            return Ok(());
        }
        self.field.extend_from_slice(piece);
        self.check_length(self.field.len())
    }

    fn check_length(&self, bytes: usize) -> Result<(), ClientError> {
        if bytes > self.limit {
            return Err(ClientError::limit(
                "a value of a protected column in the data of the COPY is too long to be sealed",
                "Shorten the value, or raise limits.protected_value_bytes in the sidecar's configuration.",
            ));
        }
        Ok(())
    }

    /// Whether the field goes to the server as it comes.
    fn passes(&self) -> bool {
        self.sealed_column().is_none() && self.header == CopyHeader::None
    }

    fn sealed_column(&self) -> CopyColumn {
        self.columns.get(self.column).copied().flatten().filter(|_| self.header == CopyHeader::None)
    }

    /// Takes in the last piece of a field, with the delimiter or newline that ends it.
    fn field_ends(
        &mut self,
        piece: &[u8],
        end: End,
        sealer: &mut ValueSealer<'_>,
        rows: &mut SealedRows,
    ) -> Result<(), ClientError> {
        let carriage = self.scanner.take_carriage();
        self.scanner = Scanner::default();
        if self.passes() {
            rows.push(piece);
            return self.next_field(end, rows);
        }
        let joined;
        let field = if self.field.is_empty() {
            self.check_length(piece.len())?;
            piece
        } else {
            self.take(piece, rows)?;
            joined = std::mem::take(&mut self.field);
            joined.as_slice()
        };
        let tail = match end {
            End::Data => 0,
            End::Line if carriage => 2,
            End::Line | End::Delimiter => 1,
        };
        let parts = field.split_at_checked(field.len().saturating_sub(tail)).unwrap_or((field, &[]));
        match self.sealed_column() {
            None => self.header_ends(parts, end, rows),
            Some(column) => {
                self.write_sealed(column, parts.0, sealer, rows)?;
                rows.push(parts.1);
                self.next_field(end, rows)
            }
        }
    }

    fn next_field(&mut self, end: End, rows: &mut SealedRows) -> Result<(), ClientError> {
        if end == End::Delimiter {
            self.column = self.column.saturating_add(1);
            if self.column >= self.columns.len() {
                return Err(self.wrong_count());
            }
            return Ok(());
        }
        if self.column.saturating_add(1) != self.columns.len() {
            return Err(self.wrong_count());
        }
        rows.end_row();
        self.rows = self.rows.saturating_add(1);
        self.column = 0;
        self.line.clear();
        Ok(())
    }

    /// A field of the header ends, or all of it. A header that nobody looks at goes as an empty line, for it may be a row
    /// after all; one that must match is looked at here, for the server would log the line at fault.
    fn header_ends(
        &mut self,
        (raw, tail): (&[u8], &[u8]),
        end: End,
        rows: &mut SealedRows,
    ) -> Result<(), ClientError> {
        if let CopyHeader::Match(names) = &self.header {
            // The server, too, converts the data before it reads escapes in it.
            let read = self.encoding.decode(raw).map_err(|error| error.about("the header of the COPY"))?;
            let name = match self.dialect.quotes {
                None => text::decode(&self.dialect, &read),
                Some(quotes) => csv::decode(&self.dialect, quotes, &read, false, true),
            };
            let last = end != End::Delimiter;
            let matches = names.get(self.column).map(String::as_bytes) == name.as_deref()
                && last == (self.column.saturating_add(1) == names.len());
            if !matches {
                return Err(ClientError::bad_copy(
                    0,
                    "its header is not that of the columns that are copied",
                ));
            }
            rows.push(raw);
        }
        if end == End::Delimiter {
            if matches!(self.header, CopyHeader::Match(_)) {
                rows.push(tail);
            }
            self.column = self.column.saturating_add(1);
            return Ok(());
        }
        rows.push(tail);
        rows.end_row();
        self.header = CopyHeader::None;
        self.column = 0;
        self.line.clear();
        Ok(())
    }

    fn write_sealed(
        &mut self,
        column: (usize, StoredForm),
        raw: &[u8],
        sealer: &mut ValueSealer<'_>,
        rows: &mut SealedRows,
    ) -> Result<(), ClientError> {
        let forced = |list: &[bool]| list.get(self.column).copied().unwrap_or_default();
        let what = "a value of a protected column in the data of the COPY";
        let read = self.encoding.decode(raw).map_err(|error| error.about(what))?;
        let value = match self.dialect.quotes {
            None => text::decode(&self.dialect, &read),
            Some(quotes) => {
                let (null, not_null) = (forced(&self.force_null), forced(&self.force_not_null));
                csv::decode(&self.dialect, quotes, &read, null, not_null)
            }
        };
        let decoded;
        let value = match value {
            None => {
                rows.push(raw);
                return Ok(());
            }
            Some(Cow::Borrowed(value)) => value,
            Some(Cow::Owned(value)) => {
                decoded = Zeroizing::new(value);
                decoded.as_slice()
            }
        };
        if self.is_other_server && self.dialect.quotes.is_none() && raw.contains(&b'\\') && !value.is_ascii()
        {
            return Err(EncodingError::AsciiAlone(
                "the server's encoding is not UTF8, and there are escapes beside them",
            )
            .about(what));
        }
        rows.push_sealed(column, value, sealer)
    }

    fn wrong_count(&self) -> ClientError {
        let reason =
            format!("it has another number of columns than the {} that are copied", self.columns.len());
        ClientError::bad_copy(self.row_number(), &reason)
    }
}
