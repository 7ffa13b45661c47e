//! The rows of a file: what is to be sealed in them, and what passes as it came.

use fieldveil_mysql_wire::load_data::{End, Field, Format, LineScanner, Scanner, line_start};
use fieldveil_sql::{Load, LoadCharset, LoadFormat};
use zeroize::Zeroizing;

use super::FileSealer;
use crate::client_error::ClientError;
use crate::database::{BatchedRows, MAX_HELD};

/// Lines that are sent, as empty ones, where the server skips them before it reads the row that fails the statement.
const MAX_SKIPPED: u64 = 1 << 16;
/// What is sent of the fields behind the last column: enough for the server's warning of them.
const MORE: &[u8] = b"x";

/// The state between two pieces of the file.
pub struct FileRows {
    /// The protected field of each field of a line.
    columns: Vec<Option<usize>>,
    format: Format,
    /// The file is to be valid UTF-8: of what is not, the servers cut fields in ways of their own.
    is_utf8: bool,
    /// Lines that the server skips.
    skipped: u64,
    next: FilePart,
    /// What was not taken in yet: of one field, or of a line that nobody reads.
    held: Zeroizing<Vec<u8>>,
    /// The row so far, and before it those that wait for values.
    rows: BatchedRows,
    /// Lines before.
    lines: u64,
}

/// What comes next.
#[derive(Clone, Copy)]
enum FilePart {
    /// So many lines that nobody reads.
    Skipping(u64, LineScanner),
    /// What a line starts by.
    Start,
    /// The field of this number.
    Field(usize, Scanner),
    /// The line's end, behind all columns.
    Rest(LineScanner),
}

impl FileRows {
    pub fn new(load: &Load) -> Self {
        let LoadFormat { field_end, enclosed, escaped, line_start, line_end } = load.format.clone();
        Self {
            columns: load.columns.clone(),
            format: Format {
                field_end: field_end.into(),
                enclosed,
                escaped,
                line_start: line_start.into(),
                line_end: line_end.into(),
            },
            is_utf8: matches!(load.charset, LoadCharset::Utf8 | LoadCharset::Unnamed),
            skipped: load.skipped,
            next: FilePart::Skipping(load.skipped, LineScanner::default()),
            held: Zeroizing::default(),
            rows: BatchedRows::default(),
            lines: 0,
        }
    }

    /// Bytes held.
    pub fn held(&self) -> usize {
        self.held.len().saturating_add(self.rows.held())
    }

    /// Takes in a piece of the file.
    pub fn push(&mut self, bytes: &[u8], sealer: &mut FileSealer<'_>) -> Result<(), ClientError> {
        self.held.extend_from_slice(bytes);
        self.run(false, sealer)?;
        if self.held.len().saturating_add(self.rows.row_len()) > MAX_HELD {
            return Err(self.at_fault(ClientError::limit(
                "a row of the file is longer than the 16 MiB that are read of one",
                "Check what its fields and lines end with; write long values by INSERT.",
            )));
        }
        Ok(())
    }

    /// The file is at its end: its last line need not have one.
    pub fn finish(&mut self, sealer: &mut FileSealer<'_>) -> Result<(), ClientError> {
        self.run(true, sealer)
    }

    /// Hands over the rows that are whole, also those before one at fault.
    pub fn take_ready(&mut self) -> Vec<u8> {
        self.rows.take_ready()
    }

    /// The row that makes the statement fail, with as many lines before it as the server skips yet; None if these are many.
    /// `none_sent` says whether the server has had nothing.
    pub fn giving_up(&self, none_sent: bool) -> Option<Vec<u8>> {
        let left = match self.next {
            _ if none_sent => self.skipped,
            FilePart::Skipping(left, _) => left,
            _ => 0,
        };
        let left = usize::try_from(left).ok().filter(|_| left <= MAX_SKIPPED)?;
        let mut row = self.format.line_end.repeat(left);
        row.extend_from_slice(&self.format.line_start);
        let before = self.columns.iter().position(Option::is_some)?;
        row.extend_from_slice(&self.format.field_end.repeat(before));
        row.extend_from_slice(Load::GIVES_UP);
        row.extend_from_slice(&self.format.line_end);
        Some(row)
    }

    fn run(&mut self, last: bool, sealer: &mut FileSealer<'_>) -> Result<(), ClientError> {
        let read = self.read(last, sealer);
        // Those before a value that is refused are sealed and counted like others.
        let sealed = sealer.seal(&mut self.rows);
        read.and(sealed)
    }

    fn read(&mut self, last: bool, sealer: &mut FileSealer<'_>) -> Result<(), ClientError> {
        let mut held = std::mem::take(&mut self.held);
        let mut at = 0_usize;
        while let Some(taken) = self.step(held.get(at..).unwrap_or_default(), last, sealer)? {
            at = at.saturating_add(taken);
        }
        held.drain(..at);
        self.held = held;
        Ok(())
    }

    /// Takes in the next part; gives its bytes, or None if more are needed, or none are left.
    fn step(
        &mut self,
        rest: &[u8],
        last: bool,
        sealer: &mut FileSealer<'_>,
    ) -> Result<Option<usize>, ClientError> {
        match self.next {
            FilePart::Skipping(0, _) => {
                self.next = FilePart::Start;
                Ok(Some(0))
            }
            _ if rest.is_empty() => {
                if last {
                    self.content_ends();
                }
                Ok(None)
            }
            FilePart::Skipping(left, scanner) => self.skip_line(rest, last, (left, scanner)),
            FilePart::Start => Ok(self.start_line(rest, last)),
            FilePart::Field(index, scanner) => self.take_field(rest, last, (index, scanner), sealer),
            FilePart::Rest(scanner) => self.take_rest(rest, last, scanner),
        }
    }

    /// A line of a header, of which the server is told no more than that it is there.
    fn skip_line(
        &mut self,
        rest: &[u8],
        last: bool,
        (left, mut scanner): (u64, LineScanner),
    ) -> Result<Option<usize>, ClientError> {
        let Some((len, has_end)) = scanner.find(&self.format, rest, last) else {
            self.next = FilePart::Skipping(left, scanner);
            return Ok(None);
        };
        let end: &[u8] = if has_end { &self.format.line_end } else { &[] };
        let taken = len.saturating_add(end.len());
        self.rows.bytes().extend_from_slice(end);
        self.rows.end_row();
        self.pass_over(rest.get(..len).unwrap_or_default(), has_end)?;
        self.next = FilePart::Skipping(left.saturating_sub(1), LineScanner::default());
        Ok(Some(taken))
    }

    /// What stands before what a line starts by is nobody's.
    fn start_line(&mut self, rest: &[u8], last: bool) -> Option<usize> {
        match line_start(&self.format, rest) {
            Ok(before) => {
                let start = &self.format.line_start;
                self.rows.bytes().extend_from_slice(start);
                self.next = FilePart::Field(0, Scanner::default());
                let taken = before.saturating_add(start.len());
                self.count(rest.get(..taken).unwrap_or_default());
                Some(taken)
            }
            Err(nobodys) => {
                let taken = if last { rest.len() } else { nobodys };
                self.count(rest.get(..taken).unwrap_or_default());
                (taken > 0).then_some(taken)
            }
        }
    }

    fn take_field(
        &mut self,
        rest: &[u8],
        last: bool,
        (index, mut scanner): (usize, Scanner),
        sealer: &mut FileSealer<'_>,
    ) -> Result<Option<usize>, ClientError> {
        let Some(found) = scanner.find(&self.format, rest, last) else {
            self.next = FilePart::Field(index, scanner);
            return Ok(None);
        };
        let raw = rest.get(..found.len).unwrap_or_default();
        let is_sealed = match self.columns.get(index).copied().flatten() {
            None => false,
            Some(field) => {
                let value = Field { raw, enclosed: found.enclosed }.value(&self.format).map(Zeroizing::new);
                let value = value.as_ref().map(|value| value.as_slice());
                let sealed = self.readable(raw).and_then(|()| sealer.push(field, value, &mut self.rows));
                sealed.map_err(|error| self.at_fault(error))?
            }
        };
        // What is NULL goes as it is written.
        if !is_sealed {
            self.rows.bytes().extend_from_slice(raw);
        }
        let end: &[u8] = match found.end {
            End::Field => &self.format.field_end,
            End::Line => &self.format.line_end,
            End::Content => &[],
        };
        let taken = found.len.saturating_add(end.len());
        self.rows.bytes().extend_from_slice(end);
        self.pass_over(raw, found.end == End::Line)?;
        let next = index.saturating_add(1);
        match found.end {
            End::Field if next < self.columns.len() => self.next = FilePart::Field(next, Scanner::default()),
            End::Field => self.next = FilePart::Rest(LineScanner::default()),
            End::Line | End::Content => self.end_row(),
        }
        Ok(Some(taken))
    }

    fn take_rest(
        &mut self,
        rest: &[u8],
        last: bool,
        mut scanner: LineScanner,
    ) -> Result<Option<usize>, ClientError> {
        let Some((len, has_end)) = scanner.find(&self.format, rest, last) else {
            self.next = FilePart::Rest(scanner);
            return Ok(None);
        };
        if len > 0 {
            self.rows.bytes().extend_from_slice(MORE);
        }
        let end: &[u8] = if has_end { &self.format.line_end } else { &[] };
        let taken = len.saturating_add(end.len());
        self.rows.bytes().extend_from_slice(end);
        self.pass_over(rest.get(..len).unwrap_or_default(), has_end)?;
        self.end_row();
        Ok(Some(taken))
    }

    fn end_row(&mut self) {
        self.rows.end_row();
        self.next = FilePart::Start;
    }

    /// A line whose last fields are missing has what is there.
    fn content_ends(&mut self) {
        match self.next {
            FilePart::Field(0, _) => self.rows.drop_row(),
            FilePart::Field(..) | FilePart::Rest(_) => self.rows.end_row(),
            FilePart::Skipping(..) | FilePart::Start => {}
        }
    }

    /// Takes in what was looked at, and a line's end behind it.
    fn pass_over(&mut self, bytes: &[u8], line_ends: bool) -> Result<(), ClientError> {
        self.readable(bytes).map_err(|error| self.at_fault(error))?;
        self.count(bytes);
        self.lines = self.lines.saturating_add(u64::from(line_ends));
        Ok(())
    }

    fn readable(&self, bytes: &[u8]) -> Result<(), ClientError> {
        if self.is_utf8 && std::str::from_utf8(bytes).is_err() {
            return Err(ClientError::bad_file(
                "it is not UTF-8",
                "Write the file in UTF-8, or name its character set in the statement.",
            ));
        }
        Ok(())
    }

    /// Lines as a reader of the file counts them: also those within a value.
    fn count(&mut self, bytes: &[u8]) {
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        self.lines = self.lines.saturating_add(u64::try_from(lines).unwrap_or(u64::MAX));
    }

    fn at_fault(&self, error: ClientError) -> ClientError {
        let line = self.lines.saturating_add(1);
        match self.next {
            FilePart::Field(index, _) => error.in_file(line, Some(index.saturating_add(1))),
            _ => error.in_file(line, None),
        }
    }
}
